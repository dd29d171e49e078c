"""When a page is drawn again: only when its runs have changed, and more slowly the more look on.

One thread of the app reads for every open page where its runs stand, and asks for a part of the
page once it has something new to show. The browser hears nothing before that: whatever is sent to
it, an empty answer too, makes it look through the whole page, which takes a sixth of a second.
"""

import sys
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from streamlit import runtime
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import ScriptRunContext, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

from engine.core.errors import StoreError
from engine.service import watching
from engine.service.client import Run
from engine.service.watching import Stage, Visitor
from pages.ui.jobs import submit
from pages.ui.kit import visitors
from pages.ui.kit.access import board, client

LOOK = 0.1
"""Seconds between two looks at the runs of all pages, while few are open."""
FIRST, QUICK, FASTEST, SLOWEST = 0.1, 0.3, 1.0, 5.0
"""Seconds between two drawings of a page: alone, when the chosen method's point or curve has come,
when another's first curve has, and then; and among many."""
EACH = 0.1
"""Seconds that every session which looks on adds to the interval of all."""
GONE = 15.0
"""Seconds without a look after which a session does not look on any more."""
ALONE = 2
"""Up to so many sessions, each reads the store at every question."""


class Onlookers:
    """The sessions of this process whose page follows a run that is under way."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[str, float] = {}

    def note(self, session: str) -> int:
        """Notes that a session looks on, and returns how many do."""
        now = time.monotonic()
        with self._lock:
            self._seen[session] = now
            self._seen = {
                one: at for one, at in self._seen.items() if now - at < GONE and submit.there(one)
            }
            return len(self._seen)


ONLOOKERS = Onlookers()


@dataclass(eq=False)
class Followed:
    """A part of an open page whose runs are under way.

    Attributes:
        visitor: The session that shows it.
        part: Key of the fragment that draws it.
        runs: What it shows, and what each run is for.
        says: The same with what is trained ahead for its view.
        shown: What of its runs it has drawn; None where the store could not be read.
        standing: Which of its runs had ended then.
        quick: Whether it waited for its first curves.
        again: Has it drawn again.
        drawn: When it was drawn, on this process's clock.
        said: When it was last said that the session shows these runs.
        busy: Held while that is said.
    """

    visitor: Visitor
    part: str
    runs: Mapping[str, Stage]
    says: Mapping[str, Stage]
    shown: Hashable
    standing: frozenset[tuple[str, float, Stage]]
    quick: bool
    again: Callable[[], None]
    drawn: float = field(default_factory=time.monotonic)
    said: float = field(default_factory=time.monotonic)
    busy: threading.Lock = field(default_factory=threading.Lock)


class Follower:
    """Looks at the runs of all open pages of this process, in a thread that ends with the last.

    Attributes:
        parts: What is followed, by session and part.
    """

    def __init__(self) -> None:
        self.parts: dict[tuple[str, str], Followed] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, one: Followed) -> None:
        """Follows a part from now on; the same part of the session is followed once."""
        with self._lock:
            self.parts[one.visitor.session, one.part] = one
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="follower", daemon=True)
                self._thread.start()

    def leave(self, session: str, part: str | None = None) -> None:
        """Follows a part of a session no more, or any; waits until nothing is said of it."""
        with self._lock:
            left = [key for key in self.parts if key[0] == session and part in (None, key[1])]
            gone = [self.parts.pop(key) for key in left]
        for one in gone:
            with one.busy:
                pass

    def _run(self) -> None:
        while True:
            with self._lock:
                every = list(self.parts.values())
                if not every:
                    self._thread = None
                    return
            there = 0
            for one in every:
                try:
                    there += self.look(one)
                except Exception as error:  # the other pages are followed all the same
                    print(f"{one.part}: {error}", file=sys.stderr, flush=True)
                    time.sleep(FASTEST)  # it may come again
            time.sleep(max(LOOK, interval(there, QUICK) - QUICK))

    def look(self, one: Followed) -> bool:
        """Says that a session shows its runs, and draws them again if there is something new.

        Returns:
            Whether its page is open: those that were closed slow down nobody's.
        """
        if not submit.there(one.visitor.session):
            if time.monotonic() - one.said > watching.KEPT:
                self.leave(one.visitor.session)
            return False  # the connection may come back
        with one.busy:
            if self.parts.get((one.visitor.session, one.part)) is not one:
                return True
            if new(one, _onlookers(one.visitor.session)):
                with self._lock:
                    self.parts.pop((one.visitor.session, one.part), None)
                one.again()
            return True


FOLLOWER = Follower()


def new(one: Followed, sessions: int) -> bool:
    """Whether a part has something new to show, and it is time to draw it.

    Args:
        one: The part.
        sessions: How many look on.
    """
    now = time.monotonic()
    try:
        if now - one.said >= submit.AGAIN:
            one.said = now
            watching.look_on(client().store, one.visitor, one.says)
        runs = board().look(one.runs)
    except StoreError:
        return one.shown is not None  # the page says why
    if signature(runs, one.runs) == one.shown:
        return False
    ended = standing(runs, one.runs) - one.standing
    stages = {stage for *_, stage in ended} if one.quick else set[Stage]()
    least = min((FIRST if stage <= Stage.CURVE else QUICK for stage in stages), default=FASTEST)
    return now - one.drawn >= interval(sessions, least)


def interval(sessions: int, least: float) -> float:
    """Seconds between two drawings of each page while so many sessions look on.

    Args:
        sessions: How many look on.
        least: Seconds where few do.
    """
    return round(min(max(least, EACH * sessions), SLOWEST), 2)


def pace() -> float:
    """Seconds between two drawings now (see `interval`)."""
    context = get_script_run_ctx(suppress_warning=True)
    return interval(_onlookers(context.session_id) if context else 1, FASTEST)


def _onlookers(session: str) -> int:
    """How many sessions look on, this one too; what they share may be older among many."""
    sessions = ONLOOKERS.note(session)
    board().pace = interval(sessions, QUICK) / 2 if sessions > ALONE else 0.0
    return sessions


def follow(part: str, runs: Mapping[str, Stage], drawn: dict[str, Run] | None) -> None:
    """Draws a part of the page again whenever one of its runs has something new to show.

    Call it at the end of that part. Nothing is followed without a run under way, unless runs went
    on while the part was drawn: then the page would stay at what was so before.

    Args:
        part: Key of the fragment to draw again.
        runs: The runs that it draws, by id, and what each is for.
        drawn: Where they stood before the part was drawn; None where the store could not be read.
    """
    context = get_script_run_ctx()
    if context is None or not runtime.exists():
        return
    shown = None if drawn is None else signature(drawn, runs)
    with suppress(StoreError):  # then it is followed, so that the page recovers by itself
        now = board().look(runs)
        if signature(now, runs) == shown and not any(run.active for run in now.values()):
            return
    before = drawn or {}
    quick = any(run.active and runs[one] < Stage.FULL for one, run in before.items())
    ended = standing(before, runs)
    FOLLOWER.add(
        Followed(
            visitors.here(), part, runs, submit.with_neighbours(runs), shown, ended, quick,
            _asks(context, part),
        )
    )  # fmt: skip


def leave(part: str | None = None) -> None:
    """Follows a part of this session's page no more, or none of its parts: it is drawn again."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None:
        FOLLOWER.leave(context.session_id, part)


