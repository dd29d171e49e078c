"""Numbers as people read them: short figures, durations, and what a budget means in odds."""

import math
import re
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Context

from babel.lists import format_list

from engine.core.gauges import Gauge
from engine.privacy.guarantee import Relation
from pages.ui.messages import SOURCE, UNITS, figures, language, tr

SHARE = "share"
"""The unit of a measure between 0 and 1, which pages write in per cent."""

ACTIVE = re.compile(r"[\\`*\[\]<>$~|@]|(?<![^\W_])_|_(?![^\W_])|:(?=\S)")
"""Characters by which a text becomes more than its words: marks, formulas, icons."""
ADDRESS = re.compile(r"(?<=:)(?=\\?/\\?/)|(?<=www)(?=\\?\.)|(?<=@)(?=[-\w])", re.IGNORECASE)
"""Where an address breaks; pages look for addresses in the text that is left after all marks."""
SYMBOL = re.compile(r":material/\w+:\s*")
COLOURED = re.compile(r":[a-z]+(?:-badge)?\[([^]]*)\]")
JOINER = "\u2060"
"""Joins two words without a space and cannot be seen."""
FEW_COLUMNS = 4
"""More do not fit a telephone."""
SPELT = {
    "adni": "ADNI",
    "fashion": "Fashion-MNIST",
    "flchain": "FLchain",
    "har": "HAR",
    "mnist": "MNIST",
    "yesiwell": "YesiWell",
    "yesiwell_large": "YesiWell, large",
    "yesiwell_weekly": "YesiWell, weekly",
}
"""Names of data sets that are written in another way than their keys."""

COLUMNS = {
    "sample.yr": "year of sample", "flc.grp": "light chain decile", "mgus": "MGUS",
    "sibs": "siblings",
}  # fmt: skip
"""Columns that their publishers abbreviate; the keys stay in addresses and exports."""


def simulated(*held: bool) -> str:
    """The mark of simulated data, with a space before it; empty where none of them are."""
    if not any(held):
        return ""
    said = tr("Simulated data") if all(held) else "Some of these data are simulated"
    return f" :violet-badge[:material/casino:\u00a0{said}]"


def column(name: str) -> str:
    """A column of a data set as a page shows it."""
    return COLUMNS.get(name, name)


def number(value: float, digits: int = 3) -> str:
    """A number in at most `digits` significant figures; a dash where there is none."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "–"
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{float(mantissa):g}·10{_raised(int(exponent))}"
    text = f"{value:.{digits}g}"
    return f"{float(text):,.0f}" if abs(value) >= 1000 else _plain(float(text))


def least(value: float, digits: int = 3) -> str:
    """A lower bound in at most `digits` significant figures, rounded down.

    >>> least(36.5832), least(0.3), least(-0.12345)
    ('36.5', '0.3', '-0.124')
    """
    return number(float(Context(digits, ROUND_FLOOR).create_decimal(repr(float(value)))), digits)


def at_least(value: float) -> str:
    """What an attack shows, in an English sentence."""
    return f"at least {least(value)}"


def _plain(value: float) -> str:
    """Without an exponent and without trailing zeros."""
    return f"{value:.10f}".rstrip("0").rstrip(".")


def _raised(exponent: int) -> str:
    """An exponent in superscript figures."""
    return "".join("⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".index(figure)] for figure in str(exponent))


def amount(value: float, gauge: Gauge) -> str:
    """A measured value in its unit: shares in per cent."""
    return percent(value) if gauge.unit == SHARE else number(value)


def percent(value: float) -> str:
    """A share in per cent; a dash where there is none."""
    return f"{100 * value:.3g}\u00a0%" if math.isfinite(value) else number(value)


def unit(gauge: Gauge) -> str:
    """The unit of a measure in brackets, as an axis says it."""
    return f" [{'%' if gauge.unit == SHARE else gauge.unit}]" if gauge.unit else ""


def duration(seconds: float) -> str:
    """A length of time in an English sentence, in the unit that reads best."""
    return "under a second" if seconds < 1 else " ".join(_time(seconds))


def _time(seconds: float) -> tuple[str, str]:
    """A length of time as a number and its unit."""
    if seconds < 90:
        return f"{seconds:.0f}", "s"
    if seconds < 5400:
        return f"{seconds / 60:.0f}", "min"
    return f"{seconds / 3600:.1f}", "h"


def lasting(seconds: float) -> str:
    """A length of time in the language that is spoken here."""
    if seconds < 1:
        return tr("under a second")
    count, unit = _time(seconds)
    return f"{figures(count)} {UNITS.get(language(), {}).get(unit, unit)}"


def plural(count: int, noun: str) -> str:
    """A count with its noun in an English sentence: "1 run", "7,874 runs"."""
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"


def counted(count: int, noun: str) -> str:
    """A count with its noun in the language that is spoken here."""
    return f"{figures(f'{count:,}')} {tr(noun if count == 1 else f'{noun}s')}"


def sideways(columns: int) -> str:
    """What a table says of columns that a narrow screen hides; nothing where it shows them all."""
    more = tr("{columns} columns: on a narrow screen the table moves sideways.")
    more = more.format(columns=columns)
    return f"\n\n:material/swipe_left: {more}" if columns > FEW_COLUMNS else ""


def listed(names: Sequence[str]) -> str:
    """Names as a list in an English sentence: "a, b and c"."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def named(names: Sequence[str]) -> str:
    """Names as a list in a sentence of the language that is spoken here."""
    return listed(names) if language() == SOURCE else format_list([*names], locale=language())


