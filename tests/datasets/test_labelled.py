import gzip
import hashlib
import io
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from datasets import digits, har, mnist, segment
from datasets.base import LabelledTable, check
from datasets.parse import idx
from engine.core.errors import DatasetError


def test_digits_lie_between_their_bounds() -> None:
    table = digits.load()
    assert (table.x.min(), table.x.max()) == (0.0, 16.0)


def test_mnist_has_its_test_part(published: Path) -> None:
    table = mnist.load()
    assert table.test is not None
    assert (len(table), len(table.test), table.test.card.records) == (60_000, 10_000, 10_000)
    assert table.x.dtype == np.uint8
    assert table.y[:5].tolist() == [5, 0, 4, 1, 9]
    assert table.test.y[:5].tolist() == [7, 2, 1, 0, 4]


def test_an_idx_file_is_read() -> None:
    content = bytes.fromhex("00000803 00000002 00000001 00000003") + bytes(range(6))
    assert idx(content, "f").tolist() == [[[0, 1, 2]], [[3, 4, 5]]]


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00", b"PK\x03\x04", bytes.fromhex("00000801 00000003 0102"),
     bytes.fromhex("00000803 0000"), bytes.fromhex("00000801 00000001 0102")],
)  # fmt: skip
def test_a_damaged_idx_file_is_refused(content: bytes) -> None:
    with pytest.raises(DatasetError, match=r"^f: expected"):
        idx(content, "f")


def test_segment_keeps_duplicates_and_drops_the_constant(published: Path) -> None:
    table = segment.load()
    assert table.x.shape == (2_310, 18)
    assert np.bincount(table.y).tolist() == [330] * 7
    assert len(np.unique(table.x, axis=0)) < 2_310
    assert (np.ptp(table.x, axis=0) > 0).all()
    assert len(table.card.features) == 18


def test_clipping_to_the_segment_bounds_moves_rounding_errors_only(published: Path) -> None:
    raw = [segment.parse(segment.fetch(file), file.path)[0] for file in segment.FILES]
    assert np.abs(np.concatenate(raw) - segment.load().x).max() < 1e-7


@pytest.mark.parametrize("row", ["MOON" + ",1" * 19, "SKY" + ",x" * 19, "SKY,1,2"])
def test_a_wrong_segment_row_is_refused(row: str) -> None:
    with pytest.raises(DatasetError, match=r"^f: expected"):
        segment.parse(row.encode(), "f")


def har_members(rows: dict[str, int], columns: int = 561) -> dict[str, bytes]:
    """Small files of the publisher's layout, by member path."""
    rng = np.random.default_rng(3)
    members = {}
    for part, n in rows.items():
        x = rng.uniform(-1, 1, (n, columns))
        lines = (" ".join(f"{v: .7e}" for v in row) for row in x)
        members[f"{part}/X_{part}.txt"] = "".join(f" {line}\n" for line in lines).encode()
        members[f"{part}/y_{part}.txt"] = "".join(f"{1 + i % 6}\n" for i in range(n)).encode()
        members[f"{part}/subject_{part}.txt"] = "".join(f"{i % 30}\n" for i in range(n)).encode()
    return members


def zipped(members: dict[str, bytes], prefix: str = "UCI HAR Dataset/") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            opened.writestr(prefix + name, content)
    return buffer.getvalue()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Members of 12 + 6 windows that pass for the publisher's."""
    members = har_members({"train": 12, "test": 6})
    sums = {name: hashlib.sha256(members[name]).hexdigest() for name in har.SHA256}
    monkeypatch.setattr(har, "SHA256", sums)
    monkeypatch.setattr(har, "CARD", replace(har.CARD, records=18))
    return members


def is_small(table: LabelledTable) -> bool:
    assert table.groups is not None
    assert table.groups.tolist() == [*range(12), *range(6)]
    assert table.y.tolist() == [i % 6 for i in range(18)]
    assert (table.bounds[0], table.bounds[1]) == (-1.0, 1.0)
    return table.x.shape == (18, 561)


@pytest.mark.parametrize("inside", ["har", "har/UCI HAR Dataset"])
@pytest.mark.parametrize("packed", [False, True])
def test_har_unpacked(folder: Path, small: dict[str, bytes], inside: str, packed: bool) -> None:
    for name, content in small.items():
        place = folder / inside / (f"{name}.gz" if packed else name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(gzip.compress(content) if packed else content)
    assert is_small(har.load())


@pytest.mark.parametrize("nested", [False, True])
def test_har_zipped(
    folder: Path, small: dict[str, bytes], nested: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = zipped(small)
    if nested:
        content = zipped({har.INNER: content}, prefix="")
    name = "DOWNLOAD" if nested else "ARCHIVE"
    checksum = hashlib.sha256(content).hexdigest()
    monkeypatch.setattr(har, name, replace(getattr(har, name), sha256=checksum))
    (folder / "har").mkdir()
    (folder / getattr(har, name).path).write_bytes(content)
    assert is_small(har.load())


def test_har_with_other_labels_is_refused(folder: Path) -> None:
    for name, content in har_members({"train": 12, "test": 6}).items():
        place = folder / "har" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    with pytest.raises(DatasetError, match=r"y_train\.txt: expected content with SHA-256"):
        har.load()
    (folder / "har/train/y_train.txt").unlink()
    with pytest.raises(DatasetError, match=r"y_train\.txt beside the other files"):
        har.load()


def test_har_labels_at_hand_are_the_publishers(published: Path) -> None:
    for member, checksum in har.SHA256.items():
        place = published / f"har_metadata_only/{Path(member).name}.gz"
        if not place.is_file():
            pytest.skip("EXPLORER_DATA holds no har_metadata_only")
        assert hashlib.sha256(gzip.decompress(place.read_bytes())).hexdigest() == checksum


def test_har_of_another_shape_is_refused(small: dict[str, bytes]) -> None:
    with pytest.raises(DatasetError, match="expected 561 numbers in a row, got 560"):
        har.parse(har_members({"train": 3, "test": 3}, columns=560).__getitem__)
    small["test/y_test.txt"] = b"1\n2\n"
    with pytest.raises(DatasetError, match="as many labels and subjects as windows"):
        har.parse(small.__getitem__)


@pytest.mark.parametrize("content", [b"", b"PK", zipped({"README.txt": b""})])
def test_har_damaged_archive_is_refused(content: bytes) -> None:
    with pytest.raises(DatasetError, match=r"^har: expected"):
        har.parse(har.archive(content))


def test_features_outside_the_public_bounds_are_refused() -> None:
    table = digits.load()
    with pytest.raises(DatasetError, match="within their bounds"):
        check(replace(table, x=table.x * 2))
