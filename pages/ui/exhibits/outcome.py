"""What an exhibit shows: the numbers that ship, or what this machine's runs came to."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import streamlit as st

from engine.runs.changes import sources
from engine.runs.exhibit import Cell, Exhibit, written
from engine.runs.job import Job
from engine.runs.reference import Reference
from engine.runs.results import collect
from engine.service.run import Run
from pages.ui import words
from pages.ui.exhibits import provenance
from pages.ui.jobs import live, sentences
from pages.ui.jobs.live import Watched
from pages.ui.kit.access import client

FORMULA = ":material/function: Computed as you look, without a run."


@dataclass(frozen=True)
class Chosen:
    """What the page shows.

    Attributes:
        slug: The paper.
        exhibit: Its table or figure.
        source: Where the numbers come from: "shipped", "full", "quick", or "formula" where there
            is nothing to run.
        jobs: The jobs behind them, by name.
        ships: What ships with the app; None where nothing does.
    """

    slug: str
    exhibit: Exhibit
    source: str
    jobs: Mapping[str, Job]
    ships: Reference | None

    @property
    def here(self) -> bool:
        """Whether the numbers are those of this machine's runs."""
        return self.source in ("full", "quick")

    def watched(self) -> dict[str, Watched]:
        """Where each job stands now."""
        return live.watch(self.jobs, {name: name for name in self.jobs})


@functools.lru_cache(maxsize=64)
def jobs(exhibit: Exhibit, full: bool) -> Mapping[str, Job]:
    """An exhibit's jobs, kept because checking all their settings takes a while."""
    return exhibit.jobs(full)


def shown(chosen: Chosen, watched: Mapping[str, Watched]) -> tuple[Sequence[Cell], str]:
    """The numbers of the chosen source, and in one line where they come from.

    All of ours are missing where the source has none.
    """
    if chosen.source == "shipped" and chosen.ships is not None:
        return chosen.ships.cells, _history(chosen, chosen.ships)
    watched = watched if chosen.here else {}
    runs = [one.run for one in watched.values() if one.run is not None]
    stamps = tuple((run.id, run.created, run.done, run.finished) for run in runs)
    store = str(client().store.folder)
    key = (store, chosen.slug, chosen.exhibit.name, chosen.source, *stamps)
    cells = _cells(key, chosen, watched)
    if chosen.here:
        return cells, _computed(chosen, runs)
    return cells, FORMULA if chosen.source == "formula" else ""


def _history(chosen: Chosen, ships: Reference) -> str:
    """One line on shipped numbers."""
    at = "full size" if ships.full else "a quick look"
    runs = {cell.run for cell in ships.cells if cell.run}
    other = runs - {job.id for job in chosen.jobs.values()}
    stale = ""
    if other:
        stale = ". Some come from other settings or data than this copy would use now"
    elif ships.sources != sources(*chosen.jobs.values()):
        stale = ". Computed by an earlier version; run again to update"
    return (
        f":material/inventory_2: Shipped with the app, computed at {at} on {ships.date} by engine "
        f"{ships.version}: {words.plural(len(runs), 'run')}, {words.duration(ships.seconds)} of "
        f"work{stale}."
    )


def _computed(chosen: Chosen, runs: Sequence[Run]) -> str:
    """One line on what this machine's runs have measured so far."""
    at = "Full size" if chosen.source == "full" else "Quick look"
    if not runs:
        return f":material/computer: {at}: not computed here yet."
    done = sum(run.state == "completed" for run in runs)
    ended = max(run.finished or 0.0 for run in runs)
    day = f" on {datetime.fromtimestamp(ended):%Y-%m-%d at %H:%M}" if ended else ""
    part = "" if done == len(chosen.jobs) else f", {done} of them complete"
    seconds = sum(run.seconds or 0.0 for run in runs)
    old = f" {sentences.OLD} {sentences.OUTDATED}." if any(run.outdated for run in runs) else ""
    versions = ", ".join(dict.fromkeys(run.job.version for run in runs))
    return (
        f":material/computer: {at}, computed here{day} by engine {versions}: "
        f"{provenance.size(chosen.jobs)}{part}, {words.duration(seconds)} of work.{old}"
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def _cells(
    key: tuple[Any, ...], _chosen: Chosen, _watched: Mapping[str, Watched]
) -> Sequence[Cell]:
    """Cells from the runs' measurements; the key changes whenever one of the runs moves on."""
    found = {name: one.results for name, one in _watched.items()}
    results = {name: found.get(name) or collect(job, ()) for name, job in _chosen.jobs.items()}
    with written():
        return tuple(_chosen.exhibit.cells(results))