def escaped(text: str) -> str:
    r"""A text as a page shows it word for word: nothing in it becomes Markdown, HTML or a link.

    >>> print(escaped("column '![](/x)': expected 1_000, got <b>"))
    column '!\[\](/x)': expected 1_000, got \<b\>
    """
    return ACTIVE.sub(r"\\\g<0>", unlinked(text))


def unlinked(text: str) -> str:
    r"""A text in which pages find no address to link: each is broken where nobody sees it.

    A backslash is not enough: pages look for addresses once more when all marks are read.

    >>> unlinked("http://x.org, www.x.org, a@x.org: 1 @ 2")
    'http:\u2060//x.org, www\u2060.x.org, a@\u2060x.org: 1 @ 2'
    """
    return ADDRESS.sub(JOINER, text)


def unmarked(text: str) -> str:
    """A text without symbols and colours, which Streamlit alone knows.

    >>> unmarked(":material/check: 3 :red[of] 4")
    '3 of 4'
    """
    return SYMBOL.sub("", COLOURED.sub(r"\1", text))


def short(name: str) -> str:
    """A key such as `third_births` as a label: "Third births"."""
    if name in SPELT:
        return SPELT[name]
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]


def best_guess(epsilon: float, delta: float = 0.0) -> float:
    """How often, at most, a guesser with even odds is right after seeing the answer.

    Between two neighbouring data sets that are equally likely beforehand, a test of
    an (epsilon, delta)-private answer is right with probability at most
    (exp(epsilon) + delta) / (1 + exp(epsilon)) (Kairouz, Oh and Viswanath 2015); the
    wording "out of 100" is that of Nanayakkara et al. 2023, arXiv 2303.00738.
    """
    odds = math.exp(-epsilon)
    return min(1.0, (1.0 + delta * odds) / (1.0 + odds))


def out_of_100(chance: float) -> str:
    """A chance as a count out of 100, rounded up since it is a bound, but never to certainty."""
    if chance > 0.99:
        return tr("almost 100")
    return f"{math.ceil(100 * chance - 1e-9)}"


def filled(chance: float) -> int:
    """How many of 100 dots a chance fills: rounded up as its words are, and never all."""
    return min(99, math.ceil(100 * chance - 1e-9))


SURVIVING = {
    "flchain": "Still alive",
    "heart": "Still alive",
    "second_births": "No second child yet",
    "third_births": "No third child yet",
    "wichert": "Still without a job",
    "": "Without the event",
}
"""Who a survival curve counts, by data set; under "" where nobody says what the event is."""
SWAPS: dict[Relation, str] = {
    "replace_one": "was in the data or replaced by another",
    "add_or_remove_one": "was in the data or left out",
    "zero_out_one": "was counted or left out",
}
"""In what two neighbouring data sets differ."""


def odds(
    epsilon: float | None, delta: float, relation: Relation, unit: str, right: float | None = None
) -> str:
    """One sentence for lay readers: what an answer can tell about one record.

    Args:
        epsilon: What is proved; None or infinite when nothing is.
        delta: What is added to the bound that epsilon sets.
        relation: Which data sets are neighbours.
        unit: What one record is, with its article: "a person".
        right: The largest share of right guesses, where more is known than epsilon and delta.
    """
    if epsilon is None or math.isinf(epsilon):
        return tr(
            "No privacy guarantee: someone who sees the result may be able to tell exactly who was "
            "in the data."
        )
    most = out_of_100(right or best_guess(epsilon, delta))
    said = tr(
        "Someone who sees the result and guesses whether {unit} {swap} is right at most **{most} "
        "times out of 100**. Guessing blindly is right 50 times."
    )
    return said.format(unit=tr(unit), swap=tr(SWAPS[relation]), most=most)


def times(text: str) -> str:
    """A text with "8 x 8" written as "8 × 8"."""
    return re.sub(r"(?<=\d) x (?=\d)", "\u00a0×\u00a0", text)


def surviving(dataset: str) -> str:
    """Who a survival curve of a data set counts."""
    return SURVIVING.get(dataset, SURVIVING[""])
