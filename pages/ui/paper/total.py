"""One line on all that a page trains: how much is there, how long the rest takes, and Stop.

Where all of it has ended before its end, the line says so, and offers to run it again.

It stands in the row of the tabs, above the chart, and takes no room of its own: what a person
looks at does not move when training begins or ends. A telephone has no room beside its tabs: there
it is a line above them.
"""

import functools
import math
import statistics
import time
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

from datasets import catalog
from engine.runs import shipped
from engine.runs.job import Job
from pages.ui import words
from pages.ui.jobs import live
from pages.ui.jobs.live import HALTED, Watched
from pages.ui.jobs.sentences import share
from pages.ui.kit.style import sheet
from pages.ui.messages import tr

GROWTH = 0.8
"""Replicas of one run train together: twice as many take less than twice as long."""
LANES = 2.0
"""Runs that a worker trains side by side."""
SLOW, LONG = 2.0, 20.0
"""Seconds from which a method, and a page, are said to be slow before they start."""
_RATIOS: dict[str, deque[float]] = {}
"""How much longer runs took here than where they were trained for shipping, by data set; of all
sessions."""
_LEARNT: set[str] = set()
"""The runs that have been compared so."""
SEEN = 0.2
"""Once so much of the work was seen being done, its pace tells how long the rest takes."""
ENDED = dict(zip(HALTED, ("Stopped", "Failed", "Interrupted"), strict=True))
"""What is said of a page whose runs have not come to their end."""
STYLE = sheet(__file__)


@dataclass(frozen=True)
class Phase:
    """What a session has been told of one phase of training.

    Attributes:
        what: The runs of that phase.
        began: When it was seen first, on this process's clock.
        done: The part that was done then: a page may be opened in the midst of it.
        left: The seconds that were said to be left, and when they were over.
    """

    what: frozenset[str]
    began: float
    done: float
    left: float | None


def draw(
    prefix: str, watched: Mapping[str, Watched], focus: Mapping[str, float], *, waits: bool = False
) -> None:
    """Draws the line while anything is under way, or has not come to its end; else a way to begin.

    Args:
        prefix: What the names of its widgets begin with.
        watched: Where the page's runs stand.
        focus: Axis values under the sliders.
        waits: Whether it takes a button to ask for whole runs.
    """
    st.html(STYLE)
    with st.container(key=f"told-{prefix}"):
        st.html(f"<p>{escape(told(prefix, watched))}</p>")
    active = [one for one in watched.values() if one.active]
    unasked = [one.run is None for one in watched.values()]
    _learn(watched.values())
    # always there: the browser would draw all that follows a new part again, the chart too
    with st.container(horizontal=True, vertical_alignment="center", key=f"total-{prefix}"):
        if active:
            first = {name: one for name, one in watched.items() if not one.settled and one.active}
            part = _done(first or watched)
            left, often = _left(prefix, first or watched, part), repeated(watched, focus)
            said = sentence(watched, left, often)
            st.progress(filled(watched, part), text=said, width=270)
            st.button(
                tr("Stop"), icon=":material/stop_circle:", key=f"{prefix}.stop", on_click=live.stop,
                args=(watched,), disabled=all(map(_stopping, active)),
            )  # fmt: skip
        elif said := halted(watched):
            st.markdown(said)
            if live.button(prefix, "again", tr("Run again"), watched, focus):
                st.rerun()
        elif all(unasked) or (waits and any(unasked)):
            live.button(prefix, "all", tr("Train"), watched, focus)


def told(prefix: str, watched: Mapping[str, Watched]) -> str:
    """What screen readers are told: that training has begun, and how it has ended.

    It changes at these two moments alone. Empty where nothing of what is shown has been trained in
    this session.
    """
    key, shown = f"{prefix}.told", frozenset(one.job.id for one in watched.values())
    if any(one.active for one in watched.values()):
        st.session_state[key] = shown
        return tr("Training: the numbers may still change.")
    if st.session_state.get(key) != shown:
        return ""
    how = halted(watched) or live.trained(watched)
    return tr("Training has ended: {how}.").format(how=words.unmarked(how))


