"""The charts of a page's tab of proofs, at every budget: what is attacked, the whole guarantee."""

from collections.abc import Iterator, Sequence

from engine.runs import met as meetings
from pages.ui.bundle import sections
from pages.ui.bundle.drawn import Drawn
from pages.ui.kit.chart import Picture
from pages.ui.paper import attack, met, whole
from pages.ui.paper.view import Page, View

NO_ATTACK = "No attack on this method ships for these settings. The app runs one on request."


def drawn(page: Page, views: Sequence[View]) -> Iterator[tuple[str, list[Drawn]]]:
    """What the tab of proofs draws for every paper: its headings with their charts.

    Args:
        page: The page.
        views: It at each budget.
    """
    pictures, said = zip(*map(_attack, views), strict=True)
    key, budgets = f"{page.prefix}.{attack.RULER}", [view.budget for view in views]
    one = sections.joined(key, attack.TITLE, [attack.SEES], pictures, list(said), budgets)
    yield attack.TITLE, [one]
    if curves := list(_whole(page, views)):
        yield whole.TITLE, curves


def _attack(view: View) -> tuple[Picture | None, str]:
    """The ruler of an attack that is there, and what the app says of it."""
    mark, wanted = attack.attacked(view), attack.job(view)
    if wanted is None:
        return None, attack.nothing(view, view.guarantee())
    if mark is None:
        return None, NO_ATTACK
    said = [attack.told(view.guarantee(), mark)]
    if mark.shipped:
        said[0] += f" {attack.origin(wanted)}"
    if (row := meetings.fitting(wanted)) is not None:
        said += met.told(row, mark.bound)
    return attack.ruler(view.guarantee(), mark.bound, view.budget), "\n\n".join(said)


def _whole(page: Page, views: Sequence[View]) -> Iterator[Drawn]:
    """The curves behind the card, where they are there at every budget."""
    known = [whole.of(view) for view in views]
    there = [one for one in known if one is not None]
    if len(there) < len(views):
        return
    seen = [whole.pictures(view, one) for view, one in zip(views, there, strict=True)]
    budgets = [view.budget for view in views]
    for name in seen[0]:
        said, caption = [one[name].alt for one in seen], ""
        if name == whole.TEST:
            said = [f"{text} {whole.reading(of)}" for text, of in zip(said, there, strict=True)]
            caption = whole.READING
        key, pictures = f"{whole.prefix(page)}.{name}", [one[name] for one in seen]
        yield sections.joined(key, whole.TITLE, [caption], pictures, said, budgets)
