"""Files that somebody asks for by name: whole, with the usual rights, and nothing left beside."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from engine.core import files
from engine.core.files import PART, give, writer


def test_a_given_file_has_the_usual_rights_and_keeps_those_that_it_had(tmp_path: Path):
    path, usual = tmp_path / "made", tmp_path / "usual"
    usual.touch()
    give(path, b"first")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
    path.chmod(0o600)
    give(path, b"second")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"second", 0o600)


def test_a_link_keeps_leading_to_its_file_and_a_pipe_is_written_to(tmp_path: Path):
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(tmp_path / "made")
    give(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "made").read_bytes() == b"new"
    os.mkfifo(pipe)
    code = f"print(open({str(pipe)!r}).read(), end='')"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as reader:
        give(pipe, b"told")
        assert reader.communicate()[0] == b"told"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_what_a_dead_process_has_left_of_the_same_file_goes(tmp_path: Path):
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        dead.wait()
    path = tmp_path / ("m" * 200)  # with all that is added, longer than a name may be
    left = tmp_path / f"{files._begins(path)}{writer(dead.pid)}0{PART}"
    living = tmp_path / f"{files._begins(path)}{writer(os.getpid())}0{PART}"
    other = tmp_path / f".other.{writer(dead.pid)}0{PART}"
    for one in (left, living, other):
        one.touch()
    give(path, b"new")
    assert sorted(tmp_path.iterdir()) == sorted([living, other, path])


def test_a_folder_that_was_lost_between_two_renames_is_there_again(tmp_path: Path):
    """A killed process has moved the old folder aside; the next one cannot write a new one."""
    aside = tmp_path / f".site.old{PART}"
    aside.mkdir()
    (aside / "page").write_text("old")
    with pytest.raises(OSError, match="disk full"), files.replacing(tmp_path / "site"):
        raise OSError("disk full")
    assert (tmp_path / "site" / "page").read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["site"]


def test_a_folder_stays_where_the_new_one_cannot_take_its_name(tmp_path: Path, monkeypatch):
    """The old one is moved aside by then."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "page").write_text("old")
    rename = Path.rename

    def full(path: Path, target: Path) -> Path:
        if path.name.endswith(f".new{PART}"):
            raise OSError("disk full")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(OSError, match="disk full"), files.replacing(tmp_path / "site") as new:
        (new / "page").write_text("new")
    assert (tmp_path / "site" / "page").read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["site"]
