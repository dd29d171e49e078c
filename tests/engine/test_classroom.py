"""`app --class`: on the room's network, under its own address alone, with uploads off."""

import os
import sys

import pytest

from engine.cli import app
from engine.cli.main import main


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would be run, instead of running it."""
    calls: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda path, words: calls.append([path, *words]))
    for name in ("STREAMLIT_SERVER_ADDRESS", "STREAMLIT_SERVER_ALLOWED_HOSTS", "EXPLORER_UPLOADS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return calls


def test_a_class_gets_an_address_a_code_and_no_uploads(
    served: list[list[str]], capsys: pytest.CaptureFixture[str]
):
    main(["app", "--class", "--address", "192.168.1.20", "--port", "9000"])
    told = capsys.readouterr().out
    assert "http://192.168.1.20:9000" in told
    assert "▄" in told or "█" in told
    assert "without a password" in told
    assert os.environ["STREAMLIT_SERVER_ADDRESS"] == "192.168.1.20"
    assert os.environ["STREAMLIT_SERVER_ALLOWED_HOSTS"] == "192.168.1.20"
    assert os.environ["EXPLORER_UPLOADS"] == "off"
    assert served[0][0] == sys.executable
    assert served[0][-1] == "9000"


def test_without_it_nothing_is_opened(served: list[list[str]]):
    main(["app"])
    assert "STREAMLIT_SERVER_ADDRESS" not in os.environ
    assert "EXPLORER_UPLOADS" not in os.environ


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--class", "--address", "here"], "--address: expected an address such as"),
        (["--address", "192.168.1.20"], "--address: expected --class beside it"),
        (["--class", "--port", "0"], "--port: expected a number from 1"),
    ],
)
def test_a_wrong_request_is_one_sentence(
    served: list[list[str]], words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["app", *words]) == 2
    assert expected in capsys.readouterr().err
    assert served == []


def test_its_own_address_is_found_without_sending_anything():
    assert app._own("::1") == "::1"
