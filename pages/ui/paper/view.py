"""The page of a paper as a value: its layout, what it offers, what its sections draw from."""

import threading
from collections.abc import (
    Callable,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from cachetools import FIFOCache

from datasets import catalog as data_catalog
from datasets.base import Card
from engine.core.errors import BudgetError, ExplorerError, RequestError
from engine.core.gauges import Gauge
from engine.core.spec import Value, knobs
from engine.method import Entry, Paper
from engine.privacy.guarantee import Guarantee
from engine.runs.job import Job
from engine.runs.results import Results
from pages.ui.charts.figure import Figure
from pages.ui.charts.heights import Heights
from pages.ui.jobs.live import BUDGET, Watched
from pages.ui.kit import card
from pages.ui.kit.late import Asked
from pages.ui.kit.offers import REPEATS, Offer, named, names, offer
from pages.ui.paper import kinds, overlay
from pages.ui.paper.choice import (
    ALL,
    BY,
    FEW_LINES,
    LINES,
    PROOF_FIRST,
    Chosen,
    Offers,
    measures,
    tables,
)
from pages.ui.paper.finding import Saying, saying

COST, WHY, PROOF, DATA = "Cost", "Why", "Proof", "Data"
FEW = 3
"""So many widgets stand open where a layout names none."""

MOST = 8192
"""Cards at hand, by run and budget: a page asks for a hundred at every move of its slider."""
_KNOWN: MutableMapping[tuple[str, float], Guarantee] = FIFOCache(MOST)
_REFUSED: MutableMapping[tuple[str, float], ExplorerError] = FIFOCache(MOST)
"""Why there is no card, where there will be none."""
_CHANGING = threading.Lock()
"""Held while either is read or written: all sessions share them."""


def asked(job: Job, budget: float, data: Card) -> Asked:
    """What a card is asked for: the method of a job with its settings, at a budget."""
    return job.entry(), job.spec().replace(**{BUDGET: budget}), data


def known(job: Job, budget: float, data: Card) -> Guarantee | None:
    """The card of a job at a budget, if it takes no time: an accountant may take seconds.

    None where its price fails, too (`refused`): the methods beside it are drawn without it.
    """
    key = job.id, budget
    with _CHANGING:
        answer, lost = _KNOWN.get(key), key in _REFUSED
    if answer is not None or lost:
        return answer
    try:
        answer = card.known(*asked(job, budget, data))
    except (BudgetError, RequestError) as error:
        with _CHANGING:
            _REFUSED[key] = error
        return None
    if answer is not None:
        with _CHANGING:
            _KNOWN[key] = answer
    return answer


def refused(job: Job, budget: float) -> ExplorerError | None:
    """Why a job has no card at a budget that `known` was asked for; None where it may have one."""
    with _CHANGING:
        return _REFUSED.get((job.id, budget))


@dataclass(frozen=True)
class Former:
    """A curve that was whole before the last move.

    Attributes:
        job: Its whole run.
        results: What it was drawn from.
        setting: How its settings differ from those of now.
    """

    job: Job
    results: Results
    setting: str = ""


@dataclass(frozen=True)
class View:
    """What a section of a page draws from.

    Attributes:
        paper: The paper.
        data: Card of the chosen data set.
        budget: The budget under the slider.
        method: Name of the method that the user looks at closely.
        gauge: Name of the gauge on the utility curve.
        watched: Every method's run, and those that are drawn beside them.
        by: Where the points of the curve stand, one of BY.
        former: Curves that were there before the last move, of methods whose new one is not.
        measure: The measure of privacy that points stand by, one of `kinds.OFFERED`.
        every: Whether every line of the curve is in colour, not only the few it is about.
        says: How the finding is put in words, by gauge.
        waits: Whether a button asks for a new setting's runs, but for the chosen method's curve.
        up: The vertical axis of the cost curve; None for the one that fits.
        pick: Draws the list of methods, for a chart that has its widgets below it.
    """

    paper: Paper[Any]
    data: Card
    budget: float
    method: str
    gauge: str
    watched: Mapping[str, Watched]
    by: str = PROOF_FIRST
    former: Mapping[str, Former] = field(default_factory=dict)
    measure: str = kinds.BUDGET
    every: bool = False
    says: Mapping[str, Saying] = field(default_factory=dict)
    waits: bool = False
    up: Heights | None = None
    pick: Callable[[], None] = lambda: None

    @cached_property
    def spec(self) -> Any:
        """The setting of the method that the user looks at closely."""
        return self.setting(self.method)

    def setting(self, method: str) -> Any:
        """The setting of a method, at the budget under the slider."""
        return self.asked(method, self.budget)[1]

    @cached_property
    def measured(self) -> Gauge:
        """The gauge on the utility curve."""
        return measures(self.paper)[self.gauge]

    @property
    def how(self) -> Saying:
        """How this gauge is put in words."""
        return saying(self.measured, self.says, self.gauge)

    @property
    def entry(self) -> Entry[Any]:
        """The method that the user looks at closely."""
        return self.paper.entry(self.method)

    def guarantee(self, method: str | None = None) -> Guarantee:
        """The card of a method at this setting."""
        name = method or self.method
        known = self.known(name, self.budget)
        return known or card.guarantee(*self.asked(name, self.budget))

    def known(self, method: str, budget: float) -> Guarantee | None:
        """The same at any budget, if it takes no time: an accountant may take seconds."""
        return known(self.watched[method].job, budget, self.data)

    def refused(self, method: str, budget: float) -> ExplorerError | None:
        """Why a method has no card at a budget; None where it has one, or may have one."""
        return None if self.known(method, budget) else refused(self.watched[method].job, budget)

    @cached_property
    def left(self) -> "View":
        """The same with the run of every method that has left arrays at this budget.

        While a whole run trains, that is its coarse curve or its point.
        """
        return replace(self, watched=_Left(self.watched, self.budget))

    @property
    def whole(self) -> Mapping[str, Watched]:
        """The page's own runs, also where sections draw from what these have left."""
        return self.watched.whole if isinstance(self.watched, _Left) else self.watched

    @cached_property
    def signature(self) -> Hashable:
        """All that lines and levels depend on: the runs as they stand, and the cards so far."""
        methods = tuple(entry.name for entry in self.paper.methods)
        return self.paper.slug, methods, tuple(self._stands(name) for name in self.watched)

    def _stands(self, name: str) -> Hashable:
        """Where one job stands, and how many of its cards are known."""
        one = self.watched[name]
        cards = sum(self.known(name, budget) is not None for budget in one.budgets)
        return name, one.label, one.job.id, one.stands, cards

    def asked(self, method: str, budget: float) -> Asked:
        """What a card is asked for; a method's job holds what the others do not use."""
        return asked(self.watched[method].job, budget, self.data)

    @property
    def proved(self) -> list[Guarantee]:
        """The cards of the methods that spend budget, at this setting, that take no time."""
        cards = [self.known(name, self.budget) for name in self.watched if self.spends(name)]
        return [card for card in cards if card is not None]

    def spends(self, method: str) -> bool:
        """Whether a method has a curve over budgets rather than one level."""
        return BUDGET in self.watched[method].job.axes


class _Left(Mapping[str, Watched]):
    """Where each job stands, by name: read when it is asked for, since that opens a file."""

    def __init__(self, watched: Mapping[str, Watched], budget: float) -> None:
        self.whole, self._budget = watched, budget
        self._read: dict[str, Watched] = {}

    def __getitem__(self, name: str) -> Watched:
        if name not in self._read:
            self._read[name] = self.whole[name].left(**{BUDGET: self._budget})
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.whole)

    def __len__(self) -> int:
        return len(self.whole)


