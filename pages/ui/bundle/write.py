"""Writes the bundle: one page that works without a network, cards, numbers, settings, scripts."""

import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from plotly.offline import get_plotlyjs
from plotly.utils import PlotlyJSONEncoder

from engine import __version__
from engine.cli.shared import spreadsheet
from engine.core import files
from engine.core.errors import RequestError
from pages.ui import words
from pages.ui.bundle import collect
from pages.ui.bundle.collect import NOTHING, Taken
from pages.ui.bundle.colours import palette, theme
from pages.ui.bundle.filled import filled, within_script
from pages.ui.kit import shell
from pages.ui.kit.markdown import html

HERE = Path(__file__).parent
TEMPLATE = HERE / "view.html"
LEFT_OUT = "left out, because their runs were deleted or never trained: {}"


def bundle(path: Path, slugs: Sequence[str] = ()) -> list[str]:
    """Writes the default view of every paper, or of some, into a zip file.

    Args:
        path: The file.
        slugs: Keys of papers; every paper with a page if empty.

    Returns:
        One sentence for each paper that has nothing to show, or not every method's run.

    Raises:
        RequestError: A paper without a page, or a file that cannot be written.
    """
    known = list(shell.papers())
    for slug in slugs:
        if slug not in known:
            raise RequestError(f"--paper: expected one of {', '.join(known)}, got {slug!r}")
    parts = {slug: collect.take(slug) for slug in slugs or known}
    taken = [one for one in parts.values() if one is not None]
    missing = [f"{slug}: {NOTHING}" for slug, one in parts.items() if one is None]
    missing += [f"{one.slug}: {LEFT_OUT.format(words.listed(one.absent))}" for one in taken
                if one.absent]  # fmt: skip
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts_of(taken):
            file.writestr(name, text)
    with files.asked(path):
        files.give(path, content.getvalue())
    return missing


def parts_of(taken: Sequence[Taken]) -> Iterator[tuple[str, str]]:
    """Every file of the bundle: its name and its text."""
    yield "index.html", index(taken)
    yield "README.md", _readme(taken)
    for name in ("reproduce.py", "explore.ipynb"):
        yield name, (HERE / name).read_text(encoding="utf-8")
    for one in taken:
        for name, cards in one.cards.items():
            job = one.jobs[name]
            stem = f"{one.slug}-{name.replace(':', '-')}"  # a calibration stands after a colon
            points = [
                {"epsilon": budget, **card.json()}
                for budget, card in zip(one.budgets, cards, strict=True)
            ]
            card = {"run": job.id, "method": one.labels[name], "points": points}
            yield f"cards/{stem}.json", _json(card, indent=2)
            spec = {"run": job.id, "label": one.labels[name], "job": json.loads(job.text())}
            yield f"specs/{stem}.json", _json(spec, indent=2)
        for drawn in one.drawn:
            names = list(dict.fromkeys(name for row in drawn.rows for name in row))
            rows = ([row.get(name, "") for name in names] for row in drawn.rows)  # or empty
            yield f"data/{one.slug}-{drawn.name}.csv", spreadsheet(names, rows)


def index(taken: Sequence[Taken]) -> str:
    """The page: Plotly once, the views as data, and the script that moves them."""
    views = {
        "palettes": {name: palette(name) for name in ("light", "dark")},
        "papers": [_view(one) for one in taken],
    }
    colours = {f"{kind.upper()}_{key}": str(colour) for kind in ("light", "dark")
               for key, colour in theme(kind).items()}  # fmt: skip
    parts = {"HEAD_NOTE": _made(taken), "VIEWS": within_script(_json(views)),
             "PLOTLY": get_plotlyjs()}  # fmt: skip
    return filled(TEMPLATE.read_text(encoding="utf-8"), {**colours, **parts})


def _view(one: Taken) -> dict[str, Any]:
    """One paper as the script reads it; every text is HTML."""
    runs = ", ".join(job.id for job in one.jobs.values())
    return {
        "slug": one.slug,
        "title": escape(one.title),
        "source": f"Epsilon Explorer {__version__}, address <code>{escape(one.link)}</code>, "
        f"runs {runs}.",
        "budgets": one.budgets,
        "first": one.first,
        "findings": one.findings,
        "cards": [
            [_escaped(lines[i]) for lines in one.lines.values()]
            for i in range(len(one.budgets))
        ],
        "charts": [{"title": escape(drawn.title), **drawn.json(html)} for drawn in one.drawn],
    }  # fmt: skip


def _escaped(line: dict[str, str]) -> dict[str, str]:
    """A card's line as HTML; its odds are HTML already."""
    return {key: text if key == "odds" else escape(text) for key, text in line.items()}


def _made(taken: Sequence[Taken]) -> str:
    """When, by what, and from how many runs."""
    runs = sum(len(one.jobs) for one in taken)
    return (
        f"Made on {datetime.now(UTC):%-d %b %Y} by Epsilon Explorer {__version__} from "
        f"{words.plural(runs, 'run')}. Measures marked as raw must not be published for private "
        "records. Every number is in data/, every guarantee in cards/."
    )


def _readme(taken: Sequence[Taken]) -> str:
    names = "\n".join(f"- {one.title}: `{one.link}`" for one in taken)
    return (
        f"# Views to take along\n\n{_made(taken)}\n\n{names}\n\n"
        "- `index.html` shows the charts in any browser, without a network.\n"
        "- `data/*.csv` holds every number that is drawn, with its run.\n"
        "- `cards/` holds every guarantee at every budget; "
        "`python -m engine card make PAPER METHOD --set epsilon=1` writes one with its releases, "
        "which `card verify` checks.\n"
        "- `specs/*.json` holds the settings of each run.\n"
        "- `python reproduce.py` runs them again with Epsilon Explorer and compares; "
        "`python reproduce.py mean` takes the small ones only.\n"
        "- `explore.ipynb` reads the numbers in a notebook.\n"
    )


def _json(value: Any, indent: int | None = None) -> str:
    text: str = json.dumps(value, cls=PlotlyJSONEncoder, ensure_ascii=False, indent=indent)
    return text
