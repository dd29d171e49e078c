"""The curve of the first page without a server: the app's, at every budget."""

from html import escape
from typing import Any

from engine.core.spec import knobs
from pages.ui import home
from pages.ui.charts.dots import dots
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import shell
from pages.ui.kit.knobs import label
from pages.ui.kit.markdown import html
from pages.ui.kit.source import MAIN
from pages.ui.messages import tr
from pages.ui.paper import panels, preview
from pages.ui.paper.view import View
from pages.ui.site import states
from pages.ui.site.frame import asking, embed, ending, slider


def taken() -> tuple[dict[str, Any], str] | None:
    """What the script moves, and its places as HTML; None where the runs do not ship."""
    if preview.SLUG not in shell.papers():
        return None
    page = preview.page(home.stops())
    state = states.state(page, states.ships, _meant)
    if state is None:
        return None
    kept = {key: part for key, part in vars(state).items() if key not in ("cards", "caption")}
    return {"prefix": page.prefix, **kept}, _body(state, tr(label(knobs(page.paper.spec)[BUDGET])))


def _meant(view: View) -> str:
    """What a budget means: a sentence, and the dots that it fills."""
    said, count = panels.odds(view)
    if count is None:
        return f"<p>{html(said)}</p>"
    drawn = f'<div class="dots" role="img" aria-label="{escape(panels.filling(count))}">'
    return f"<p>{html(said)}</p>{drawn}{dots(count)}</div>"


def _body(state: states.State, name: str) -> str:
    """The slider and the sentence beside the curve, and what leads on."""
    moves = slider("epsilon", name, len(state.budgets), state.first)
    learn = f'<a href="learn/index{ending()}{asking()}">{escape(home.text("learn"))}</a>'
    return (
        f'<p>{html(home.text("move"))}</p><section class="start">'
        f'<div class="told">{moves}<p class="finding" aria-live="polite"></p></div>'
        f'<div class="chart main"></div><div class="meaning"></div>{embed(MAIN)}</section>'
        f"<p>{learn}</p>"
    )
