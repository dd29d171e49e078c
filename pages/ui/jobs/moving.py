"""What follows a slider in a part of a page: drawn again by itself when that moves.

The browser draws again whatever is sent to it, so what a slider leaves as it was is not sent: tabs,
lists, buttons and headings belong to the part, and the pieces between them to a part of their own.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.kit.access import afresh, troubles

T = TypeVar("T")


class Moving(Generic[T]):
    """The pieces of a part that follow its slider, each in its place.

    Make it before anything else of the part is drawn: its own place tells Streamlit that it is the
    same as before.

    Args:
        look: What the pieces draw from, by what the slider says.

    Attributes:
        now: What they draw from now.
        own: Its own place, which the first piece can share so that it takes no room.
    """

    def __init__(self, look: Callable[[], T]) -> None:
        self._look, self.own = look, st.container(gap=None)
        self._first: list[tuple[DeltaGenerator, Callable[[T], object]]] = []
        self._pieces: list[tuple[DeltaGenerator, Callable[[T], object]]] = []
        self._last: list[tuple[DeltaGenerator, Callable[[], object]]] = []
        self.now = look()

    def piece(
        self,
        draw: Callable[[T], object],
        place: DeltaGenerator | None = None,
        *,
        first: bool = False,
    ) -> None:
        """Keeps a place for what follows the slider.

        Args:
            draw: Draws it.
            place: The place; here if it is None.
            first: Whether it is sent before the others: the browser draws in the order of arrival.
        """
        there = st.container() if place is None else place
        (self._first if first else self._pieces).append((there, draw))

    def last(self, draw: Callable[[], object]) -> None:
        """Keeps a place here for what is drawn once, after the pieces: no chart waits for it.

        Args:
            draw: Draws it.
        """
        self._last.append((st.container(), draw))

    def draw(self, after: Callable[[], None]) -> None:
        """Draws all pieces, and again whenever the slider moves; then what comes last.

        Args:
            after: What is done after each move.
        """
        first = [True]

        def body() -> None:
            moved = not first
            first.clear()
            if moved:
                afresh()
                self.now = self._look()
            for place, draw in (*self._first, *self._pieces):
                with place, troubles():
                    draw(self.now)
            if moved:
                with troubles():
                    after()

        with self.own:
            st.fragment(body)()
        for place, draw in self._last:
            with place, troubles():
                draw()
