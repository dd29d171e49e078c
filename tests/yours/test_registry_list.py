"""Entries of the public registry that a user takes: from a folder, a zip, a file or its host."""

import json
import stat
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.cli.main import main
from engine.core.errors import StoreError
from engine.yours import registry_list
from tests.browser.app import publishing
from tests.yours.test_deployments import ENTRY, LAUGHS

TOP = "deployments-registry-data-main"
FORMULA = r"n^{(-\epsilon \ln(n))}"
CENSUS = ENTRY.replace("A ministry", "Z office").replace(
    "{epsilon: 9.98, delta: '1e-7'}", "{rho: 2.63}"
)
FLEX = ENTRY.replace("A ministry", "B firm").replace("'1e-7'", f"'{FORMULA}'")
GOOD = {"births.yaml": ENTRY, "census.yml": CENSUS, "flex.yaml": FLEX}
DAMAGED = {
    "broken.yaml": "[", "empty.yaml": "", "laughs.yaml": LAUGHS, "huge.yaml": "a" * 1_000_001,
    "pickle.yaml": "!!python/object/apply:os.system ['true']", "kind.yaml": "a: !!bool x",
    "number.yaml": ENTRY.replace("9.98", "1" + "0" * 400),
    "curators.yaml": ENTRY.replace(
        "\n    - {data_curator_name: A ministry, data_curator_type: Government}", " 3"
    ),
}  # fmt: skip
"""Files that each hold one mistake."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "home"
    monkeypatch.setenv("EXPLORER_HOME", str(place))
    return place


def zipped(place: Path, members: dict[str, str], **how: int) -> Path:
    with zipfile.ZipFile(place, "w", how.get("kind", zipfile.ZIP_DEFLATED)) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return place


def repository(members: dict[str, str]) -> dict[str, str]:
    """The registry's archive as its host packs it."""
    more = {f"{TOP}/README.md": "#", f"{TOP}/tests/deployments/no/bad.yaml": ENTRY}
    return more | {f"{TOP}/deployments/{name}": text for name, text in members.items()}


def today() -> str:
    """The date in UTC."""
    return str(datetime.now(UTC).date())


BEGAN = today()
"""The date on which these tests began: a test may end after midnight."""


def names() -> list[tuple[str, str]]:
    taken = registry_list.kept()
    assert taken is not None
    assert BEGAN <= taken.date <= today()
    return [(one.who, one.epsilon) for one in taken.entries]


BOTH = [
    ("A ministry", "9.98 (δ = 10⁻⁷)"), ("B firm", f"9.98 (δ = {FORMULA})"), ("Z office", "ρ = 2.63")
]  # fmt: skip


@pytest.mark.parametrize("inner", ["", "deployments"])
def test_a_folder_is_taken(tmp_path: Path, inner: str, capsys):
    folder = tmp_path / "registry" / inner
    folder.mkdir(parents=True)
    for name, text in {**GOOD, "notes.txt": "[", "census.yaml.bak": "["}.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "folder.yaml").mkdir()
    assert main(["deployments", str(tmp_path / "registry")]) == 0
    said = capsys.readouterr()
    assert "Learn shows 3 entries of the public registry" in said.out
    assert said.err == ""
    assert names() == BOTH


@pytest.mark.parametrize("top", ["", f"{TOP}/"])
def test_a_zip_is_taken_with_a_folder_above_or_without(tmp_path: Path, top: str):
    members = {f"{top}deployments/{name}": text for name, text in GOOD.items()}
    beside = {f"{top}tests/bad.yaml": "[", f"{top}deployments/old/bad.yaml": "["}
    place = zipped(tmp_path / "registry.zip", members | beside)
    taken, left = registry_list.take(place)
    assert names() == BOTH
    assert len(taken.entries) == 3
    assert left == []


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_of_files_with_one_name_the_last_is_taken_once(tmp_path: Path):
    place = zipped(tmp_path / "registry.zip", repository(GOOD | {"census.yml": FLEX}))
    with zipfile.ZipFile(place, "a") as archive:
        archive.writestr(f"{TOP}/deployments/census.yml", CENSUS)
    registry_list.take(place)
    assert names() == BOTH


def test_one_file_is_taken_and_replaces_what_was_taken_before(tmp_path: Path):
    registry_list.take(zipped(tmp_path / "registry.zip", repository(GOOD)))
    entry = tmp_path / "entry.yaml"
    entry.write_text(f"{CENSUS}---{FLEX}", encoding="utf-8")
    assert main(["deployments", str(entry)]) == 0
    assert names() == BOTH[1:]


def test_files_with_mistakes_are_named_and_left_out(tmp_path: Path, capsys):
    place = zipped(tmp_path / "registry.zip", repository({**GOOD, **DAMAGED}))
    assert main(["deployments", str(place)]) == 0
    said = capsys.readouterr().err.splitlines()
    assert len(said) == len(DAMAGED)
    for name in DAMAGED:
        (sentence,) = [one for one in said if f"'{name}'" in one]
        assert sentence.startswith(f"left out: '{name}': ")
        assert "expected" in sentence
        assert len(sentence) < 300
    assert names() == BOTH


@pytest.mark.parametrize(
    "name", ["../../deployments/out.yaml", "/deployments/out.yaml", "deployments/..\\out.yaml"]
)
def test_a_name_that_leads_out_of_its_zip_is_left_out_and_nothing_is_written(
    tmp_path: Path, name: str, home: Path
):
    place = zipped(tmp_path / "registry.zip", {**repository(GOOD), name: FLEX})
    before = {*tmp_path.rglob("*")}
    _, left = registry_list.take(place)
    assert len(left) == 1
    assert "expected a name that stays in its archive" in left[0]
    assert names() == BOTH
    assert {*tmp_path.rglob("*")} - before == {home, home / "deployments.json"}


