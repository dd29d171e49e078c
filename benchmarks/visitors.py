"""Visitors of the app without a browser: each keeps a page open and moves the budget slider.

A visitor speaks the browser's side of Streamlit's protocol: it opens a websocket, draws the page,
sends what a slider sends, and asks again for the parts of the page that ask to be drawn at
intervals. A move is answered when a chart for its budget, or for a later move's, has arrived and
the drawing has ended.
"""

import asyncio
import contextlib
import math
import re
import time
from dataclasses import dataclass, field

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Slider_pb2 import Slider
from websockets.asyncio.client import ClientConnection, connect

CHART = re.compile(rb'\\"budget\\": ?([0-9.e+-]+)')
"""The budget that a chart is drawn for, in the message that brings it."""
PATIENCE = 120.0
"""Seconds that a page may take until it is drawn for the first time."""


@dataclass
class Visit:
    """What one visitor has seen.

    Attributes:
        moves: Moves of the slider.
        answers: Seconds until each answered move was answered.
        ticks: Times that a part of the page asked to be drawn again.
        redraws: Charts that have arrived.
        received: Bytes that have arrived.
    """

    moves: int = 0
    answers: list[float] = field(default_factory=list)
    ticks: int = 0
    redraws: int = 0
    received: int = 0


class Visitor:
    """One open page.

    Args:
        address: Where the app runs: "http://localhost:8501".
        page: The page's name in the address.
        query: The rest of the address.
        slider: How the label of the slider begins.
    """

    def __init__(self, address: str, page: str, query: str, slider: str = "Privacy budget") -> None:
        self.visit = Visit()
        self._address, self._page, self._query, self._label = address, page, query, slider
        self._socket: ClientConnection
        self._slider: Slider | None = None
        self._fragment = ""
        self._script = ""
        self._at = 0
        self._step = 1
        self._waiting: list[tuple[float, float]] = []
        self._seen: list[float] = []
        self._clocks: dict[str, tuple[float, asyncio.Task[None]]] = {}
        self._drawn = asyncio.Event()

    @property
    def ready(self) -> asyncio.Event:
        """Set once the page has been drawn and the slider is there."""
        return self._drawn

    async def stay(self, seconds: float, every: float, begin: asyncio.Event) -> Visit:
        """Opens the page, and from `begin` on moves the slider for a while.

        Args:
            seconds: How long.
            every: Seconds between two moves.
            begin: Set by the caller when all visitors are there.
        """
        place = self._address.replace("http", "ws", 1)
        async with connect(f"{place}/_stcore/stream", max_size=None) as socket:
            self._socket = socket
            listening = asyncio.create_task(self._listen())
            try:
                await self._send(ClientState(page_name=self._page))
                drawn = asyncio.create_task(self._drawn.wait())
                first = asyncio.FIRST_COMPLETED
                await asyncio.wait({drawn, listening}, timeout=PATIENCE, return_when=first)
                if not drawn.done():
                    raise TimeoutError(f"expected the page {self._page} within {PATIENCE:g} s")
                await begin.wait()
                await self._play(seconds, every)
            finally:
                for _, clock in self._clocks.values():
                    clock.cancel()
                listening.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await listening
        return self.visit

    async def _play(self, seconds: float, every: float) -> None:
        """Moves the slider every so often, then gives the last moves time for their answers."""
        end = time.monotonic() + seconds
        at = time.monotonic()
        while at < end:
            await self._move()
            at += every
            await asyncio.sleep(max(0.0, at - time.monotonic()))
        late = time.monotonic() + 10 * every
        while self._waiting and time.monotonic() < late:
            await asyncio.sleep(0.05)

    async def _move(self) -> None:
        """One step of the slider, up and down its whole range."""
        assert self._slider is not None
        if not 0 <= self._at + self._step < len(self._slider.options):
            self._step = -self._step
        self._at += self._step
        self.visit.moves += 1
        self._waiting.append((float(self._slider.options[self._at]), time.monotonic()))
        await self._send(ClientState(fragment_id=self._fragment))

    async def _send(self, state: ClientState) -> None:
        """Sends a request to draw, with what the slider says."""
        state.query_string = self._query
        state.page_script_hash = self._script
        state.context_info.url = f"{self._address}/{self._page}"
        if self._slider is not None:
            widget = state.widget_states.widgets.add(id=self._slider.id)
            widget.string_array_value.data.append(self._slider.options[self._at])
        await self._socket.send(BackMsg(rerun_script=state).SerializeToString())

    async def _listen(self) -> None:
        async for raw in self._socket:
            assert isinstance(raw, bytes)
            self.visit.received += len(raw)
            for budget in CHART.findall(raw):
                self._seen.append(float(budget))
            message = ForwardMsg.FromString(raw)
            match message.WhichOneof("type"):
                case "new_session":
                    self._script = message.new_session.page_script_hash
                    self._seen.clear()
                    if not message.metadata.run.fragment_ids:
                        self._stop(list(self._clocks))
                case "delta":
                    self._look(message)
                case "auto_rerun":
                    self._tick(message.auto_rerun.fragment_id, message.auto_rerun.interval)
                case "stop_auto_rerun":
                    self._stop(list(message.stop_auto_rerun.fragment_ids))
                case "script_finished":
                    self._answered()

    def _look(self, message: ForwardMsg) -> None:
        """Finds the slider, and the part of the page that it belongs to."""
        element = message.delta.new_element
        if element.WhichOneof("type") == "slider" and element.slider.label.startswith(self._label):
            if self._slider is None:
                self._at = int(element.slider.default[0])
            self._slider, self._fragment = element.slider, message.delta.fragment_id

    def _answered(self) -> None:
        """Notes which moves the drawing that has ended has answered."""
        if self._slider is not None:
            self._drawn.set()
        self.visit.redraws += len(self._seen)
        if not self._seen:
            return
        known = [
            i for i, (budget, _) in enumerate(self._waiting) if math.isclose(budget, self._seen[0])
        ]
        if known:
            now = time.monotonic()
            self.visit.answers += [now - at for _, at in self._waiting[: known[-1] + 1]]
            del self._waiting[: known[-1] + 1]
        self._seen.clear()

    def _tick(self, fragment: str, interval: float) -> None:
        """Asks for a part of the page at intervals; one that runs at this interval goes on."""
        known = self._clocks.get(fragment)
        if known is None or known[0] != interval:
            self._stop([fragment])
            self._clocks[fragment] = interval, asyncio.create_task(self._ask(fragment, interval))

    async def _ask(self, fragment: str, interval: float) -> None:
        while True:
            await asyncio.sleep(interval)
            self.visit.ticks += 1
            await self._send(ClientState(fragment_id=fragment, is_auto_rerun=True))

    def _stop(self, fragments: list[str]) -> None:
        for fragment in fragments:
            if fragment in self._clocks:
                self._clocks.pop(fragment)[1].cancel()


async def visit(
    address: str, page: str, query: str, count: int, seconds: float, every: float = 1.0
) -> list[Visit]:
    """Some visitors of one page at once, who move the slider in turns.

    Args:
        address: Where the app runs.
        page: The page's name in the address.
        query: The rest of the address.
        count: How many visitors.
        seconds: How long each moves the slider.
        every: Seconds between two moves of each.
    """
    begin = [asyncio.Event() for _ in range(count)]
    visitors = [Visitor(address, page, query) for _ in range(count)]
    staying = []
    for visitor, start in zip(visitors, begin, strict=True):
        staying.append(asyncio.create_task(visitor.stay(seconds, every, start)))
        drawn = asyncio.create_task(visitor.ready.wait())
        await asyncio.wait({staying[-1], drawn}, return_when=asyncio.FIRST_COMPLETED)
        drawn.cancel()
    for start in begin:
        start.set()
        await asyncio.sleep(every / count)
    return list(await asyncio.gather(*staying))
