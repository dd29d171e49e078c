"""The faults of `tests/power.py`: `make power` shows which test of `make test` notices each."""

import ast
import re

import pytest

from tests import power

LONGER = {"thorough", "slow"}


def test_every_fault_can_be_planted_and_stands_in_the_table():
    table = power.TABLE.read_text(encoding="utf-8")
    for name, fault in power.FAULTS.items():
        text = (power.ROOT / fault.file).read_text(encoding="utf-8")
        assert fault.planted(text) != text, name
        assert f"| {name} | `{fault.file}` |" in table


def longer(text: str) -> set[str]:
    """The functions of a file that are marked, by themselves or all, for a longer suite."""
    body = ast.parse(text).body
    given = [one for one in body if isinstance(one, ast.Assign)]
    every = [one.value for one in given if ast.unparse(one.targets[0]) == "pytestmark"]
    return {
        one.name
        for one in body
        if isinstance(one, ast.FunctionDef)
        for mark in (*every, *one.decorator_list)
        if not isinstance(mark, ast.Call)  # marks of single parameters
        for part in ast.walk(mark)
        if isinstance(part, ast.Attribute) and part.attr in LONGER
    }


def test_what_notices_a_fault_belongs_to_the_suite_that_a_contributor_runs():
    rows = power.TABLE.read_text(encoding="utf-8").splitlines()
    for name, fault in power.FAULTS.items():
        [row] = [row for row in rows if row.startswith(f"| {name} |")]
        [test] = re.findall(r"`(test_\w+)` \|$", row)
        files = [power.ROOT / word for word in fault.tests.split() if word.endswith(".py")]
        texts = [path.read_text(encoding="utf-8") for path in files]
        assert any(f"def {test}(" in text and test not in longer(text) for text in texts), name


def test_a_test_of_a_longer_suite_is_seen():
    text = "@pytest.mark.thorough\ndef test_a(): ...\n@pytest.fixture\ndef b(): ...\n"
    assert longer(text) == {"test_a"}
    assert longer(f"pytestmark = [pytest.mark.slow]\n{text}") == {"test_a", "b"}


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
