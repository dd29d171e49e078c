"""Tables of one's own are private, whole, and read with limits: bombs, kills and flipped bits."""

import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from datasets import own, own_child, own_store, packed
from engine.cli.main import main
from engine.core.errors import DatasetError, ExplorerError
from engine.training.features import kept, wavelets
from engine.training.records import records
from tests.datasets.test_own import plain

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))
    return tmp_path


def parquet_file(table: pa.Table, **options) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(table, sink, **options)
    return sink.getvalue()


def test_a_limit_of_the_size_of_files_is_one_sentence(tmp_path):
    (tmp_path / "a.csv").write_bytes(plain(20_000))
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000));"
        "from engine.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "table", "add", str(tmp_path / "a.csv")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    said = "file: expected room to read it, got File too large\n"
    assert (done.returncode, done.stderr) == (1, said)


def words() -> bytes:
    """A word of 2 MB in each of 20,000 rows, which its dictionary holds once: 40 GB as text."""
    one = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), ["x" * 2_000_000])
    rows = pa.array(range(20_000))
    return parquet_file(pa.table({"time": rows, "event": [0, 1] * 10_000, "note": one}))


def wide() -> bytes:
    """A million rows of 60 columns that are the same number, and say so in a few bytes."""
    zeros = pa.array(np.zeros(1_000_000))
    return parquet_file(pa.table({f"c{i}": zeros for i in range(60)}))


