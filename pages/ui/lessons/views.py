"""Which pages and settings an address may name, so that a lesson's mistakes are found early."""

from collections.abc import Iterable, Mapping

from engine import catalog
from pages.ui.kit import shell
from pages.ui.kit.offers import Offer
from pages.ui.learn import pictures
from pages.ui.learn.declared import CONTROLS, SCREENS
from pages.ui.paper import defaults
from pages.ui.paper.view import offers

PARTS: dict[str, str] = {
    "sidebar": "[data-testid=stSidebar], [data-testid=stExpandSidebarButton]",
    "tabs": "[data-testid=stTabs] [role=tablist]",
    "budget": "[data-testid=stBottom]",
}
"""Parts of a page that a view may hide, and where they stand."""
OPEN = ("home", "compare", "reproduce", "runs")
"""Pages whose settings are checked by themselves when they are opened."""


def pages() -> tuple[str, ...]:
    """The names of all pages that an address may begin with."""
    others = tuple(name for name in ("learn", *OPEN) if shell.there(name))
    return (*others, *shell.papers())


def offered(page: str) -> dict[str, Offer]:
    """What a page offers, by the name in the address; empty for pages without a paper."""
    if page not in shell.papers():
        return {}
    offered_here = offers(catalog.paper(page), defaults.layout(page))
    return {f"{page}.{one.field}": one for one in offered_here.all}


def settings(page: str) -> tuple[str, ...]:
    """The names that a page's address may hold, as far as they are known beforehand."""
    return tuple(offered(page)) if page != "learn" else tuple(_controls())


def _controls() -> dict[str, tuple[str, ...]]:
    """The controls of Learn; what some of them offer ships with this copy."""
    return CONTROLS | {
        one.control.key: pictures.options(one) for one in SCREENS.values()
        if one.control.key not in CONTROLS
    }  # fmt: skip


def setting(page: str, key: str) -> bool:
    """Whether an address of that page may hold that name."""
    return key in settings(page) or key in _free(page) or (page in OPEN and "." in key)


def remembered(page: str, keys: Iterable[str]) -> list[str]:
    """Those of a session's keys that hold what a page's address may say, or more about it."""
    names = {*settings(page), *_free(page)}
    own = [key for key in keys if key.startswith(f"{page}.")]
    return [key for key in own if page in OPEN or {key, key.rpartition(".")[0]} & names]


def _free(page: str) -> set[str]:
    """Names that sections of a paper's page bind and check by themselves."""
    if page not in shell.papers():
        return set()
    layout = defaults.layout(page)
    sets = catalog.paper(page).datasets
    names = (name for part in layout.sections for data in sets for name in part.free(data))
    return {f"{page}.{name}" for name in names}


def wrong(page: str, values: Mapping[str, str]) -> list[str]:
    """What an address names that is not there, one sentence for each."""
    if page not in pages():
        return [f"expected a page ({', '.join(pages())}), got {page!r}."]
    known, controls, faults = offered(page), _controls() if page == "learn" else {}, []
    for key, text in values.items():
        if not setting(page, key):
            faults.append(f"expected a setting of {page}, got {key!r}.")
        elif key in known and known[key].read(text)[1]:
            faults.append(f"{key}: expected one of {', '.join(known[key].texts)}, got {text!r}.")
        elif key in controls and text not in controls[key]:
            faults.append(f"{key}: expected one of {', '.join(controls[key])}, got {text!r}.")
    return faults
