"""A move comes while the page is drawn for another: Streamlit breaks that drawing off."""

from pathlib import Path

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

from pages.ui.jobs import clock
from pages.ui.kit import shell
from pages.ui.paper import foot, sidebar, total
from tests.pages.conftest import Open

REDRAW = sidebar.redraw
PLACES = {
    "as the page begins": (shell, "enter"),
    "before the part is known": (clock, "leave"),
    "before the foot": (foot, "beside"),
    "before the tabs": (total, "draw"),
    "in the foot": (foot, "meaning"),
}


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("all_of_it", [True, False], ids=["page", "part"])
def test_the_later_move_is_drawn_without_an_error(
    visit: Open, home: Path, monkeypatch: pytest.MonkeyPatch, where: str, all_of_it: bool
):
    waits, broken, narrow, pages = list[WidgetStates](), list[str](), [False], list[str]()
    place = foot.place
    monkeypatch.setattr(foot, "place", lambda: pages.append("drawn") or place())
    module, name = PLACES[where]
    real = getattr(module, name)

    def breaks_off(*given, **named):
        if waits:
            broken.append(where)
            narrow[0] = True
            now = get_script_run_ctx()
            now.script_requests.request_rerun(
                RerunData(now.query_string, waits.pop(), page_script_hash=now.page_script_hash)
            )
        return real(*given, **named)

    def redraw(*given):
        if narrow[0]:
            REDRAW(*given)

    monkeypatch.setattr(module, name, breaks_off)
    monkeypatch.setattr(sidebar, "redraw", redraw)
    page = visit("mean")
    slider = page.select_slider("mean.bound")
    one, other = slider.options[1], slider.options[-1]
    slider.set_value(other)
    waits.append(page._tree.get_widget_states())
    slider.set_value(one)
    narrow[0] = not all_of_it
    pages.clear()
    page.run()
    # only the part is drawn again where only the part was broken off; `enter` comes before `place`
    assert len(pages) == all_of_it * (1 if where == "as the page begins" else 2)
    assert broken == ([where] if all_of_it or where != "as the page begins" else [])
    assert [f"{one.value}: {one.message}" for one in page.exception] == []
    assert page.select_slider("mean.epsilon").options  # the foot is there
    assert page.session_state["mean.bound"] == (other if broken else one)