@dataclass(frozen=True)
class Section:
    """A part of a page that one paper adds.

    Attributes:
        title: Its heading.
        draw: Returns its parts (`pages.ui.paper.parts`), or why there are none yet; called again
            whenever the slider moves, so it holds no widgets.
        words: What its charts say, see there.
        side: Draws its widgets in the sidebar; what they say is read from the session.
        drawer: A title, an icon and a key, where these widgets wait to be opened.
        follows: Whether these widgets follow the page's own sliders.
        free: From the page's choice of data set, the names in the address that these
            widgets bind, without the slug.
        wide: Whether it takes a whole row; else two sections share one.
        tab: The tab that it stands in, one of those of its layout.
        picks: Whether it draws the list of methods itself, by `View.pick`.
    """

    title: str
    draw: Callable[[View], Any]
    words: Mapping[str, Any] = field(default_factory=dict)
    side: "Callable[[Page], None] | None" = None
    drawer: tuple[str, str, str] | None = None
    follows: bool = False
    free: Callable[[str], tuple[str, ...]] = lambda dataset: ()
    wide: bool = False
    tab: str = WHY
    picks: bool = False

    @property
    def name(self) -> str:
        """What its charts are called on the page."""
        return str(self.words.get("name") or self.draw.__name__)


@dataclass(frozen=True, eq=False)
class Told:
    """What a page tells beside its cost curve: one picture, and the sentence that it says.

    Attributes:
        said: What it says, in a sentence with a number.
        figure: The picture.
        note: How to read it.
    """

    said: str
    figure: Figure
    note: str


