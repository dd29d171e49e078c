"""What must be set before torch is loaded, and before examples are drawn."""

import functools
import gc
import os
import sys

import pytest
from hypothesis import settings

# Some of MKL's products depend in the last place on where in memory their factors lie, which a
# tensor on a device that stands in for another does not share with the processor's.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")

# A second process would take time from the tests beside it; what it does has tests of its own.
os.environ.setdefault("EXPLORER_WORKERS", "1")

# The same examples in every run, and as long as a slow machine needs for each.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")


VARIANTS = (
    "pcdbn-pcdbn_te", "pcdbn-pcdbn_pw", "pcdbn-cdbn", "yesiwell-pcdbn_te", "yesiwell-pcdbn_pw",
    "yesiwell-tcdbn", "yesiwell-cdbn", "yesiwell-sctrbm",
)  # fmt: skip
"""Methods that run another's code with one switch turned: what every method must do is tested of
the other in the quick suite, and of these in the slow one."""
RELATIVES = (
    "enadpp-adppl", "enadpp-appdl", "enadpp-dp_ftrl", "enadpp-psgd", "lvq-gmlvq_dp", "pcdbn-psgd",
    "survival-cox_dp", "survival-dp_gd", "survival-dp_newton", "survival-exact",
    "survival-obj_pert_gauss", "survival-out_pert_gauss", "yesiwell-dpah", "yesiwell-pcdbn",
)  # fmt: skip
"""Methods that take longest in their package: what every method must do is tested of the quicker
ones in the quick suite, and of these in the thorough one."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Marks what is tested of every method for variants and relatives, before marks are read."""
    for item in items:
        made = getattr(item, "callspec", None)
        if made is not None and made.id.endswith(VARIANTS):
            item.add_marker(pytest.mark.slow)
        elif made is not None and made.id.endswith(RELATIVES):
            item.add_marker(pytest.mark.thorough)


def pytest_collection_finish():
    """What stays to the end, most of all objects, is left out of later collections."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def one_scan():
    """Streamlit looks through all installed packages for components once, not at every page."""
    from streamlit.components.v2 import manifest_scanner

    scan = functools.cache(manifest_scanner.scan_component_manifests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


@pytest.fixture(params=[1, 2])
def threads(request):
    """A number of torch's threads; the usual one again afterwards."""
    import torch  # here, because most tests do without

    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """Writes a copy of the paper `mean`, with a fault or none, to a folder outside the tree."""
    from engine import catalog, papers
    from engine.core import declared
    from tests.audit import planted

    folder, slug = tmp_path / "papers", "planted"
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(folder)])

    def write(fault: str = "") -> str:
        planted.copy(folder, slug, fault)
        catalog._catalog.cache_clear()
        declared.read.cache_clear()
        return slug

    yield write
    for name in [name for name in sys.modules if name.startswith(f"engine.papers.{slug}")]:
        del sys.modules[name]
    catalog._catalog.cache_clear()