def signature(runs: Mapping[str, Run], stages: Mapping[str, Stage]) -> Hashable:
    """Changes when a page that draws these runs has something new to show.

    Of a coarse curve only its end is drawn; a whole run shows how far its training is.
    """
    return tuple(
        (one, *_shown(run, stages.get(one, Stage.FULL) == Stage.FULL)) for one, run in runs.items()
    )


def standing(
    runs: Mapping[str, Run], stages: Mapping[str, Stage]
) -> frozenset[tuple[str, float, Stage]]:
    """The runs that have ended, and what each is for; that one has begun is no news."""
    return frozenset(
        (one, run.created, stages.get(one, Stage.FULL))
        for one, run in runs.items()
        if not run.active
    )


def _shown(run: Run, whole: bool) -> tuple[Hashable, ...]:
    progress = round((20 if whole else 5) * run.done / run.total) if run.total else 0
    return run.created, run.state, run.seq if whole else 0, progress, run.stopping


def redraw(part: str) -> None:
    """Asks for a fragment to be drawn once this run of the script is over.

    `st.rerun` takes a fragment's key in a callback only: elsewhere it would break off the run
    that calls it. Nothing is to be broken off here, so the request is left as a callback leaves it,
    and is one with a move of a slider that comes meanwhile.
    """
    context = get_script_run_ctx()
    if context is None or context.script_requests is None:
        return
    context.script_requests.request_rerun(_request(context, part))


def placed(part: str, place: DeltaGenerator) -> bool:
    """Whether a fragment still has its place in a container outside of itself.

    Streamlit forgets such a place as soon as the whole page begins to be drawn, and a fragment that
    is drawn by itself without it ends in an error.

    Args:
        part: The fragment's key.
        place: The container.
    """
    context = get_script_run_ctx()
    if context is None:
        return False
    storage = context.fragment_storage
    own = storage.resolve_target(part)
    return all(storage.get_outside_wrapper(one, place._id) is not None for one in own)


def _request(context: ScriptRunContext, part: str) -> RerunData:
    return RerunData(
        query_string=context.query_string,
        page_script_hash=context.page_script_hash,
        fragment_id_queue=context.fragment_storage.resolve_target(part),
        cached_message_hashes=context.cached_message_hashes,
        context_info=context.context_info,
    )


def _asks(context: ScriptRunContext, part: str) -> Callable[[], None]:
    """What asks for a fragment from outside of any run of the script.

    It does what the session itself does when the browser asks (`AppSession.request_rerun`), which
    takes a message of the browser's with the states of all its widgets, and is run where that is:
    in the loop of the server. The browser may have forgotten messages by then, so none are named.
    """
    request = replace(_request(context, part), cached_message_hashes=frozenset())
    session = context.session_id

    def again() -> None:
        if not runtime.exists():
            return  # the server has ended
        server = runtime.get_instance()
        server._get_async_objs().eventloop.call_soon_threadsafe(_ask, server, session, request)

    return again


def _ask(server: runtime.Runtime, session: str, request: RerunData) -> None:
    """Has a session run its script for a request, after what it does now; nothing if it is over."""
    there = server._session_mgr.get_active_session_info(session)
    if there is None or not all(map(there.session.has_fragment, request.fragment_id_queue)):
        return
    running = there.session._scriptrunner
    if running is None or not running.request_rerun(request):
        there.session._create_scriptrunner(request)