def halted(watched: Mapping[str, Watched]) -> str:
    """How runs ended that did not come to their end, and how often each was repeated until then.

    Empty where all came to their end.
    """
    short = [one for one in watched.values() if one.run is not None and one.run.state in ENDED]
    if not short:
        return ""
    ends = {one.run.state for one in short if one.run is not None}
    counts = [0 if one.drawn is None else len(set(one.drawn.seeds.tolist())) for one in short]
    often = words.counted(max(counts), "repetition")
    if min(counts) != max(counts):
        often = tr("{least} to {repetitions}").format(least=min(counts), repetitions=often)
    way = next(text for state, text in ENDED.items() if state in ends)
    return f"{tr(way)} · {often}"


def sentence(watched: Mapping[str, Watched], left: float | None, often: int = 0) -> str:
    """How many methods are there, or how often each was repeated; and how long the rest takes.

    Args:
        watched: Where the page's runs stand.
        left: Seconds that the rest takes; None where nobody knows.
        often: Repetitions that all lines have which get more; 0 where there are none yet.
    """
    there, count = _methods(watched)
    said = tr("More repetitions")
    if often:
        said = tr("{repetitions} so far").format(repetitions=words.counted(often, "repetition"))
    if there < count:
        methods = words.counted(count, "method")
        said = tr("Training: {there} of {methods}").format(there=there, methods=methods)
    if left is None or left < 1.0:
        return said
    return f"{said} · {tr('about {time}').format(time=words.lasting(left))}"


def repeated(watched: Mapping[str, Watched], focus: Mapping[str, float]) -> int:
    """How often every line has been repeated at the slider's budget, of those that get more."""
    counts = []
    for one in watched.values():
        if one.active and (drawn := one.drawn) is not None:
            at = {field: value for field, value in focus.items() if field in drawn.axes}
            counts.append(int(drawn.rows(**at).sum()))
    return min(counts, default=0)


def filled(watched: Mapping[str, Watched], part: float) -> float:
    """How far the bar is filled: as far as its sentence says, and a part of the methods to come."""
    there, count = _methods(watched)
    return (there + part * (count - there)) / count if there < count else part


def _methods(watched: Mapping[str, Watched]) -> tuple[int, int]:
    """How many methods have their curves, and how many there are."""
    taken = [one for one in watched.values() if one.active or one.settled]
    methods = {one.job.method for one in taken}
    return len(methods - {one.job.method for one in taken if not one.settled}), len(methods)


def slow(watched: Iterable[Sequence[Watched]]) -> str:
    """The methods that take long, the slowest first: "pSGD: about 20 s"; empty where none does.

    Args:
        watched: The runs of each method that are spoken of.
    """
    long: dict[str, float] = {}
    for some in watched:
        took = sum(seconds(one.job) or 0.0 for one in some)
        if took >= SLOW:
            long[some[0].label] = max(took, long.get(some[0].label, 0.0))
    slowest = sorted(long, key=lambda name: -long[name])
    return "; ".join(f"{name}: about {words.duration(long[name])}" for name in slowest)


def long(own: Watched, every: Collection[Watched]) -> str:
    """How long a method's curve takes, and the page; empty where that is not long, or unknown."""
    first = seconds((*own.early, own)[0].job)
    each = [seconds(one.job) for one in every]
    whole = sum(known for known in each if known is not None) / LANES
    if first is None or None in each or whole < LONG:
        return ""
    return (
        f" The curve of {own.label} takes about {words.duration(first)}, "
        f"all {words.plural(len(every), 'line')} about {words.duration(whole)}."
    )


def _left(prefix: str, watched: Mapping[str, Watched], part: float) -> float | None:
    """Seconds that one phase still takes; what has been said of it once is not said longer."""
    todo = [one for each in watched.values() for one in each.every if one.run and one.run.active]
    what, now, key = frozenset(one.job.id for one in todo), time.monotonic(), f"{prefix}.total"
    phase: Phase | None = st.session_state.get(key)
    if phase is None or not what <= phase.what:
        phase = Phase(what, now, part, None)
    each = [(seconds(one.job), share(one.run)) for one in todo if one.run]
    left = None
    if (seen := part - phase.done) >= SEEN:
        left = (now - phase.began) * (1.0 - part) / seen
    elif _RATIOS and all(known is not None for known, _ in each):
        left = sum(known * (1.0 - done) for known, done in each if known is not None) / LANES
    if phase.left is not None:
        left = min(max(phase.left - now, 0.0), left if left is not None else phase.left - now)
    over = None if left is None else now + left
    st.session_state[key] = Phase(phase.what, phase.began, phase.done, over)
    return left


