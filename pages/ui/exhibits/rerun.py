"""Computing an exhibit here: the buttons that ask for it, and how far it has come."""

from collections.abc import Callable, Mapping

import streamlit as st

from engine.runs.job import Job
from engine.service.run import Run
from pages.ui import words
from pages.ui.exhibits import PREFIX, provenance
from pages.ui.jobs import live, sentences
from pages.ui.jobs import submit as asking
from pages.ui.jobs.live import HALTED, Watched
from pages.ui.kit.access import troubles

BUTTONS = {
    "full": ("Run again at full size", ":material/replay:"),
    "quick": ("Quick look", ":material/bolt:"),
}
Act = Callable[[str, Mapping[str, Job]], None]


def controls(sizes: Mapping[str, Mapping[str, Job]], took: float, act: Act) -> None:
    """Draws a button for each size.

    Args:
        sizes: The jobs of each size.
        took: Seconds of work at full size, as shipped; 0 where that is not known.
        act: Called with a size and its jobs when its button is pressed.
    """
    with st.container(horizontal=True, width="content"):
        for size, jobs in sizes.items():
            text, icon = BUTTONS[size]
            described = f"{provenance.size(jobs)}."
            if size == "full" and took:
                taken = words.duration(took)
                described += f" {taken} of work where the shipped numbers were computed."
            st.button(text, icon=icon, key=f"{PREFIX}.{size}", help=described, on_click=act,
                      args=(size, jobs))  # fmt: skip


def panel(watched: Mapping[str, Watched]) -> None:
    """What is under way, with a way to stop it; what stopped or failed, with a way to go on."""
    known = {name: one.run for name, one in watched.items() if one.run is not None}
    if not known:
        return
    done = sum(run.state == "completed" for run in known.values())
    if done == len(watched):
        return
    with st.container(border=True, key=f"{PREFIX}.panel"):
        active = {name: one for name, one in watched.items() if one.active}
        if active:
            st.progress(_share(watched), text=_progress(active, done, len(watched)))
        halted = [(name, run) for name, run in known.items() if run.state in HALTED]
        for ending in sentences.endings(halted):
            st.markdown(ending)
        with st.container(horizontal=True):
            if active:
                st.button(
                    "Stop", icon=":material/stop_circle:", key=f"{PREFIX}.stop",
                    on_click=troubles()(live.stop), args=(watched,),
                )  # fmt: skip
            elif done < len(watched):
                st.button(
                    "Go on", icon=":material/play_arrow:", key=f"{PREFIX}.on", type="primary",
                    on_click=live.restart, args=(watched, {}),
                )  # fmt: skip


def scratch(watched: Mapping[str, Watched]) -> None:
    """Draws, once all runs are over, a way to delete them and run them again, which asks first."""
    runs = [one.run for one in watched.values() if one.run is not None]
    if len(runs) < len(watched) or any(run.state != "completed" for run in runs):
        return
    with st.popover("Repeat from scratch", icon=":material/restart_alt:", key=f"{PREFIX}.scratch"):
        st.markdown(_asked(watched, runs))
        if who := asking.who_looks(one.job.id for one in watched.values()):
            st.caption(who)
        st.button(
            "Delete and run again", icon=":material/delete:", key=f"{PREFIX}.sure",
            on_click=asking.again, args=([one.job for one in watched.values()], {}),
        )  # fmt: skip


def _asked(watched: Mapping[str, Watched], runs: list[Run]) -> str:
    """What running all again takes and replaces."""
    size = provenance.size({name: one.job for name, one in watched.items()})
    took = words.duration(sum(run.seconds or 0.0 for run in runs))
    text = f"This runs **{size}** again. Last time it took **{took}** of work."
    here = sum(run.shipped is None for run in runs)
    if here:
        text += (
            f"\n\nIt first deletes the results of {words.plural(here, 'run')} on this computer. "
            "Pages that show them have gaps until the new ones are ready. "
            "This cannot be undone."
        )
    return f"{text}\n\nNumbers that ship with the app stay."


def _share(watched: Mapping[str, Watched]) -> float:
    """The part of all work that is done; a run counts by its settings."""
    weights = {name: one.job.replicas() for name, one in watched.items()}
    done = sum(
        weights[name] * (1.0 if one.run.state == "completed" else sentences.share(one.run))
        for name, one in watched.items()
        if one.run is not None
    )
    return min(1.0, done / sum(weights.values()))


def _progress(active: Mapping[str, Watched], done: int, count: int) -> str:
    """One line: how many runs are over, and what is being done now."""
    first = min(active, key=lambda name: getattr(active[name].run, "state", "") != "running")
    run = active[first].run
    assert run is not None
    return f"{done} of {words.plural(count, 'run')} done · {sentences.progress(first, run)}"