@dataclass(frozen=True)
class Layout:
    """How a paper's page differs from the common one.

    Attributes:
        words: What the paper is about, in a sentence or two that need no prior knowledge.
        story: The picture beside the cost curve, where it can be drawn.
        sections: What the paper adds.
        shows: The name of the second tab: what the answer looks like.
        says: How the finding is put in words, by gauge.
        gauge: The gauge that the curve shows first; empty for the paper's own.
        method: The method that is looked at first; empty for the paper's first.
        first: Fields whose widgets stand open, the main sliders; all others are folded away. Empty
            for the first few that the settings declare.
        columns: Fields that say which part of the data set is used: they stand beside it.
        needs: Fields that only one value of another field gives a meaning: that field, and value.
        repeats: Repetitions of each setting to start with.
        sketch: Repetitions of a coarse curve that ships; one that is trained here has one.
        budgets: The grid that is trained; empty for the knob's own.
        automatic: Whether a new setting is trained at once; else a button asks first.
        ask_first: Data sets that take long: the chosen method trains by itself where its coarse
            curve does not, and a button asks for all others.
        ships: Those of them for which the coarse curves ship that a page opens with.
        last: Methods that take long: of each stage, they are trained after all others.
        by_hand: What nobody trains without pressing the button: methods that take minutes, of which
            each setting is trained FEW times, and further ways to add noise to one ("own:way").
        quick: Methods that are repeated twenty times as often, since a repetition costs little.
        opens: Lines whose run ships with 200 repetitions, for what the page opens with: methods,
            and "own:way" for one's line in another way; after a move of a slider they are repeated
            as often as others.
        stops: The main sliders: the coarse curves of all their values ship with the app. Those of
            one tuple are combined with each other.
        landmarks: Budgets that are marked by a name on the curve of a method.
        beside: Jobs that a section draws besides the page's own, by name; followed while they
            run, and asked for by the section alone.
    """

    words: str = ""
    story: Callable[[View], Told | None] = lambda view: None
    sections: tuple[Section, ...] = ()
    shows: str = "Pictures"
    says: Mapping[str, Saying] = field(default_factory=dict)
    gauge: str = ""
    method: str = ""
    first: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    needs: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    repeats: int = 10
    sketch: int = 1
    budgets: tuple[float, ...] = ()
    automatic: bool = True
    ask_first: tuple[str, ...] = ()
    ships: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()
    quick: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()
    stops: tuple[tuple[str, ...], ...] = ()
    landmarks: Mapping[str, Mapping[float, str]] = field(default_factory=dict)
    beside: Callable[[Mapping[str, Job]], dict[str, Job]] = lambda jobs: {}

    @property
    def tabs(self) -> tuple[str, ...]:
        """The tabs of the page, from left to right; none for pictures or reasons without any."""
        drawn = {section.tab for section in self.sections}
        every = (COST, self.shows, WHY, PROOF, DATA)
        return tuple(name for name in every if name in drawn or name not in (self.shows, WHY))

    @property
    def follow(self) -> list[Section]:
        """The sections whose widgets in the sidebar follow the page's own sliders."""
        return [section for section in self.sections if section.side and section.follows]

    def named(self, known: Mapping[str, Gauge]) -> Callable[[str], str]:
        """What a measure is called: by the wrong answers where the chart draws these."""
        return lambda name: (name in self.says and self.says[name].errors) or known[name].label

    def often(self, dataset: str) -> tuple[str, ...]:
        """The quick methods, on data sets that do not take long."""
        return () if dataset in self.ask_first else self.quick

    def at_once(self, dataset: str) -> bool:
        """Whether all runs of a new setting are trained without a button."""
        return self.automatic and dataset not in self.ask_first

    @property
    def main(self) -> frozenset[str]:
        """The fields of the main sliders, all of whose stops ship."""
        return frozenset(field for group in self.stops for field in group)

    def open(self, known: Iterable[str]) -> tuple[str, ...]:
        """The fields whose widgets stand open, of those that a page offers."""
        fields = tuple(name for name in known if name not in (BUDGET, *self.columns))
        return tuple(name for name in self.first if name in fields) or fields[:FEW]


