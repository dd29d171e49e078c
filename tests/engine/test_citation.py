"""The file that says how to cite names this version."""

from pathlib import Path

from engine import __version__


def test_the_citation_names_this_version():
    text = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in text
