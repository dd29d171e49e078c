"""The pages for each kind of user name commands, files and lessons that are there."""

import re
from pathlib import Path

import pytest

from engine.cli.main import _parser
from pages.ui.lessons import schema

ROOT = Path(__file__).parents[1]
GUIDES = ["README.md", *(f"docs/{name}.md" for name in
          ("lecturer", "researcher", "data-scientist", "operator", "class"))]  # fmt: skip


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_names_what_is_there(name: str):
    text = (ROOT / name).read_text(encoding="utf-8")
    commands = set(_parser("x")[1])
    assert set(re.findall(r"python -m engine (\w+)", text)) <= commands
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    assert set(re.findall(r"(?:`|^    )make ([a-z-]+)", text, re.M)) <= targets
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / name).parent.joinpath(link).exists(), link


def test_the_lesson_in_the_lecturers_guide_has_no_mistake():
    text = (ROOT / "docs/lecturer.md").read_text(encoding="utf-8")
    start = text.index("    title =")
    lines = text[start : text.index("Answers are kept", start)].splitlines()
    made, wrong = schema.read("\n".join(line.removeprefix("    ") for line in lines))
    assert wrong == []
    assert made is not None
