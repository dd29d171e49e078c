"""The faults of `tests/power.py`: `make power` shows which test of `make test` notices each."""

import pytest

from tests import power


def test_every_fault_can_be_planted_and_stands_in_the_table():
    table = power.TABLE.read_text(encoding="utf-8")
    for name, fault in power.FAULTS.items():
        text = (power.ROOT / fault.file).read_text(encoding="utf-8")
        assert fault.planted(text) != text, name
        assert f"| {name} | `{fault.file}` |" in table


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return power.copied(tmp_path_factory.mktemp("power"))


@pytest.mark.slow
@pytest.mark.parametrize("name", power.FAULTS)
def test_a_fault_is_noticed(copy, name: str):
    assert power.noticed(copy, name)


@pytest.mark.slow
def test_the_copy_without_a_fault_passes(copy):
    mildest = power.Fault(
        "app.py", "", "", "tests/engine/test_driver.py tests/engine/test_changes.py"
    )
    assert power.failed(copy, mildest) == ""