PEAK = """
import resource, sys
from pathlib import Path
from datasets import own
from engine.core.errors import DatasetError
try:
    own.keep("bomb.parquet", Path(sys.argv[1]).read_bytes())
except DatasetError:
    pass
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def peak(file: Path) -> int:
    """Bytes that the reading of a file takes: of the children of a process that has no others."""
    line = [sys.executable, "-c", PEAK, str(file)]
    return int(subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("bomb", [words, wide])
@pytest.mark.thorough
def test_a_bomb_is_one_sentence_and_takes_no_memory(bomb, tmp_path):
    """This process would not survive what the child refuses, so its own growth is bounded too."""
    content = bomb()
    assert len(content) < 5_000_000
    before = own_memory()
    with pytest.raises(DatasetError) as raised:
        own.keep("bomb.parquet", content)
    assert "\n" not in str(raised.value)
    assert own_memory() - before < 50e6
    (tmp_path / "bomb.parquet").write_bytes(content)
    assert 0 < peak(tmp_path / "bomb.parquet") < 1e9


def own_memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_child_that_takes_too_much_memory_is_told_so():
    code = (
        "from datasets import own_child; own_child.RESERVED = 120_000_000; own_child.limit();"
        "\ntry: bytearray(200_000_000)\nexcept MemoryError: print('refused')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == ["refused"]


def test_a_child_that_is_killed_is_one_sentence(monkeypatch):
    monkeypatch.setattr(own_child.sys, "executable", "/bin/false")
    with pytest.raises(DatasetError, match="got one that takes more"):
        own.keep("a.csv", plain(20_000))


def adding(home: Path, stop: int) -> int:
    """Adds a table for somebody in a process that kills itself at its n-th step in the store.

    Returns:
        How many steps there were, or minus the signal that ended it.
    """
    os.environ["EXPLORER_HOME"] = str(home)
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    seen = 0

    def step(frame, event, _):
        nonlocal seen
        if frame.f_code.co_filename.endswith("own_store.py") and event in ("line", "return"):
            seen += 1
            if seen == stop:
                os.kill(os.getpid(), signal.SIGKILL)
        return step

    try:
        sys.settrace(step)
        own.keep("a.csv", plain(), owner="somebody")
    finally:
        os._exit(seen)


@pytest.mark.slow
def test_a_killed_addition_leaves_a_whole_table_with_its_owner_or_none(tmp_path):
    own.propose(plain())  # what is imported is no step
    steps = adding(tmp_path / "whole", 0)
    assert 30 < steps < 250
    outcomes = set()
    for point in range(20):
        home = tmp_path / str(point)
        assert adding(home, 1 + (steps - 1) * point // 19) == -signal.SIGKILL
        outcomes.add(len(own.names()))
        for name in own.names():
            assert own.owner(name) == "somebody"
            assert len(own.load(name)) == 12
    assert outcomes == {0, 1}


def test_what_a_kill_has_left_is_removed_later(home):
    name = own.keep("a.csv", plain())
    folder = own_store.folder()
    left = folder / "own_x_0123456789abcdef.part"
    left.write_bytes(b"somebody's records")
    assert own.names() == (name,)
    assert left.exists()  # somebody may be writing it
    os.utime(left, (time.time() - 2 * own_store.STALE,) * 2)
    assert own.names() == (name,)
    assert not left.exists()


def test_a_removed_table_leaves_no_records_and_its_runs_stay_their_owner_s(home):
    name = own.keep("a.csv", plain(), owner="somebody")
    own.remove(name)
    assert own.names() == ()
    assert [file.name for file in own_store.folder().iterdir()] == [f"{name}.owner"]
    assert own.owner(name) == "somebody"


def test_a_removal_for_which_there_is_no_room_forgets_no_owner(home):
    name = own.keep("a.csv", plain(), owner="somebody")
    child = os.fork()
    if not child:
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
            own.remove(name)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert own.names() == (name,)
    own.remove(name)
    assert own.owner(name) == "somebody"


def test_an_owner_s_note_that_is_empty_does_not_mean_everybody(home):
    name = own.keep("a.csv", plain(), owner="somebody")
    note = own_store.folder() / f"{name}.owner"
    note.touch()  # as a killed removal of an earlier version left it
    own.remove(name)
    assert own.owner(name) == "somebody"
    note.write_bytes(b"")
    assert own.owner(name) == own_store.NOBODY


def forged(name: str, change) -> None:
    """Gives a kept table another head, with the checksum and the length that fit it."""
    file = own_store.place(name)
    content = file.read_bytes()
    length = int(own_store.FORM.fullmatch(content[: own_store.START])[2])
    head = content[own_store.START : own_store.START + length]
    new = json.dumps(change(json.loads(head))).encode()
    line = b"explorer table 1 %s %012d\n" % (own_store._hash(new), len(new))
    file.write_bytes(line + new + content[own_store.START + length :])
    own_store._head.cache_clear()


@pytest.mark.thorough
def test_a_flipped_bit_is_one_sentence(home):
    name = own.keep("a.csv", plain())
    before = own.load(name)
    files = [file for file in own_store.folder().iterdir() if file.suffix != ".owner"]
    rng = np.random.default_rng(7)
    silent = 0
    for _ in range(300):
        file = files[rng.integers(len(files))]
        content = bytearray(file.read_bytes())
        at = rng.integers(len(content))
        content[at] ^= 1 << rng.integers(8)
        whole = file.read_bytes()
        file.write_bytes(content)
        own_store._head.cache_clear()
        own._load.cache_clear()
        try:
            silent += bool(own.card(name) == before.card and own.load(name) is not None)
        except ExplorerError as error:
            assert "\n" not in str(error)
            assert "add the file again" in str(error)
        file.write_bytes(whole)
    assert silent == 0


@pytest.mark.parametrize("body", [None, [], {}, "{", {"name": 1}, {"bounds": None}])
def test_one_damaged_card_takes_nothing_else_down(home, capsys, body):
    good, bad = own.keep("a.csv", plain()), own.keep("b.csv", plain())
    forged(bad, lambda head: {**head, "card": body})
    with pytest.raises(DatasetError, match="expected the card of a table"):
        own.card(bad)
    assert main(["table", "list"]) == 0
    said = capsys.readouterr()
    assert good in said.out
    assert f"table remove {bad}" in said.err
    assert main(["table", "remove", bad]) == 0
    assert own.names() == (good,)


def test_every_field_of_a_card_may_be_damaged(home):
    name = own.keep("a.csv", plain())
    whole = packed.described(own.card(name))
    for field in whole:
        for value in (None, "x", -1, 1e400, [], [[[]]], {}, {"x": 1}, True, "y" * 100_000):
            if value == whole[field] or (value is None and field in ("classes", "events", "image")):
                continue
            forged(name, lambda head, new={field: value}: {**head, "card": {**whole, **new}})
            try:
                own.card(name)
            except DatasetError as error:
                assert "add the file again" in str(error)


@pytest.mark.parametrize("content", [b"", b"{", b"null", b"explorer table 1 "])
def test_a_file_that_is_no_table_takes_nothing_else_down(home, content):
    name = own.keep("a.csv", plain())
    own_store.place("own_0123456789abcdef").write_bytes(content)
    assert len(own.names()) == 2
    with pytest.raises(DatasetError, match="expected the card of a table"):
        own.card("own_0123456789abcdef")
    assert len(own.load(name)) == 12


@pytest.mark.thorough
def test_a_removed_table_of_images_leaves_no_features_of_its_records(home):
    """They are kept beside it where there are many; an interrupted writer leaves a part."""
    rng = np.random.default_rng(0)
    rows = np.c_[rng.integers(0, 256, (12_600, 16)), np.arange(12_600) % 2]
    head = ",".join([*(f"pixel{i}" for i in range(16)), "label"])
    lines = "\n".join([head, *(",".join(map(str, row)) for row in rows)])
    toml = 'kind = "classes"\nimage = [4, 4]\nclasses = ["0", "1"]\n'
    name, other = own.keep("a.csv", lines.encode(), toml), own.keep("b.csv", plain())
    data = records(own.load(name), "cpu")
    kept(data.x, (4, 4), wavelets)
    [file] = (home / "features").iterdir()
    file.with_suffix(".7.part").write_bytes(b"somebody's records")
    own.remove(other)  # holds no images
    assert file.exists()
    own.remove(name)
    assert [*(home / "features").iterdir()] == []


def test_a_removed_table_that_is_damaged_leaves_no_features(home):
    name = own.keep("a.csv", plain())
    (home / "features").mkdir()
    (home / "features" / "wavelets-0123456789abcdef.npy").write_bytes(b"somebody's records")
    own_store.place(name).write_bytes(b"")
    own.remove(name)
    assert [*(home / "features").iterdir()] == []


def test_a_frame_that_is_added_again_keeps_the_features_of_the_first(home):
    cells = {f"pixel{i}": np.arange(40) % 7 for i in range(4)}
    frame = pd.DataFrame({**cells, "label": np.arange(40) % 2})
    columns = {"label": {"role": "label", "categories": ["0", "1"]}}
    name = own.keep_frame(frame, columns, accept=True)
    head = own_store.head(own_store.place(name))
    forged(name, lambda body: {**body, "card": packed.described(replace(head.card, image=(2, 2)))})
    (home / "features").mkdir()
    file = home / "features" / "wavelets-0123456789abcdef.npy"
    file.write_bytes(b"features")
    copy = own_store.place("own_0123456789abcdef")
    copy.write_bytes(own_store.place(name).read_bytes())
    forged(copy.stem, lambda body: {**body, "card": {**body["card"], "name": copy.stem}})
    assert own_store.earlier(copy.stem) == name
    assert file.exists()
    own.remove(name)
    assert not file.exists()
