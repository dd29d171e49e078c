"""What a run has said and left so far, read from the store as it comes and kept once.

Sessions share it. While a run goes on its arrays grow; those that were read last are kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import streamlit as st
from numpy.typing import NDArray

from engine.runs.events import Measured, Produced, Started
from engine.service.client import Run
from pages.ui.kit.access import client
from pages.ui.kit.shared import Shared


@dataclass
class History:
    """What one attempt of a run has said so far.

    Attributes:
        seen: Number of the last event that was read.
        parts: How many parts of its arrays there are.
        events: Its measurements.
        lock: Held while events are read.
    """

    seen: int = 0
    parts: int = 0
    events: list[Measured] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)


@st.cache_resource(max_entries=64, show_spinner=False)
def _history(run: str, created: float) -> History:
    return History()


_LEFT = Shared(16)
"""Arrays of runs, as they stood when the last of their parts came."""


def _read(run: Run) -> tuple[list[Measured], int]:
    """The measurements so far, and the number of parts; only what is new is read."""
    kept = _history(run.id, run.created)
    with kept.lock:
        new = client().events(run.id, kept.seen) if kept.seen < max(run.seq, 1) else ()
        for seen, event in new:
            kept.seen = seen
            if isinstance(event, Started):
                kept.events.clear()
                kept.parts = 0
            elif isinstance(event, Measured):
                kept.events.append(event)
            elif isinstance(event, Produced):
                kept.parts += 1
        return list(kept.events), kept.parts


def measurements(run: Run) -> list[Measured]:
    """The run's measurements so far, in order."""
    return _read(run)[0]


def arrays(run: Run) -> Mapping[str, NDArray[Any]]:
    """The run's arrays so far, by name; read again only when there are more."""
    signature = run.id, run.created, _read(run)[1]
    return _LEFT.once(signature, lambda: client().arrays(run.id))
