"""The charts of a page that was drawn without a browser."""

import json
from typing import Any

from streamlit.testing.v1 import AppTest


def plots(test: AppTest) -> list[dict[str, Any]]:
    """What each chart was given: its figure, and its message in words."""
    found = [json.loads(one.proto.json) for one in test.get("bidi_component") if one.proto.json]
    return [{**one, "figure": json.loads(one["figure"])} for one in found if "figure" in one]


def charts(test: AppTest) -> list[dict[str, Any]]:
    """The figures, in the order of the page."""
    return [one["figure"] for one in plots(test)]
