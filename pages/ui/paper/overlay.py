"""The paper's own methods under the other calibration, drawn in the same chart. No Streamlit."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from engine.core.errors import SpecError
from engine.core.spec import Choice, Value, knobs
from engine.method import Entry, Paper
from engine.runs.job import Job

CALIBRATION, PRINTED, PROVED = "calibration", "paper", "rigorous"
"""The choice between the noise that is printed and the noise that can be proved."""
SIGN = ":"
"""Stands between a method and the calibration in which it is drawn beside the chosen one."""


def overlays(paper: Paper[Any], jobs: dict[str, Job], slow: tuple[str, ...] = ()) -> dict[str, Job]:
    """The jobs of the paper's own methods under the other calibration, by `method:calibration`.

    Args:
        paper: The paper.
        jobs: One job per method, as chosen.
        slow: Methods that take minutes and are left out.
    """
    extra = {}
    for entry in paper.methods:
        if entry.role != "paper" or CALIBRATION not in entry.uses or entry.name in slow:
            continue
        choice = knobs(paper.spec)[CALIBRATION]
        assert isinstance(choice, Choice)
        for other in choice.options:
            one = _changed(jobs[entry.name], other)
            if one is not None:
                extra[f"{entry.name}{SIGN}{other}"] = one
    return extra


def _changed(job: Job, calibration: str) -> Job | None:
    """A job under another calibration; None where it is this one or the settings refuse it."""
    if job.values[CALIBRATION] == calibration:
        return None
    with suppress(SpecError):
        values: dict[str, Value] = {**job.values, CALIBRATION: calibration}
        job.spec().replace(**{CALIBRATION: calibration})
        return replace(job, values=values)
    return None


def entry(paper: Paper[Any], name: str) -> Entry[Any]:
    """The method of a job's name."""
    return paper.entry(name.partition(SIGN)[0])


def both(names: Iterable[str]) -> set[str]:
    """The methods that are drawn under both calibrations, from the names of a page's jobs."""
    return {name.partition(SIGN)[0] for name in names if SIGN in name}


def label(paper: Paper[Any], job: Job, twice: Collection[str], *, brief: bool = False) -> str:
    """A method as a page names it; with its calibration where it is drawn under both."""
    listed = paper.entry(job.method)
    text = (listed.brief if brief else "") or listed.label
    if job.method not in twice:
        return text
    choice = knobs(paper.spec)[CALIBRATION]
    assert isinstance(choice, Choice)
    how = choice.text(job.values[CALIBRATION])
    return f"{text}, {how[:1].lower()}{how[1:]}"
