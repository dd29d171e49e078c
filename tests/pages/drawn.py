"""The charts of a page that was drawn without a browser."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from streamlit.testing.v1 import AppTest

from pages.ui.paper import defaults

ROOT = Path(__file__).parents[2]
FLAT = {"scatter", "bar", "heatmap"}
"""What is drawn of all that the bundle of Plotly for flat charts can draw."""
VISIT = """
import sys
from engine.service.client import Client
Client.ensure_worker = lambda self: None
from streamlit.testing.v1 import AppTest
test = AppTest.from_file('app.py', default_timeout=120).run()
assert not test.exception, test.exception
test.switch_page('pages/PAGE.py').run()
assert not test.exception, test.exception
heavy = ('torch', 'lifelines', 'sksurv', 'sklearn')
print('heavy:', *(name for name in heavy if name in sys.modules))
"""


def loads_nothing_heavy(page: str) -> None:
    """Opens the start page and another in a process of its own, and looks at its modules."""
    done = subprocess.run(
        [sys.executable, "-c", VISIT.replace("PAGE", page)], cwd=ROOT, capture_output=True,
        text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout.strip() == "heavy:", done.stderr[-2000:]


def plots(test: AppTest) -> list[dict[str, Any]]:
    """What each chart was given: its figure, and its message in words."""
    actual = [json.loads(one.proto.json) for one in test.get("bidi_component") if one.proto.json]
    found = [{**one, "figure": json.loads(one["figure"])} for one in actual if "figure" in one]
    for one in found:
        sound(one["figure"])
    return found


def sound(figure: dict[str, Any]) -> None:
    """That Plotly knows every property of a figure, and the browser's part of it every trace."""
    whole = go.Figure(figure).to_plotly_json()
    for ours, theirs in zip(
        (figure["layout"], *figure["data"]), (whole["layout"], *whole["data"]), strict=True
    ):
        assert {name for name, value in ours.items() if value not in ([], {})} <= theirs.keys()
    kinds = {trace["type"] for trace in figure["data"]}
    assert kinds <= FLAT, kinds - FLAT


def charts(test: AppTest) -> list[dict[str, Any]]:
    """The figures, in the order of the page."""
    return [one["figure"] for one in plots(test)]


def tour(visit: Callable[..., AppTest], page: str, **address: str) -> list[AppTest]:
    """A paper's page with each of its tabs open in turn."""
    tabs = defaults.layout(page).tabs
    return [visit(page, **{**address, f"{page}.tab": tab}) for tab in tabs]


def texts(tests: Iterable[AppTest]) -> str:
    """All words of some pages, none of which may hold an error."""
    actual = []
    for test in tests:
        assert not test.exception
        assert not test.error
        kinds = (test.title, test.header, test.subheader, test.markdown, test.caption)
        actual += [str(one.value) for kind in kinds for one in kind]
    return "\n".join(actual)
