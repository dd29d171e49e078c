"""Every run that somebody sees without a wait: what pages open with, and what lessons show."""

from engine import catalog
from engine.core.spec import Value
from engine.runs.job import Job
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import shell
from pages.ui.kit.offers import Offer
from pages.ui.learn.maths import clipping
from pages.ui.lessons import library
from pages.ui.lessons.schema import View
from pages.ui.paper import choice, defaults, preview
from pages.ui.paper.overlay import overlays
from pages.ui.paper.view import offers as offered


def everything() -> dict[str, Job]:
    """The jobs of every page's first visit and of every lesson that comes with the app, by id."""
    wanted = [job for slug in shell.papers() for job in defaults.opening(slug).values()]
    if shell.there("learn"):
        wanted.append(clipping())
    if preview.START.slug in shell.papers():
        wanted += preview.page(preview.START).jobs.values()
    return {job.id: job for job in (*wanted, *lessons())}


def lessons() -> list[Job]:
    """The jobs of the lessons that come with the app, without those that take minutes."""
    each = [library.find(name).lesson for name in library.ORDER]
    views = [view for lesson in each if lesson is not None for view in lesson.views]
    return [job for view in views if view.page in shell.papers() for job in shown(view)]


def shown(view: View) -> list[Job]:
    """The jobs that a view of a paper's page asks for by itself."""
    paper, layout = catalog.paper(view.page), defaults.layout(view.page)

    def say(offer: Offer) -> Value:
        text = view.settings.get(f"{view.page}.{offer.field}", offer.default)
        return offer.value(offer.read(text)[0])

    dataset = str(say(offered(paper, layout).dataset))
    offers = offered(paper, layout, dataset)
    chosen = choice.said(offers, say)
    wanted = choice.jobs(paper, chosen, offers.knobs[BUDGET].values, layout.by_hand)
    wanted |= overlays(paper, wanted, layout.by_hand)
    return [job for name, job in wanted.items() if name not in layout.by_hand]
