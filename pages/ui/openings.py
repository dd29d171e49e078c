"""Every run that somebody sees without a wait: what pages open with, and what lessons show."""

from engine import catalog
from engine.runs.job import Job
from pages.ui.jobs.live import BUDGET
from pages.ui.kit import shell
from pages.ui.learn.maths import clipping
from pages.ui.lessons import shelf
from pages.ui.lessons.schema import View
from pages.ui.lessons.views import offered
from pages.ui.paper import defaults, preview
from pages.ui.paper.overlay import overlays
from pages.ui.paper.view import Choices, jobs


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
    found = [shelf.find(name).lesson for name in shelf.ORDER]
    views = [view for lesson in found if lesson is not None for view in lesson.views]
    return [job for view in views if view.page in shell.papers() for job in shown(view)]


def shown(view: View) -> list[Job]:
    """The jobs that a view of a paper's page asks for by itself."""
    paper, layout = catalog.paper(view.page), defaults.layout(view.page)
    texts = {
        key.partition(".")[2]: one.value(one.read(view.settings.get(key, one.default))[0])
        for key, one in offered(view.page).items()
    }
    budgets = offered(view.page)[f"{view.page}.{BUDGET}"].values
    values = {name: texts[name] for name in paper.opens() if name in texts and name != BUDGET}
    choices = Choices(str(texts["dataset"]), values, int(str(texts["repeats"])))
    wanted = jobs(paper, choices, budgets, layout.by_hand)
    wanted |= overlays(paper, wanted, layout.by_hand)
    return [job for name, job in wanted.items() if name not in layout.by_hand]
