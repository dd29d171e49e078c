import gzip
import hashlib
from pathlib import Path

import pooch
import pytest

from datasets import catalog
from datasets.fetch import File, fetch
from engine.core.errors import DatasetError

PLAIN = b"a b\n1 2\n"
PACKED = gzip.compress(PLAIN, mtime=0)  # the time is part of a gzip, and of a test's name
FILE = File(
    path="some/table.txt",
    sha256=hashlib.sha256(PLAIN).hexdigest(),
    urls=("https://example.org/table.txt.gz",),
    text=True,
)


def put(folder: Path, path: str, content: bytes) -> Path:
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    return place


def refusal(file: File = FILE) -> str:
    with pytest.raises(DatasetError) as caught:
        fetch(file)
    message = str(caught.value)
    assert "\n" not in message
    assert ". " not in message
    return message


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("some/table.txt", PLAIN),
        ("some/table.txt", PLAIN.replace(b"\n", b"\r\n")),
        ("some/table.txt.gz", PACKED),
        ("some/table.txt.gz", gzip.compress(PLAIN.replace(b"\n", b"\r\n"), mtime=7)),
    ],
)
def test_either_form_of_a_local_file_is_accepted(folder: Path, path: str, content: bytes) -> None:
    put(folder, path, content)
    assert fetch(FILE) == PLAIN


def test_another_content_names_both_checksums(folder: Path) -> None:
    put(folder, "some/table.txt", b"a b\n1 3\n")
    message = refusal()
    assert "some/table.txt" in message
    assert str(FILE.sha256) in message
    assert hashlib.sha256(b"a b\n1 3\n").hexdigest() in message


@pytest.mark.parametrize("content", [PACKED[:-9], PACKED[:12] + b"\xff" * 20, b"\x1f\x8b"])
def test_a_damaged_gzip_is_refused(folder: Path, content: bytes) -> None:
    put(folder, "some/table.txt.gz", content)
    assert "damaged" in refusal()


def test_a_missing_file_says_where_to_put_it(folder: Path) -> None:
    message = refusal()
    assert "some/table.txt" in message
    assert "EXPLORER_DATA" in message
    assert "NoNetworkError" in message


def test_a_file_without_address_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXPLORER_DATA", raising=False)
    message = refusal(File(path="some/table.txt", sha256="0"))
    assert "no public address" in message


def test_a_folder_that_does_not_exist_is_a_missing_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EXPLORER_DATA", str(tmp_path / "nowhere"))
    assert "EXPLORER_DATA" in refusal()


def test_a_download_is_kept_and_read_again(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    asked: list[str] = []

    def retrieve(url: str, known_hash: object, fname: str, path: Path, downloader: object) -> str:
        asked.append(url)
        return str(put(path, fname, PACKED))

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    assert [fetch(FILE), fetch(FILE)] == [PLAIN, PLAIN]
    assert asked == list(FILE.urls)
    assert (tmp_path / "cache/some/table.txt.gz").is_file()
    assert capfd.readouterr() == ("", "")


def test_a_wrong_download_is_refused_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    def retrieve(url: str, known_hash: object, fname: str, path: Path, downloader: object) -> str:
        return str(put(path, fname, b"<html>moved</html>"))

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    assert "SHA-256" in refusal()
    assert not (tmp_path / "cache/some/table.txt.gz").exists()


def test_the_second_address_is_tried(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    def retrieve(url: str, known_hash: object, fname: str, path: Path, downloader: object) -> str:
        if "example.org" in url:
            raise ConnectionError
        return str(put(path, fname, PLAIN))

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    urls = (*FILE.urls, "https://example.com/table.txt")
    assert fetch(File(path=FILE.path, sha256=FILE.sha256, urls=urls, text=True)) == PLAIN


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("third_births", "births/third_births.txt"),
        ("wichert", "wichert/unemp_duration.csv"),
        ("mnist", "mnist/t10k-images-idx3-ubyte"),
        ("fashion", "fashion/t10k-images-idx3-ubyte"),
        ("segment", "segment/segmentation.data"),
        ("har", "har/human+activity+recognition+using+smartphones.zip"),
    ],
)
@pytest.mark.parametrize("damage", ["missing", "other", "truncated"])
def test_one_bad_data_set_leaves_the_others(
    folder: Path, name: str, path: str, damage: str
) -> None:
    if damage == "other":
        put(folder, path, b"something else")
    if damage == "truncated":
        put(folder, f"{path}.gz", gzip.compress(b"something else")[:-4])
    with pytest.raises(DatasetError) as caught:
        catalog.load(name)
    assert path in str(caught.value)
    assert len(catalog.load("digits")) == 1_797
