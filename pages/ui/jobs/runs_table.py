"""The list of runs: state, progress, what can be done with each, and each as one file."""

import io
import tempfile
import time
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import streamlit as st

from engine.catalog import catalog
from engine.cli.export import command, write
from engine.core.errors import ExplorerError
from engine.core.spec import Choice, Setting, Value, knobs
from engine.runs.job import Job
from engine.service.client import Client, Run, Unreadable
from engine.service.store import State
from pages.ui import rights, words
from pages.ui.jobs import clock
from pages.ui.jobs import submit as asking
from pages.ui.jobs.sentences import OLD, OUTDATED, progress, share
from pages.ui.kit import visitors
from pages.ui.kit.access import client, sentence, troubles
from pages.ui.kit.offers import figure
from pages.ui.kit.root import rooted

DEVICES = {"cpu": "processor", "cuda": "graphics card"}
PER_PAGE = 10
MOST = 500
"""Older runs than these many are not listed."""
Link = Callable[[Job], str]
"""Tells the address of the page that shows a job."""
LOOK: dict[State, tuple[str, str, Any]] = {
    "queued": ("Waiting", ":material/hourglass_empty:", "gray"),
    "running": ("Training", ":material/sync:", "blue"),
    "completed": ("Done", ":material/check_circle:", "green"),
    "cancelled": ("Stopped", ":material/stop_circle:", "gray"),
    "interrupted": ("Interrupted", ":material/power_off:", "orange"),
    "failed": ("Failed", ":material/error:", "red"),
}
PAUSED: tuple[str, str, Any] = ("Paused", ":material/pause_circle:", "gray")
INTRODUCTION = (
    "A run is one method, trained at several privacy budgets and repeated with several random "
    "seeds. Asking for a finished run again shows it at once."
)


def show(link: Link) -> None:
    """Draws the page."""
    st.title("Runs")
    st.markdown(INTRODUCTION)
    with troubles():
        if notice := client().store.notice():
            st.warning(notice, icon=":material/inventory_2:")
        ticking = any(_under_way(run) for run in _listed()[0])
        st.fragment(_body, run_every=clock.pace() if ticking else None)(ticking, link)


