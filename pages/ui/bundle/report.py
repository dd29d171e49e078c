"""One page for those who decide: the result, the curve, the guarantee and what it assumes."""

import functools
import io
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from engine import __version__
from engine.core import files
from engine.core.errors import RequestError
from pages.ui import words
from pages.ui.bundle import collect, printed
from pages.ui.bundle.collect import NOTHING, Taken
from pages.ui.kit import shell

WIDE, HIGH, EDGE = 595.0, 842.0, 42.0
"""A page of A4 and its margin, in points."""
CHART = 235.0
"""Height of the chart with its axes, without its legend, in points."""
LEADING = 1.35
SCALES = (1.0, 0.92, 0.84, 0.76, 0.68, 0.6)
"""Sizes of the letters below the curve: the first that leaves room for all of them."""
SERIF, SANS = ["STIXGeneral", "DejaVu Sans"], ["DejaVu Sans"]
INK, QUIET = "#1d2a2e", "#4a5a5e"


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; its size is in points.

    Attributes:
        text: What it says.
        size: Of its letters.
        bold: Whether it is a heading.
        colour: Of its letters.
        before: Room above it, in points.
        mark: What stands before its first line.
    """

    text: str
    size: float = 10.5
    bold: bool = False
    colour: str = INK
    before: float = 3.0
    mark: str = ""


def report(slug: str, path: Path) -> None:
    """Writes the one-page report of a paper's default view.

    Args:
        slug: Key of the paper.
        path: The PDF file.

    Raises:
        RequestError: A paper without a page or without runs, or a file that cannot be written.
    """
    known = list(shell.papers())
    if slug not in known:
        raise RequestError(f"paper: expected one of {', '.join(known)}, got {slug!r}")
    taken = collect.take(slug)
    if taken is None:
        raise RequestError(f"{slug}: {NOTHING}")
    with files.asked(path):
        files.give(path, page(taken))


def page(taken: Taken) -> bytes:
    """The report as a PDF of one page: letters are smaller where it holds much."""
    rest, content = [*below(taken)], io.BytesIO()
    letters = {"font.family": SANS, "font.size": 8.0, "text.parse_math": False}  # $ is a letter
    with mpl.rc_context({"pdf.fonttype": 42, **letters}):
        sheet = Figure(figsize=(WIDE / 72.0, HIGH / 72.0), dpi=72)
        FigureCanvasAgg(sheet)
        at = HIGH - EDGE
        for block in above(taken):
            at = _paragraph(sheet, block, 1.0, at)
        at = _chart(sheet, taken, at)
        scale = next((one for one in SCALES if _high(rest, one) <= at - EDGE), SCALES[-1])
        for block in rest:
            at = _paragraph(sheet, block, scale, at)
        sheet.savefig(content, format="pdf", metadata={"Title": _title(taken)})
    return content.getvalue()


def above(taken: Taken) -> list[Paragraph]:
    """What stands above the curve: the title and the result."""
    finding = collect.bare(taken.findings[taken.first])
    return [
        Paragraph(_title(taken), 17.0, bold=True, before=0.0),
        Paragraph(finding, 12.5, before=5.0),
    ]


def below(taken: Taken) -> Iterator[Paragraph]:
    """What stands below it: how to read it, the guarantee, what it assumes and the source."""
    card = taken.cards[taken.looked][taken.first]
    yield Paragraph(taken.drawn[0].caption, 8.5, colour=QUIET)
    yield Paragraph("What is guaranteed", 11.5, bold=True, before=9.0)
    yield Paragraph(collect.told(taken.lines[taken.looked][taken.first]))
    yield Paragraph("What this assumes", 11.5, bold=True, before=9.0)
    for one in (*card.reasons, *card.limits):
        yield Paragraph(one, mark="•")
    runs = words.listed([job.id for job in taken.jobs.values()])
    yield Paragraph(
        f"{datetime.now(UTC):%-d %b %Y}, Epsilon Explorer {__version__}, address {taken.link}, "
        f"runs {runs}.", 8.5, colour=QUIET, before=9.0,
    )  # fmt: skip


def _title(taken: Taken) -> str:
    return f"{taken.title}: what privacy costs"


def _font(size: float, bold: bool) -> FontProperties:
    return FontProperties(family=SERIF, size=size, weight="bold" if bold else "normal")


def lines(block: Paragraph, scale: float) -> list[str]:
    """A paragraph in lines that fit between the margins."""
    most = 0.98 * (WIDE - 2.0 * EDGE) - (10.0 if block.mark else 0.0)
    size, found, width = block.size * scale, [""], 0.0
    space = _width("n n", size, block.bold) - _width("nn", size, block.bold)
    for word in block.text.split():
        own = _width(word, size, block.bold)
        if found[-1] and width + space + own > most:
            found, width = [*found, word], own
        else:
            found[-1] = f"{found[-1]} {word}".strip()
            width += own + space * (width > 0.0)
    return found


@functools.lru_cache(maxsize=10_000)
def _width(text: str, size: float, bold: bool) -> float:
    """How wide a word is, in points; words come again and again, and measuring takes time."""
    renderer = RendererAgg(1.0, 1.0, 72.0)
    width: float = renderer.get_text_width_height_descent(text, _font(size, bold), False)[0]
    return width


def _high(blocks: Iterable[Paragraph], scale: float) -> float:
    """How high paragraphs are, in points."""
    return sum(
        block.before + LEADING * block.size * scale * len(lines(block, scale)) for block in blocks
    )


def _paragraph(sheet: Figure, block: Paragraph, scale: float, at: float) -> float:
    """Writes a paragraph; returns where the next one begins, in points from the page's foot."""
    at -= block.before
    if block.mark:
        sheet.text(EDGE / WIDE, at / HIGH, block.mark, va="top", color=block.colour,
                   fontproperties=_font(block.size * scale, block.bold))  # fmt: skip
    for text in lines(block, scale):
        left = EDGE + (10.0 if block.mark else 0.0)
        sheet.text(left / WIDE, at / HIGH, text, va="top", color=block.colour,
                   fontproperties=_font(block.size * scale, block.bold))  # fmt: skip
        at -= LEADING * block.size * scale
    return at


def _chart(sheet: Figure, taken: Taken, at: float) -> float:
    """Draws the curve; returns where the next paragraph begins."""
    figure = printed.coloured(taken.drawn[0].whole(taken.first))
    at -= 14.0 + 12.0 * math.ceil(len(printed.names(figure)) / printed.columns(figure))
    left, foot = EDGE + 46.0, 40.0
    axes = sheet.add_axes((
        left / WIDE, (at - CHART + foot) / HIGH, (WIDE - EDGE - left) / WIDE, (CHART - foot) / HIGH,
    ))  # fmt: skip
    printed.draw(axes, figure)
    return at - CHART
