"""Where an exhibit's numbers come from: settings, seeds and runs."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from datasets import catalog as data_catalog
from engine.catalog import paper
from engine.core.spec import Setting, Value, knobs
from engine.runs import reference
from engine.runs.exhibit import Exhibit
from engine.runs.job import Job
from engine.runs.reference import Reference
from pages.ui import words
from pages.ui.jobs.live import Watched
from pages.ui.jobs.runs_table import LOOK, device
from pages.ui.kit import shell
from pages.ui.kit.access import troubles
from pages.ui.kit.knobs import label
from pages.ui.kit.root import rooted
from pages.ui.paper.defaults import link

MANY = 8
"""A sweep of more values is told by its ends."""


def ships(slug: str, name: str) -> Reference | None:
    """What ships of an exhibit; a damaged file is one sentence, and the page goes on."""
    with troubles():
        return reference.load(slug, name, reference.FOLDER)
    return None


def size(jobs: Mapping[str, Job]) -> str:
    """How much there is to do: "8 runs, 19,200 trainings"."""
    trainings = sum(job.replicas() for job in jobs.values())
    return f"{words.plural(len(jobs), 'run')}, {words.plural(trainings, 'training')}"


def simulated(jobs: Mapping[str, Job]) -> str:
    """The data sets of an exhibit that are no records of real people; empty if there are none."""
    names = dict.fromkeys(job.dataset for job in jobs.values() if job.simulated)
    return words.times(", ".join(data_catalog.card(name).title for name in names))


def show(slug: str, exhibit: Exhibit, watched: Mapping[str, Watched], full: bool) -> None:
    """Draws, folded away, the settings, seeds and runs of an exhibit."""
    with st.expander("Settings, seeds and runs", icon=":material/fact_check:"):
        settings = {name: _settings(one.job) for name, one in watched.items()}
        common = _common(list(settings.values()))
        if common:
            fields = _fields(watched)
            shared = ", ".join(f"{label(fields[name])} {text}" for name, text in common.items())
            st.markdown(f"The same everywhere: {shared}.")
        if watched:
            st.dataframe(
                [_row(name, one, settings[name], common) for name, one in watched.items()],
                hide_index=True, alt=f"The runs behind {exhibit.title}.",
                column_config={"Open": st.column_config.LinkColumn(display_text="Open its page")},
            )  # fmt: skip
        st.markdown("The same from a terminal:")
        size = " --full" if full else ""
        command = f"python -m engine reproduce {slug} {exhibit.name}{size}"
        st.code(command, language="bash", wrap_lines=True)
        st.page_link("pages/runs.py", label="All runs", icon=":material/history:")


def _fields(watched: Mapping[str, Watched]) -> dict[str, Setting]:
    """The settings of all jobs by field; a figure may compare methods of several papers."""
    papers = dict.fromkeys(one.job.paper for one in watched.values())
    return {field: knob for slug in papers for field, knob in knobs(paper(slug).spec).items()}


def _settings(job: Job) -> dict[str, str]:
    """What a job's method reads, by field."""
    swept = {field: _sweep(values) for field, values in job.axes.items()}
    values = {field: _text(job.values[field]) for field in job.entry().uses if field in job.values}
    return {**values, **swept}


def _text(value: Value) -> str:
    return value.replace("_", " ") if isinstance(value, str) else words.number(float(value), 6)


def _sweep(values: Sequence[Value]) -> str:
    if len(values) > MANY:
        return f"{_text(values[0])} to {_text(values[-1])} ({len(values)} values)"
    return ", ".join(map(_text, values))


def _common(each: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The settings that no two jobs differ in."""
    fields = dict.fromkeys(field for settings in each for field in settings)
    values = {field: {s[field] for s in each if field in s} for field in fields}
    return {field: next(iter(texts)) for field, texts in values.items() if len(texts) == 1}


def _row(
    name: str, one: Watched, settings: Mapping[str, str], common: Mapping[str, str]
) -> dict[str, Any]:
    """One job."""
    job, fields = one.job, knobs(paper(one.job.paper).spec)
    own = {field: text for field, text in settings.items() if field not in common}
    return {
        "Part": name,
        "Method": job.entry().label,
        "Data": words.times(data_catalog.card(job.dataset).title),
        "Its own settings": "; ".join(f"{fields[f].label} {text}" for f, text in own.items()),
        "Seeds": seeds(job.seeds),
        "Run": job.id,
        "In this store": LOOK[one.run.state][0] if one.run else "no",
        "Trained on": device(one.run) if one.run else "",
        "Open": rooted(link(job)) if job.paper in shell.papers() else None,
    }


def seeds(chosen: Sequence[int]) -> str:
    """Seeds in short: "0 to 399", or one after another."""
    first, last = chosen[0], chosen[-1]
    if len(chosen) > 1 and list(chosen) == list(range(first, last + 1)):
        return f"{first} to {last}"
    more = ", …" if len(chosen) > MANY else ""
    return ", ".join(str(seed) for seed in chosen[:MANY]) + more
