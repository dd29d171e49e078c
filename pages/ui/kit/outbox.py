"""What a session sends to its browser: all pieces of a part of a page at one time.

The browser draws its whole page for whatever it is sent at one time: that a part has begun, that it
is running, then each piece as it comes. Only the last of these drawings shows what is new.

A widget outside of a part may ask for that part alone (`st.rerun` with its key). Streamlit begins
the whole page, ends it before anything is drawn, and begins the part: the browser is told of the
part alone.
"""

import asyncio

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime, app_session
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

SOON = 0.1
"""Seconds within which most parts are drawn; a longer one is sent piece by piece from then on."""

STATES = ("new_session", "session_status_changed", "script_finished")
"""What a session says of a run of its script."""


class Outbox(ForwardMsgQueue):
    """The messages of a session; the pieces of a part wait for its last one, for a while.

    The message that a page has begun waits for its first piece, too.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[ForwardMsg] = []
        self._timer: asyncio.TimerHandle | None = None

    def enqueue(self, msg: ForwardMsg) -> None:
        """Adds a message, or keeps it while its part is being drawn or its page may end at once."""
        kind, part = msg.WhichOneof("type"), bool(msg.metadata.run.fragment_ids)
        page = bool(self._kept) and self._kept[0].HasField("new_session")
        ends = kind in ("new_session", "script_finished") and not (page and _broken_off(msg))
        if ends or (page and kind == "delta"):
            self._give(whole=kind == "script_finished")
        if self._timer or (kind == "new_session" and not part):
            self._kept.append(msg)
        else:
            super().enqueue(msg)
        if kind == "new_session":
            self._timer = asyncio.get_running_loop().call_later(SOON, self._late)

    def clear(
        self, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
    ) -> None:
        """Forgets what is not sent yet: all of it, or what a run that begins will draw again.

        A part that begins forgets nothing: its pieces may be containers of other parts, and the
        browser stops at a piece whose container it was never sent. No later piece takes the place
        of an earlier one, since it would be sent before its own run begins. It leaves
        out only the messages of a page that began and ended for it.
        """
        if retain_lifecycle_msgs:
            if fragment_ids_this_run and any(map(_broken_off, self._kept)):
                self._kept = [one for one in self._kept if one.WhichOneof("type") not in STATES]
            self._give(whole=False)
        if retain_lifecycle_msgs and fragment_ids_this_run:
            self._delta_index_map = {}
        else:
            super().clear(retain_lifecycle_msgs, fragment_ids_this_run)

    def _late(self) -> None:
        self._give(whole=False)
        Runtime.instance()._enqueued_some_message()

    def _give(self, *, whole: bool) -> None:
        """Ends the wait; a part that is whole by now says nothing of running."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        for one in self._kept:
            if not (whole and one.HasField("session_status_changed")):
                super().enqueue(one)
        self._kept = []


def _broken_off(msg: ForwardMsg) -> bool:
    """Whether a run of the script has ended before its end, for another one."""
    return msg.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN


def install() -> None:
    """Gives such a queue to every session that begins from now on."""
    setattr(app_session, "ForwardMsgQueue", Outbox)  # noqa: B010  (a name that is not exported)