def _on(paper: Paper[Any], dataset: str) -> tuple[int, dict[str, Value]]:
    """How many features a data set has, and the defaults there; 0 for a table that was removed."""
    with suppress(ExplorerError):
        data = data_catalog.card(dataset or paper.datasets[0])
        return len(data.features), paper.on(data).opens(dataset)
    return 0, paper.opens(dataset)


def offers(paper: Paper[Any], layout: Layout, dataset: str = "") -> Offers:
    """What the page of a paper offers, with the defaults for a data set; else for the first."""
    features, default = _on(paper, dataset)
    used = {name for entry in paper.methods for name in entry.uses}
    choices = {
        name: offer(paper.spec, name, knob.among(features) if features else knob, default[name])
        for name, knob in knobs(paper.spec).items()
        if name in used
    }
    if layout.budgets:
        choices[BUDGET] = choices[BUDGET].among(layout.budgets)
    shown = measures(paper)
    gauge = layout.gauge or paper.gauge
    texts = {name: layout.named(shown)(name) for name in (gauge, *shown)}
    private = [entry for entry in paper.methods if entry.role != "reference"]
    looked = next((entry for entry in private if entry.name == layout.method), private[0])
    repeats = tuple(str(count) for count in REPEATS)
    return Offers(
        dataset=names("dataset", (*paper.datasets, *tables(paper))),
        knobs=choices,
        repeats=Offer("repeats", repeats, REPEATS, str(layout.repeats)),
        gauge=named("gauge", texts, gauge),
        method=named("method", {entry.name: entry.label for entry in private}, looked.name),
        tab=Offer("tab", layout.tabs, layout.tabs, COST),
        by=Offer("by", BY, BY, PROOF_FIRST),
        lines=Offer("lines", LINES, LINES, FEW_LINES),
        measure=kinds.MEASURES,
    )


@dataclass(frozen=True)
class Page:
    """What stays as it is while the budget slider moves.

    Attributes:
        prefix: What the names of its widgets begin with, in the address too.
        paper: The paper.
        layout: How its page differs from the common one.
        offers: What its widgets offer.
        chosen: What its widgets say.
        jobs: One job per method, and those that are drawn beside them.
        fewer: The jobs with fewer repetitions than are asked for now, the most last.
        redraw: What a slider calls that leaves the other widgets as they are.
    """

    prefix: str
    paper: Paper[Any]
    layout: Layout
    offers: Offers
    chosen: Chosen
    jobs: dict[str, Job]
    fewer: Sequence[Mapping[str, Job]] = ()
    redraw: Callable[[], None] = field(default=lambda: None, compare=False)

    @property
    def first(self) -> Value:
        """The budget that it opens with."""
        offer = self.offers.knobs[BUDGET]
        return offer.value(offer.default)

    @cached_property
    def labels(self) -> dict[str, str]:
        """What each job is called."""
        twice = overlay.both(self.jobs)
        return {name: overlay.label(self.paper, job, twice) for name, job in self.jobs.items()}

    @cached_property
    def beside(self) -> dict[str, Job]:
        """What the layout draws besides the page's own jobs."""
        return self.layout.beside(self.jobs)

    def view(self, watched: Mapping[str, Watched], chosen: Chosen) -> View:
        """What the sections draw from, where the runs stand and the widgets say so."""
        return View(
            paper=self.paper,
            data=data_catalog.card(chosen.dataset),
            budget=chosen.budget,
            method=chosen.method,
            gauge=chosen.gauge,
            by=chosen.by,
            measure=chosen.measure,
            watched=watched,
            every=chosen.lines == ALL,
            says=self.layout.says,
            waits=not self.layout.at_once(chosen.dataset),
        )