def _body(ticking: bool, link: Link) -> None:
    """The list itself; redrawn alone while something is under way."""
    with troubles():
        runs, lost = _listed()
        if ticking != any(_under_way(run) for run in runs):
            st.rerun()
        if not runs and not lost:
            st.info(
                "You have trained nothing yet. Open a paper and change a setting to start a run.",
                icon=":material/lightbulb:",
            )
            return
        st.caption(_summary(runs, lost))
        rows: list[Run | Unreadable] = [*runs, *lost]
        pages = -(-len(rows) // PER_PAGE)
        page = st.pagination(pages, key="runs.page") if pages > 1 else 1
        for one in rows[(page - 1) * PER_PAGE : page * PER_PAGE]:
            with st.container(border=True, key=f"run.{one.id}"), troubles():
                _row(one, link) if isinstance(one, Run) else _lost(one)


def _listed() -> tuple[list[Run], list[Unreadable]]:
    """The latest runs that this visitor may see, and those that cannot be read.

    Whose table these are on is not known, so only who may delete them sees them.
    """
    runs, lost = client().listed(MOST)
    mine = [one for one in lost if rights.may("delete a run", one.id)]
    return [run for run in runs if visitors.sees(run.job)], mine


def _under_way(run: Run) -> bool:
    """Whether it trains or waits for its turn."""
    return run.active and not run.paused


def _summary(runs: list[Run], lost: list[Unreadable]) -> str:
    """How many there are, how many are under way, and how many cannot be read."""
    active = sum(map(_under_way, runs))
    under_way = f", {active} under way" if active else ""
    unread = f" {len(lost)} more at the end of the list cannot be read." if lost else ""
    return f"{words.plural(len(runs), 'run')}{under_way}, newest first.{unread}"


def _row(run: Run, link: Link) -> None:
    """One run."""
    left, right = st.columns([5, 4], vertical_alignment="center")
    with left:
        _what(run)
    with right, st.container(horizontal=True, horizontal_alignment="right"):
        _actions(run, link) if _known(run) else _delete(run)


def _lost(one: Unreadable) -> None:
    """One that cannot be read."""
    left, right = st.columns([5, 4], vertical_alignment="center")
    with left:
        st.badge("Cannot be read", icon=":material/error:", color="red")
        st.markdown(sentence(one.reason))
    with right:
        _delete(one)


def _known(run: Run) -> bool:
    """Whether its paper and its method are still there."""
    try:
        return bool(run.job.entry())
    except ExplorerError:
        return False


def _what(run: Run) -> None:
    """What was asked and what became of it."""
    name, icon, colour = PAUSED if run.paused else LOOK[run.state]
    publication = catalog().get(run.job.paper)
    title = publication.title if publication else run.job.paper
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge("Stopping" if run.stopping else name, icon=icon, color=colour)
        st.markdown(f"**{_method(run)}** on {visitors.called(run.job.dataset)}", width="content")
    if run.paused:
        st.caption("Training goes on when a page shows this run.")
    elif run.active:
        st.progress(share(run), text=progress(title, run))
    if run.error:
        st.markdown(sentence(run.error))
    if run.outdated:
        st.caption(f"{OLD} {OUTDATED}.")
    st.caption(
        f"{title} · {_settings(run)} · {_numbers(run)} · {_when(run)} · engine {run.job.version} · "
        f"`{run.id}`"
    )


def _method(run: Run) -> str:
    """The method's label, or its key when its paper is gone."""
    try:
        return run.job.entry().label
    except ExplorerError:
        return run.job.method


def _settings(run: Run) -> str:
    """The settings that are not the defaults."""
    publication = catalog().get(run.job.paper)
    if publication is None:
        return "settings of a paper that this copy does not have"
    known = knobs(publication.spec)
    default = publication.begins(run.job.method, run.job.dataset)
    changed = [
        f"{known[field].label.lower()} {_text(known[field], value)}"
        for field, value in run.job.values.items()
        if field in known and field not in run.job.axes and value != default[field]
    ]
    return ", ".join(changed) or "default settings"


def _text(setting: Setting, value: Value) -> str:
    """A setting's value as a page says it."""
    return setting.text(value) if isinstance(setting, Choice) else figure(float(value))


def _numbers(run: Run) -> str:
    """How much was trained, in what time, and on what."""
    trainings = words.plural(run.job.replicas(), "training")
    taken = f" in {words.duration(run.seconds)}" if run.seconds and not run.active else ""
    place = device(run)
    return f"{trainings}{taken}" + (f" on the {place}" if place else "")


def device(run: Run) -> str:
    """What it was trained on, in words; empty before it begins."""
    kind = client().store.device(run.id)
    return DEVICES.get(kind, kind)


def _when(run: Run) -> str:
    """When it was asked for: the hour today, the date before."""
    then = datetime.fromtimestamp(run.created)
    ago = time.time() - run.created
    if ago < 60:
        return "just now"
    return (
        then.strftime("today %H:%M")
        if then.date() == datetime.now().date()
        else then.strftime("%d %B %Y %H:%M")
    )


def _actions(run: Run, link: Link) -> None:
    """Open, stop or repeat, take away, delete."""
    st.link_button("Open", rooted(link(run.job)), icon=":material/open_in_browser:")
    if run.active:
        _button("Stop", "stop_circle", run, "stop a run", disabled=run.stopping)
    elif run.state != "completed":
        _button("Run again", "replay", run)
    elif run.outdated:
        _button("Run again", "restart_alt", run, "run it again", run.job)
    with st.popover("More", icon=":material/more_horiz:"):
        st.markdown("The same run from a terminal:")
        st.code(command(run.job), language="bash", wrap_lines=True)
        st.download_button(
            "Download table, cards and arrays", lambda: bundle(client(), run), f"run-{run.id}.zip",
            "application/zip", key=f"take.{run.id}", icon=":material/download:",
            on_click="ignore",
        )  # fmt: skip
        if run.state == "completed" and not run.outdated:
            _button("Run again", "restart_alt", run, "run it again", run.job)
        _delete(run)


def _delete(run: Run | Unreadable) -> None:
    """Deletes a run once that has been confirmed."""
    if who := asking.who_looks([run.id]):
        st.caption(who)
    sure = st.checkbox("Delete this run and its results", key=f"sure.{run.id}")
    _button("Delete for good", "delete", run, "delete a run", disabled=not sure)


def _button(
    text: str,
    icon: str,
    run: Run | Unreadable,
    action: str = "",
    *more: Any,
    disabled: bool = False,
) -> None:
    """A button that does something with a run and redraws the page.

    Args:
        text: On the button.
        icon: Beside it.
        run: The run.
        action: What takes something away, as `rights` calls it; empty to ask for the run.
        more: What else the action needs.
        disabled: Whether it cannot be pressed now.
    """
    mine = not action or rights.may(action, run.id)
    pressed = st.button(
        text, key=f"{icon}.{run.id}", icon=f":material/{icon}:", disabled=disabled or not mine,
        help=None if mine else "Only the visitor who started this run can do this.",
    )  # fmt: skip
    if pressed:
        try:
            if action:
                rights.do(action, run.id, *more)
            elif isinstance(run, Run):
                client().submit(run.job, by=visitors.here())
        except ExplorerError as error:
            st.error(sentence(str(error)))
        else:
            st.rerun()


def bundle(client: Client, run: Run) -> bytes:
    """A zip archive of the run, what its cards cover apart from what must not be published.

    Raises:
        StoreError: The store cannot be read.
    """
    with tempfile.TemporaryDirectory() as folder, io.BytesIO() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in write(client, run, Path(folder)):
                archive.write(path, f"run-{run.id}/{path.relative_to(folder)}")
        return file.getvalue()