def test_a_zip_that_unpacks_to_gigabytes_is_not_unpacked(tmp_path: Path, monkeypatch):
    """Each member is read up to the size of an entry, and all of them up to a limit."""
    bomb = "# " + "x" * 30_000_000
    place = zipped(tmp_path / "registry.zip", repository({**GOOD, "bomb.yaml": bomb}))
    read = list[int]()
    inner = zipfile.ZipExtFile.read
    monkeypatch.setattr(
        zipfile.ZipExtFile, "read", lambda self, n=-1: read.append(n) or inner(self, n)
    )
    _, left = registry_list.take(place)
    assert left == ["'bomb.yaml': entry: expected at most 1 MB, got more"]
    assert min(read) > 0
    assert max(read) <= 1_000_001
    many = {f"{i}.yaml": "]" + "x" * 900_000 for i in range(6)}
    place = zipped(tmp_path / "many.zip", repository(many))
    assert main(["deployments", str(place)]) == 2
    place = zipped(tmp_path / "files.zip", repository({f"{i}.yaml": "[" for i in range(1_001)}))
    assert main(["deployments", str(place)]) == 2
    assert names() == BOTH


def test_a_damaged_or_encrypted_member_is_left_out(tmp_path: Path):
    place = zipped(tmp_path / "registry.zip", repository(GOOD), kind=zipfile.ZIP_STORED)
    content = b"two mother".join(place.read_bytes().rsplit(b"one mother", 1))
    place.write_bytes(content)
    _, left = registry_list.take(place)
    assert len(left) == 1
    assert "CRC" in left[0]
    with zipfile.ZipFile(place) as archive:
        first = archive.getinfo(f"{TOP}/deployments/flex.yaml").header_offset
    content = bytearray(content)
    content[first + 6] |= 1  # the bit that says it is encrypted, here and in the list of files
    listed = content.rindex(b"flex.yaml") - len(f"{TOP}/deployments/") - 46
    content[listed + 8] |= 1
    place.write_bytes(content)
    assert any("encrypted" in one for one in registry_list.take(place)[1])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "expected a folder, a zip or a YAML file"),
        (b"PK nothing", "expected a folder, a zip or a YAML file"),
        (b"", "expected a folder, a zip or a YAML file"),
        ({}, "expected entries of the registry, got none"),
        ({"x.yaml": "["}, "got none; 'x.yaml': entry: expected YAML"),
    ],
)
def test_what_holds_no_entry_is_one_sentence_and_changes_nothing(
    tmp_path: Path, content, said: str, capsys
):
    registry_list.take(zipped(tmp_path / "registry.zip", repository(GOOD)))
    place = tmp_path / "other.zip"
    if isinstance(content, bytes):
        place.write_bytes(content)
    elif content is not None:
        zipped(place, content)
    assert main(["deployments", str(place)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1
    assert names() == BOTH


def test_what_was_taken_is_forgotten(tmp_path: Path, home: Path, capsys):
    registry_list.take(zipped(tmp_path / "registry.zip", repository(GOOD)))
    assert stat.S_IMODE((home / "deployments.json").stat().st_mode) == 0o600
    assert main(["deployments"]) == 0
    assert "Learn shows 3 entries" in capsys.readouterr().out
    assert main(["deployments", "--forget"]) == 0
    assert "Learn shows the list that comes with this program." in capsys.readouterr().out
    assert registry_list.kept() is None
    assert list(home.iterdir()) == []
    assert main(["deployments", "--forget"]) == 0


@pytest.mark.parametrize("text", ["", "[", '{"date": 3, "entries": []}', '{"entries": []}'])
def test_what_is_kept_and_damaged_counts_as_nothing(home: Path, text: str):
    home.mkdir()
    (home / "deployments.json").write_text(text)
    assert registry_list.kept() is None


def test_texts_are_kept_on_one_line_and_at_no_great_length(tmp_path: Path, home: Path):
    long = "x" * 5_000
    text = ENTRY.replace("one mother", f'"a\\n\\n# b {long}"').replace("title: A", f"title: {long}")
    (tmp_path / "entry.yaml").write_text(text)
    registry_list.take(tmp_path / "entry.yaml")
    (kept,) = json.loads((home / "deployments.json").read_text())["entries"]
    assert kept["unit"].startswith("a # b xxx")
    assert max(map(len, (kept["unit"], kept["sources"][0][0]))) == registry_list.LONG
    assert kept["told"] == {}


def test_the_archive_is_downloaded_and_kept_nowhere_else(tmp_path: Path, monkeypatch, home: Path):
    served = tmp_path / "served"
    served.mkdir()
    zipped(served / "main.zip", repository({**GOOD, "broken.yaml": "["}))
    with publishing(served) as address:
        monkeypatch.setattr(registry_list, "ARCHIVE", f"{address}/main.zip")
        assert main(["deployments", "--fetch"]) == 0
        assert names() == BOTH
        assert [one.name for one in home.iterdir()] == ["deployments.json"]
        monkeypatch.setattr(registry_list, "ARCHIVE", f"{address}/nothing.zip")
        with pytest.raises(StoreError, match="--fetch: expected an archive at http"):
            registry_list.fetch()
    assert main(["deployments", "--fetch"]) == 1
    assert names() == BOTH


def test_two_ways_at_once_are_refused(capsys):
    assert main(["deployments", "x.zip", "--fetch"]) == 2
    assert "expected one of PLACE, --fetch and --forget" in capsys.readouterr().err
