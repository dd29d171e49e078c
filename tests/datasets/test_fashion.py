"""Fashion-MNIST's format, on small files that are written here."""

import gzip
import hashlib
import struct
from pathlib import Path

import numpy as np
import pytest

from datasets import catalog, fashion
from engine.core.errors import DatasetError


def written(values: np.ndarray) -> bytes:
    """An IDX file of bytes."""
    sides = struct.pack(f">{values.ndim}I", *values.shape)
    return bytes([0, 0, 8, values.ndim]) + sides + values.astype(np.uint8).tobytes()


def images(count: int) -> np.ndarray:
    return np.arange(count * 784).reshape(count, 28, 28) % 251


def small(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Ten images to train on and ten to test on, with their checksums in place of the real ones."""
    for part in ("train", "t10k"):
        for kind, values in (("images-idx3", images(10)), ("labels-idx1", np.arange(10))):
            packed = gzip.compress(written(values))
            place = folder / "fashion" / f"{part}-{kind}-ubyte.gz"
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(packed)
            digest = hashlib.sha256(packed).hexdigest()
            monkeypatch.setitem(fashion.SHA256, f"{part}-{kind}-ubyte", digest)


def test_the_publishers_files_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch, folder)
    monkeypatch.setattr(fashion, "check", lambda table: table)  # the card says 60,000
    table = fashion.load()
    assert table.test is not None
    assert (table.x.shape, table.test.x.shape, table.image) == ((10, 784), (10, 784), (28, 28))
    assert np.array_equal(table.x[3], images(10)[3].ravel())
    assert table.y.tolist() == list(range(10))


def test_too_few_images_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch, folder)
    with pytest.raises(DatasetError):
        fashion.load()


def test_another_file_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch, folder)
    place = folder / "fashion/t10k-images-idx3-ubyte.gz"
    place.write_bytes(gzip.compress(written(images(9))))
    with pytest.raises(DatasetError, match="SHA-256"):
        fashion.load()


def test_labels_must_go_with_the_images() -> None:
    with pytest.raises(DatasetError, match="a label for each"):
        fashion.parsed(written(images(3)), written(np.arange(2)), fashion.CARD)


def test_it_is_listed_and_never_simulated() -> None:
    card = catalog.card("fashion")
    assert (card.simulated, card.records, card.classes) == (False, 60_000, 10)
