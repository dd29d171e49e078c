"""Every private method of every paper keeps what `checks` promises; new papers join unasked."""

import zlib

import pytest
import torch

from engine.catalog import catalog
from engine.privacy import accounting
from tests.conformance import checks
from tests.conformance.play import case, private

CASES = {
    f"{paper.slug}-{entry.name}": made
    for paper in catalog().values()
    for entry in paper.methods
    if private(made := case(paper, entry))
}


@pytest.fixture(autouse=True, scope="module")
def quick():
    """Some multiplier from 1 to 2 in place of seconds of search: it depends on what the search
    does, and how large it is, is not in question here. The accountants are the real ones."""

    def some(make, target, delta, relation, **how):
        text = f"{make(1.0)} {target} {delta} {relation}"
        return 1.0 + zlib.crc32(text.encode()) / 2**32

    threads, patch = torch.get_num_threads(), pytest.MonkeyPatch()
    patch.setattr(accounting, "calibrate", some)
    torch.set_num_threads(1)
    yield
    patch.undo()
    torch.set_num_threads(threads)


@pytest.mark.parametrize("check", checks.ALL, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", CASES)
def test_a_private_method_keeps_its_promises(name, check):
    check(CASES[name])
