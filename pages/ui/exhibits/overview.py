"""What became of a table or figure, by a rule.

The rule compares errors of what ships. An exhibit follows its paper in the variant that is named
"as printed", else in the first one whose privacy is not proved, else in the only one.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.runs.exhibit import SIMULATED, Cell, Exhibit
from engine.runs.reference import Reference
from pages.ui import words
from pages.ui.charts import agreement
from pages.ui.charts.agreement import Count
from pages.ui.exhibits import provenance
from pages.ui.exhibits.outcome import jobs

MOST, HALF = 0.9, 0.5
"""Parts of the printed numbers that are met within 25 %: reproduced, and with a caveat."""
Badge = tuple[str, str, str]
"""Label, colour and icon."""
BADGES: dict[str, Badge] = {
    "reproduced": ("Reproduced", "green", "check"),
    "caveat": ("With a caveat", "blue", "info"),
    "unreachable": ("Not reachable as printed", "orange", "block"),
    "shape": ("No number to compare", "gray", "show_chart"),
    "open": ("Nothing ships", "gray", "hourglass_empty"),
    "ungraded": ("Not graded", "gray", "science"),
    "broken": ("Cannot be computed", "red", "error"),
}
BEYOND: Badge = ("Beyond: proved and better", "violet", "trending_up")
RULE = (
    "**Reproduced**: at least nine in ten printed numbers are matched to within 25 % of their "
    "error, on real data. **With a caveat**: at least half are, or the data are simulated, or the "
    "numbers are those of the authors' program or of a part of the printed method. **Beyond**: at "
    "least half of the numbers with a proof have a smaller error than the printed ones. **Not "
    "graded**: measured beside the paper or on other data, claimed by others, times or p values."
)
PLAIN = ("", agreement.PRINTED, "without privacy")
"""Variants that follow what a paper describes."""
SUMS = {
    "shape": "have no printed number of their own",
    "open": "have no numbers that ship",
    "ungraded": "are not graded",
    "broken": "cannot be computed",
}
BARE = tuple(SUMS)
"""What is not graded, and why."""
AGAIN = "The printed numbers are those of {}, and count there: compare the shape."
"""What is said of an exhibit that shows the numbers of another."""


@dataclass(frozen=True)
class Line:
    """What became of one exhibit.

    Attributes:
        kind: A key of BADGES.
        beyond: Whether what is proved is better than what is printed, as a rule.
        text: One sentence.
    """

    kind: str
    beyond: bool
    text: str


def line(exhibit: Exhibit, ships: Reference | None, *, simulated: bool) -> Line:
    """What became of an exhibit.

    Args:
        exhibit: The table or figure.
        ships: What ships of it.
        simulated: Whether it rests on simulated data.
    """
    cells = ships.cells if ships else _formula(exhibit)
    if not cells:
        return Line("open", False, "The app comes with no numbers of ours for it.")
    caveat = simulation(exhibit) if simulated else ""
    if not exhibit.graded:
        what = f"{exhibit.beside}. " if exhibit.beside else ""
        return Line("ungraded", False, f"{what}{exhibit.says(cells)}{caveat}")
    if exhibit.numbers_of:
        return Line("shape", False, f"{AGAIN.format(exhibit.numbers_of)}{caveat}")
    counts = {one.variant: one for one in agreement.tally(exhibit, cells)}
    if not counts:
        return Line("shape", False, f"The paper prints no number: compare the shape.{caveat}")
    own = _following(exhibit, counts)
    better, proved = _proved(exhibit, cells)
    kind = _kind(own, less=simulated or bool(exhibit.partly))
    caveat = f" {exhibit.partly}" * bool(exhibit.partly) + caveat
    text = f"{_met(own)}{_guessing(own.guess)}"
    if proved:
        text += f"; with proof, {agreement.among(better, proved, 'error')} smaller than printed"
        text += _guessing(sum(c.guess for c in counts.values() if _is_proved(exhibit, c.variant)))
    return Line(kind, bool(proved) and better >= HALF * proved, f"{text}.{caveat}")


def simulation(exhibit: Exhibit) -> str:
    """How many of the data are simulated, as a sentence with a space before it."""
    known = jobs(exhibit, True).values()
    whole = bool(known) and all(job.simulated for job in known)
    return " The data are simulated." if whole else " Some of the data are simulated."


def _formula(exhibit: Exhibit) -> Sequence[Cell]:
    """The cells of an exhibit that needs no run; none of any other."""
    return () if jobs(exhibit, True) else exhibit.cells({})


def _following(exhibit: Exhibit, counts: Mapping[str, Count]) -> Count:
    """The variant in which an exhibit follows its paper."""
    names = sorted(counts, key=lambda name: (name != agreement.PRINTED, name in exhibit.proved))
    return counts[names[0]]


def _kind(own: Count, *, less: bool) -> str:
    """What the printed numbers came to; `less`: on simulated data, or of a part of the method."""
    share = own.fair + own.near
    if share >= MOST * own.printed:
        return "caveat" if less or own.variant not in PLAIN else "reproduced"
    return "caveat" if share >= HALF * own.printed else "unreachable"


def _met(own: Count) -> str:
    """How many of the printed numbers are met, after the variant where it has a name."""
    name = agreement.spoken(own.variant)
    met = own.near + own.fair
    whole = met == own.printed > 2
    many = f"all {met} numbers are" if whole else agreement.among(met, own.printed, "number")
    text = f"{name}{', ' * bool(name)}{many} matched to within 25\u00a0%"
    return f"{text[:1].upper()}{text[1:]}"


def _guessing(count: int) -> str:
    """How many numbers are hardly better than blind guessing; nothing where none is."""
    return f", and {count} {'is' if count == 1 else 'are'} no better than guessing" if count else ""


def _is_proved(exhibit: Exhibit, variant: str) -> bool:
    """Whether a variant is a proved one, beside that which follows the paper."""
    return variant in exhibit.proved and variant != agreement.PRINTED


def _proved(exhibit: Exhibit, cells: Sequence[Cell]) -> tuple[int, int]:
    """How many of our proved numbers have a smaller error than printed, and how many there are.

    None where numbers are no errors, such as p-values.
    """
    if exhibit.better == "neither":
        return 0, 0
    ratios = [
        ratio
        for cell in cells
        if _is_proved(exhibit, cell.variant)
        and (ratio := agreement.known(exhibit.ratio(cell))) is not None
    ]
    return sum(ratio < 1.0 for ratio in ratios), len(ratios)


def ratios(exhibit: Exhibit, cells: Sequence[Cell]) -> list[float]:
    """Our error over the printed one for each printed number, in the variant of the paper."""
    cells = cells or _formula(exhibit)
    own = _following(exhibit, {one.variant: one for one in agreement.tally(exhibit, cells)})
    known = [
        agreement.known(exhibit.ratio(cell)) for cell in cells
        if cell.variant == own.variant and agreement.grade(exhibit, cell)
    ]  # fmt: skip
    return [ratio for ratio in known if ratio is not None]


def simulated(exhibit: Exhibit) -> bool:
    """Whether some of its data are simulated: those of a job, or a row that says so."""
    rows = (cell.row for cell in _formula(exhibit))
    return bool(provenance.simulated(jobs(exhibit, True))) or any(SIMULATED in row for row in rows)


def total(lines: Sequence[Line]) -> str:
    """How many of those that can be graded came out how, in one sentence."""
    counts = Counter(one.kind for one in lines)
    beyond = sum(one.beyond for one in lines)
    more = f"; in **{beyond}** of them, numbers with a proof are better than the printed ones"
    met = counts["reproduced"] + counts["caveat"]
    return (
        f"Of **{_graded(lines)}** tables and figures that can be graded, **{met}** are reproduced, "
        f"{counts['caveat']} of these with a caveat{more * bool(beyond)}."
    )


def rest(lines: Sequence[Line]) -> str:
    """How many are not graded, and why, in one sentence; empty where all are."""
    counts = Counter(one.kind for one in lines)
    why = [f"{counts[kind]} {SUMS[kind]}" for kind in BARE if counts[kind]]
    others = len(lines) - _graded(lines)
    return f"Of the other {others}, {words.listed(why)}." * bool(why)


def _graded(lines: Sequence[Line]) -> int:
    return sum(one.kind not in BARE for one in lines)


def finding(outcome: Line) -> str:
    """A line as Markdown: its badges and its sentence."""
    badges = [BADGES[outcome.kind], *([BEYOND] * outcome.beyond)]
    marks = [f":{colour}-badge[:material/{icon}: {label}]" for label, colour, icon in badges]
    return f"{' '.join(marks)} {outcome.text}"