def _done(watched: Mapping[str, Watched]) -> float:
    """The part of the work that is done, by the replicas of each run."""
    every = [one for each in watched.values() for one in each.every if one.run is not None]
    whole = sum(one.job.replicas() for one in every)
    done = sum(
        one.job.replicas() * (1.0 if one.complete else share(one.run)) for one in every if one.run
    )
    return min(1.0, done / whole) if whole else 0.0


def seconds(job: Job) -> float | None:
    """How long a run takes here, from what ships of its method and from what has been trained here.

    None where nothing of its method ships.
    """
    raw = _shipped_pace(job)
    return None if raw is None else raw * _ratio(job.dataset)


def _ratio(dataset: str) -> float:
    """How much longer runs on a data set take here than where they were trained for shipping.

    Until one has been trained here, runs on other data sets may show that this machine is slower,
    but not that it is quicker: how fast a large table is read depends on more than the processor.
    """
    if dataset in _RATIOS:
        return statistics.median(_RATIOS[dataset])
    every = [one for some in _RATIOS.values() for one in some]
    return max(1.0, statistics.median(every)) if every else 1.0


def _learn(watched: Iterable[Watched]) -> None:
    """Compares the time of runs that were trained here with that of what ships.

    Only of about the same size: a small one says little about how time grows with size.
    """
    for one in (part for each in watched for part in each.every):
        run = one.run
        if run is None or run.shipped or not one.complete or run.id in _LEARNT or not run.worked:
            continue
        _LEARNT.add(run.id)
        found = _nearest(one.job)
        if found and found[0] and 0.5 <= _work(one.job) / found[1] <= 2.0:
            own = _RATIOS.setdefault(one.job.dataset, deque(maxlen=50))
            own.append(run.worked / _in_proportion(one.job, *found))


def _shipped_pace(job: Job) -> float | None:
    """The seconds of the shipped run that is nearest, in proportion; None without any."""
    found = _nearest(job)
    return None if found is None else _in_proportion(job, *found)


def _in_proportion(job: Job, took: float, other: int) -> float:
    """Seconds of a job, from those of a run of other work."""
    return float(took * (_work(job) / other) ** GROWTH)


def _nearest(job: Job) -> tuple[float, int] | None:
    """Seconds and work of the shipped run of the same method that is nearest in size.

    Those on the same data set tell first: features of other records are more or fewer. Among
    equally near ones the median counts: the first run of a process takes several times as long.
    """
    known, size = _paces(job.paper).get(job.method, {}), _work(job)
    own = known.get(job.dataset) or [one for each in known.values() for one in each]
    if not own:
        return None
    work = min((work for _, work in own), key=lambda work: abs(math.log(work / size)))
    return statistics.median(took for took, other in own if other == work), work


@functools.cache
def _paces(slug: str) -> dict[str, dict[str, list[tuple[float, int]]]]:
    """The seconds and the work of every run of a paper that ships, by method and data set."""
    found: dict[str, dict[str, list[tuple[float, int]]]] = {}
    for one in shipped.index(shipped.FOLDER).values():
        if one.job.paper == slug and one.origin.seconds > 0.0:
            own = found.setdefault(one.job.method, {}).setdefault(one.job.dataset, [])
            own.append((one.origin.seconds, _work(one.job)))
    return found


def _work(job: Job) -> int:
    """Steps of all replicas on all records."""
    records = catalog.card(job.dataset).records
    return max(1, job.entry().steps(job.spec(), records) * records * job.replicas())


def _stopping(one: Watched) -> bool:
    runs = [part.run for part in one.every if part.run is not None and part.run.active]
    return all(run.stopping for run in runs)
