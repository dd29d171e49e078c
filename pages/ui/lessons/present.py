"""Presenter mode: one chart, large type, and keys that move through the views."""

from typing import Any

import streamlit as st

from pages.ui.kit import shell
from pages.ui.kit.address import PRESENT
from pages.ui.lessons import go, keys, notes, question
from pages.ui.lessons.go import Place
from pages.ui.lessons.schema import View

STYLE = """<style>
html { font-size: clamp(18px, 1.45vw, 30px) }
[data-testid=stSidebar], [data-testid=stExpandSidebarButton], [data-testid=stHeader],
[data-testid=stExpander]:not([class*="answers-"] *), [data-testid=stTabs] [role=tablist],
[data-testid=stMain] [data-testid=stPopover], [data-testid=stMain] [data-testid=stButtonGroup],
[data-testid=stMain] [data-testid=stSelectbox]:not(.st-key-learn-attack *, .st-key-learn-paper *),
[data-testid=stMain] [data-testid=stMenuButton], [data-testid=stMain] [class*="-lines-other"],
[data-testid=stMain] [data-testid=stPageLink], .st-key-lesson-steps { display: none !important }
[data-testid=stMainBlockContainer] { padding: 1.5rem 3rem 1rem; max-width: none }
[data-testid=stBottomBlockContainer] { padding-left: 3rem; padding-right: 3rem }
[data-testid=stBottomBlockContainer] p, .ruler { font-size: 1rem !important }
[data-testid=stMain] :is(p, li, td, th, button, summary, .stMarkdownBadge) {
  font-size: max(1rem, 1em) !important }
[data-testid=stBottomBlockContainer] [class*="-typed"] { display: none }
@media (max-height: 700px) {
  [data-testid=stMainBlockContainer] { padding: 0.25rem 2rem 1rem !important }
  [data-testid=stMainBlockContainer] [data-testid=stVerticalBlock] { gap: 0.25rem !important }
  [data-testid=stMainBlockContainer] [data-testid=stTabPanel] { padding-top: 0 }
  [data-testid=stMainBlockContainer]:has(.st-key-lesson) h1 {
    position: absolute; height: 1px; overflow: hidden; clip-path: inset(50%) }
  .st-key-lesson > :has([data-testid=stCaptionContainer]):not([class*="st-key-answers-"]),
  [data-testid=stBottomBlockContainer] [data-testid=stTooltipIcon] { display: none }
  [data-testid=stBottomBlockContainer] [data-testid=stWidgetLabel] { min-height: 0;
    white-space: nowrap }
  .st-key-lesson { padding: 0.25rem 0.75rem }
  .st-key-lesson:has([class*="st-key-answers-"]) { flex-flow: row wrap; align-items: center }
  .st-key-lesson:has([class*="st-key-answers-"]) > [data-testid=stElementContainer] {
    flex: 1 1 0; width: auto; min-width: 0 }
  .st-key-lesson [class*="st-key-answers-"] { width: auto }
  .st-key-lesson [class*="st-key-answers-"]:has(details[open]) { width: 100% }
  [class*="st-key-answers-"] details:not([open]) summary p {
    position: absolute; width: 1px; overflow: hidden; clip-path: inset(50%) }
  :has(.st-key-lesson) [class*="st-key-learn-text-"] { display: none }
  [data-testid=stBottomBlockContainer] { padding: 0 2rem 0.25rem }
  [data-testid=stBottomBlockContainer] [data-testid=stVerticalBlock] { gap: 0.25rem }
  [data-testid=stBottomBlockContainer] [data-testid=stHorizontalBlock] { flex-wrap: nowrap }
  [data-testid=stBottomBlockContainer] [data-testid=stColumn] { flex: 1 1 18%; min-width: 0 }
  [data-testid=stBottomBlockContainer] [data-testid=stColumn]:has(.ruler) { flex: 5 1 78% } }
</style>"""
"""Streamlit has no setting for a page without its frame."""


def on() -> bool:
    """Whether the address asks for presenter mode."""
    return st.query_params.get(PRESENT) == "1"


def begin(page: Any, place: Place | None) -> None:
    """Draws the frame and does what a key asked for.

    Args:
        page: The page that is shown.
        place: Where the lesson stands; None outside lessons, when keys walk through the papers.
    """
    st.html(STYLE)
    names = list(shell.papers())
    here = names.index(page.url_path) + 1 if page.url_path in names else 0
    lesson, number = ("", here) if place is None else (place.name, place.number)
    moved = keys.listen(
        "present", lesson, number, notes.address(lesson, number) if lesson else ""
    ).get("move")
    if moved is None:
        return
    by = int(moved["by"])
    if by == 0:
        st.query_params.pop(PRESENT, None)
        st.rerun()
    elif place is None:
        at = min(max(number + by, 1), len(names)) - 1
        go.show(View(address=f"/{names[at]}", text=""), {})
    else:
        _step(place, by)


def _step(place: Place, by: int) -> None:
    """To the next view; an open question is answered first."""
    asked = place.view.question
    if by > 0 and asked is not None and question.given(asked) is None:
        question.remember(asked, question.PASSED)
        st.rerun()
    if by < 0 or not place.last:
        go.to(place.name, place.lesson, place.number + by)
