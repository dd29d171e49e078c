"""Tables of one's own that differ in one record, drawn at random: the others are read alike.

Else one record would change all others, and no bound on what a record can change would hold.
"""

import io
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from datasets import catalog, own, own_guess, own_proposal, own_reader
from engine.core.errors import DatasetError, ExplorerError

Draw = Callable[[random.Random], str]


def among(words: str) -> Draw:
    """One of some words."""
    return lambda rng: rng.choice(words.split())


FORMS: dict[str, Draw] = {
    "digits": lambda rng: str(rng.randint(0, 9)),
    "numbers": lambda rng: str(rng.randint(0, 99)),
    "decimals": lambda rng: f"{9 * rng.random():.2f}",
    "whole decimals": lambda rng: f"{rng.randint(0, 3)}.0",
    "leading zeros": lambda rng: f"0{rng.randint(0, 3)}",
    "decimal commas": lambda rng: f"{rng.randint(0, 9)},{rng.randint(0, 99)}",
    "thousands": lambda rng: f"{rng.randint(1, 9)},{rng.randint(100, 999)}",
    "millions": lambda rng: f"{rng.randint(1, 9)},{rng.randint(100, 999)},000",
    "powers": lambda rng: f"{rng.randint(1, 9)}e{rng.randint(0, 3)}",
    "negative": lambda rng: str(-rng.randint(0, 9)),
    "year first": lambda rng: f"2020-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}",
    "month or day": lambda rng: f"0{rng.randint(1, 9)}/0{rng.randint(1, 9)}/2020",
    "day first": lambda rng: f"{rng.randint(13, 28)}/0{rng.randint(1, 9)}/2020",
    "points": lambda rng: f"1{rng.randint(0, 9)}.0{rng.randint(1, 9)}.2020",
    "0 or 1": among("0 1"), "1 or 2": among("1 2"), "-1 or 1": among("-1 1"), "1": among("1"),
    "yes": among("yes no"), "true": among("true false"), "dead": among("dead alive"),
    "events": among("event censored"), "sexes": among("female male"), "letters": among("a b m"),
    "words": among("x1 x2 x3"), "blanks": among("NA ? none"), "about": among("ca_5 ca_60"),
    "many words": lambda rng: f"w{rng.randint(0, 999)}",
}  # fmt: skip
PLAIN = ("digits", "numbers", "decimals", "whole decimals", "0 or 1", "year first", "thousands",
         "decimal commas", "month or day")  # fmt: skip
NAMES = ("age", "sex", "weeks", "status", "died", "x", "dose", "year", "bmi", "event", "index",
         "class", "start", "group", "enrolled", "t", "month", "treatment", "name")  # fmt: skip
CATEGORIES = ('["0", "1", "2", "3"]', '["yes", "no"]', '["a", "b", "m"]', '["01", "1", "2"]')
ROWS = 40


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path))


def said(rng: random.Random, kind: str, columns: dict[str, str]) -> str:
    """Settings that state most of the columns."""
    lines = [f'kind = "{kind}"']
    lines += [f'decimal = "{rng.choice(",.")}"'] if rng.random() < 0.25 else []
    for key, form in columns.items():
        if key in ("days", "fustat", "label") or rng.random() < 0.1:
            continue
        lines.append(f"[columns.{key}]")
        if rng.random() < (0.9 if form in PLAIN else 0.3):
            lines.append(f"low = {rng.choice((0, -5))}\nhigh = {rng.choice((10, 100, 20_000))}")
        elif rng.random() < 0.6:
            lines.append(f'role = "categories"\ncategories = {rng.choice(CATEGORIES)}')
        else:
            lines.append('role = "left out"')
    return "\n".join(lines) + '\n[columns.days]\nrole = "time"\nhigh = 1000' * (kind == "survival")


def pair(seed: int) -> tuple[list[str], str]:
    """Two files that differ in the last row, and settings."""
    rng = random.Random(seed)
    kind, mark = rng.choice(("survival", "classes")), rng.choice(",,;\t")
    forms = [*FORMS] if rng.random() < 0.5 else [*PLAIN]
    columns = {key: rng.choice(forms) for key in rng.sample(NAMES, rng.randint(1, 4))}
    two = ("0 or 1", "1 or 2", "yes", "dead", "1", "-1 or 1", "true", "events")
    if kind == "survival":
        columns = {"days": "numbers", "fustat": rng.choice(two)} | columns
    else:
        columns |= {"label": rng.choice(("0 or 1", "yes", "true", "1 or 2", "sexes"))}

    def row(odd: float) -> list[str]:
        some = [rng.choice([*FORMS]) if rng.random() < odd else one for one in columns.values()]
        return [FORMS[form](rng) for form in some]

    rows = [row(0.0) for _ in range(ROWS)]
    if rng.random() < 0.3:
        rows[rng.randrange(ROWS)] = row(0.5)
    settings, usual, odd = said(rng, kind, columns), row(0.0), row(0.5)
    ends = usual, [rng.choice(cells) for cells in zip(usual, odd, strict=True)]
    texts = [
        "\n".join(
            mark.join(f'"{cell}"' if mark in cell else cell for cell in line)
            for line in ([*columns], *rows, end)
        )
        for end in ends
    ]
    return texts, settings


def released(text: str, settings: str) -> Any:
    """The table; None where it cannot be read, or where nothing is released of it."""
    try:
        name = own.keep("a.csv", text.encode(), settings, accept=True)
    except ExplorerError:
        return None
    table = catalog.load(name)
    own.remove(name)
    return None if table.card.taken else table


def compared(texts: Sequence[str], settings: str, about: object) -> bool:
    """Whether both tables may be released; then all that they hold but the last row is equal."""
    one, two = (released(text, settings) for text in texts)
    if one is None or two is None:
        return False
    for part in ("features", "units", "public", "summary", "bounds", "classes"):
        assert getattr(one.card, part) == getattr(two.card, part), (about, part)
    for part in ("x", "y", "time", "event"):
        if hasattr(one, part):
            first, second = getattr(one, part)[:ROWS], getattr(two, part)[:ROWS]
            np.testing.assert_array_equal(first, second, f"{about}, {part}")
    return True


NUMBER = 'role = "number"\nlow = 0\nhigh = 10000\n'
NEIGHBOURS = {
    "value of the event": ("status,x", "1,{i}", "2,5", NUMBER),
    "value of the event in words": ("status,x", "gone,{i}", "dead,5", NUMBER),
    "value of the event beside numbers": ("status,x", "1,{i}", "true,5", NUMBER),
    "decimal comma": ("status,x", '1,"{i},100"', '1,"2,5"', NUMBER),
    "thousands": ("status;x", "1;{i},100", "1;3,625,000", NUMBER),
    "day and month": ("status,x", "1,05/06/2020", "1,13/06/2020",
                      'role = "number"\nlow = 10000\nhigh = 30000\n'),
    "stated categories": ("status,x", "1,{i}.0|1,{i}", "1,other",
                          'role = "categories"\ncategories = ["0", "1", "2", "3"]\n'),
    "usual bounds": ("status,age,x", "1,{n},1", "1,ca 50,5", NUMBER),
    "which column is the event": ("event,status,x", "1,0,{i}", "4.5,0,5", NUMBER),
    "which of two, with bounds": ("event,status,x", "0,1,{i}|1,0,{i}", "4.5,0,5", NUMBER + "".join(
        f"[columns.{key}]\nlow = 0\nhigh = 9\n" for key in ("event", "status"))),
    "another time": ("status,weeks,x", "1,{i},1", "1,-3,5", NUMBER),
    "another event": ("status,weeks,died,x", "1,{i},yes,1", "1,-3,no,5", NUMBER),
    "another time, in words": ("status,weeks,died,x", "1,{n},yes,1|1,{n},no,2", "1,w,no,5", NUMBER),
    "another event, with bounds": ("status,weeks,died,x", "1,{i},1,1", "1,-3,0,5", NUMBER + "".join(
        f"[columns.{key}]\nlow = 0\nhigh = 9\n" for key in ("weeks", "died"))),
    "numbers or words": ("status,sex,x", "1,1,{i}", "1,female,5", NUMBER),
    "a blank column": ("status,age,x", "1,,{i}", "1,50,5", NUMBER),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("what", NEIGHBOURS)
@pytest.mark.parametrize("event", ["", '[columns.status]\nrole = "event"\nvalue = "1"\n'])
def test_no_record_changes_how_the_others_are_read(what: str, event: str):
    head, row, odd, stated = NEIGHBOURS[what]
    days = 'kind = "survival"\n[columns.days]\nrole = "time"\nhigh = 1000\n'
    settings = f"{days}{event}[columns.x]\n{stated}"
    mark, forms = ";" if ";" in head else ",", row.split("|")
    rows = [forms[i % len(forms)].format(i=i % 4, n=i) for i in range(ROWS)]
    for usual in rows[:2]:
        texts = [
            "\n".join(f"{i}{mark}{line}" if i else f"days{mark}{line}"
                      for i, line in enumerate((head, *rows, last)))
            for last in (usual, odd)
        ]  # fmt: skip
        compared(texts, settings, what)


def test_no_record_chooses_the_column_of_the_classes():
    """Of columns without a usual name it was the last one that held two values."""
    rows = [f"{i / 8},{i % 2},0" for i in range(ROWS)]
    settings = 'kind = "classes"\nclasses = ["0", "1"]\nevery = {low = 0, high = 10}\n'
    texts = ["\n".join(("x,g,h", *rows, last)) for last in ("1.5,1,1", "1.5,1,0")]
    compared(texts, settings, "label")
    said = own.propose(texts[0].encode(), settings)["asked"]
    assert said == ("the role of h",)
    assert compared(texts, f'{settings}[columns.g]\nrole = "label"\n', "label")


def test_columns_with_stated_bounds_are_no_rivals_of_the_time_and_the_event():
    rows = "\n".join(f"{i},{i % 2},{i},{i // 2 % 2},{i}" for i in range(ROWS))
    stated = "".join(
        f"[columns.{key}]\nlow = 0\nhigh = 99\n" for key in ("time", "weeks", "died", "x")
    )
    content = f"time,event,weeks,died,x\n{rows}".encode()
    seen = own.propose(content, f'kind = "survival"\n{stated}')
    assert [seen["columns"][key]["role"] for key in ("weeks", "died", "x")] == ["number"] * 3
    assert seen["asked"] == ()


@pytest.mark.parametrize(
    ("said", "key"),
    [("", "site"), ('[columns.event]\nrole = "event"\nfrom = "data"', "event")],
)
def test_what_was_read_off_the_data_stays_so_when_it_is_given_back(said: str, key: str):
    """What was left out, and the role of an event, counted as stated then."""
    rows = "\n".join(f"{i + 1},{i % 2},{30 + i},7" for i in range(ROWS))
    content = f"time,event,age,site\n{rows}".encode()
    stated = f"[columns.time]\nhigh = 100\n{said}"
    assert key in own.add("a.csv", content, stated, accept=True).taken
    again = own.add("a.csv", content, own.propose(content, stated)["toml"])
    assert key in again.taken
    assert own.card(again.name).taken


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("seeds", "least"),
    [(range(120), 3), pytest.param(range(120, 3400), 110, marks=pytest.mark.thorough)],
)
def test_of_two_random_neighbours_the_other_records_are_read_alike(seeds: range, least: int):
    found = [compared(*pair(seed), seed) for seed in seeds]
    assert sum(found) >= least  # else the pairs would show nothing


def test_no_two_public_lists_share_a_word():
    """One record could then turn the one into the other."""
    known = [set(some) for some in (*own_guess.TWO, *own_proposal.LISTS.values())]
    assert sum(map(len, known)) == len(set().union(*known))


def test_a_number_too_large_for_the_machine_is_no_category():
    rows = "\n".join(f"{i + 1},{i % 2},{'ab'[i % 2]}" for i in range(ROWS))
    text = f"days,event,x\n{rows}\n50,1,1e999"
    stated = '[columns.days]\nhigh = 1000\n[columns.x]\ncategories = ["1", "a", "b"]\n'
    table = catalog.load(own.keep("a.csv", text.encode(), stated))
    assert table.x[-1].sum() == 0  # the baseline, and no word


STATED = {
    "days": 'role = "time"\nhigh = 1000', "status": 'role = "event"\nvalue = "1"',
    "age": 'role = "number"\nlow = 0\nhigh = 120',
    "city": 'role = "categories"\ncategories = ["berlin", "münchen"]',
    "note": 'role = "left out"',
}  # fmt: skip
SETTINGS = 'kind = "survival"\n' + "".join(
    f"[columns.{key}]\n{one}\n" for key, one in STATED.items()
)


def living(last: bytes, notes: Sequence[str] = ("ok",), end: str = "\n", at: int = ROWS) -> bytes:
    """A file with one row that is given, in a place that is given."""
    rows = [
        f"{i + 1},{i % 2},{30 + i},{('berlin', 'münchen')[i // 2 % 2]},{notes[i % len(notes)]}"
        for i in range(ROWS)
    ]
    lines = [one.encode() for one in (",".join(STATED), *rows)]
    return end.encode().join([*lines[: at + 1], last, *lines[at + 1 :], b""])


def read(content: bytes) -> Any:
    """The table of a file whose columns are stated; it may be released."""
    name = own.keep("a.csv", content, SETTINGS)
    table = catalog.load(name)
    own.remove(name)
    assert not table.card.taken
    return table


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("note", [b"caf\xe9", b"\xe9 and caf\xc3\xa9", b"\x81", b"\xff\xfe"])
def test_the_letters_of_one_line_change_no_other_line(note: bytes, end: str):
    """A byte that UTF-8 does not know made every line one of Windows."""
    usual, odd = (read(living(b"500,1,50,berlin," + one, end=end)) for one in (b"ok", note))
    np.testing.assert_array_equal(odd.x, usual.x)
    np.testing.assert_array_equal(odd.time, usual.time)
    assert usual.x[:, 1].sum() == ROWS // 2  # so many live in München


def test_letters_of_windows_and_of_utf_8_are_read_line_by_line():
    rows = living("500,1,50,münchen,ok".encode("cp1252"))
    assert read(rows).x[-1, 1] == 1.0
    assert read(rows.decode("utf-8", "replace").encode()).x[-1, 1] == 0.0
    with_mark = living(b"500,1,50,berlin,ok").decode().encode("utf-16")
    np.testing.assert_array_equal(read(with_mark).x, read(living(b"500,1,50,berlin,ok")).x)
    for order in ("utf-16-le", "utf-16-be"):
        with pytest.raises(DatasetError, match="expected text or a Parquet file, got something"):
            read(living(b"500,1,50,berlin,ok").decode().encode(order))


@pytest.mark.thorough
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("notes", [("y",), ('"y"',), ('y"',), ('say "y"',), ("y", '"y"'), ('""',)])
@pytest.mark.parametrize("at", [3, ROWS - 2, ROWS])
def test_a_quote_that_is_left_open_swallows_no_other_record(
    notes: tuple[str, ...], end: str, at: int
):
    """It took all rows up to the next quote, or up to the end of the file, into one cell."""
    usual = read(living(b"500,1,50,berlin,ok", notes, end, at))
    odd = living(b'500,1,50,berlin,"ok', notes, end, at)
    if at == ROWS:
        np.testing.assert_array_equal(read(odd).x, usual.x)
        return
    said = rf"file: expected a quote .* line {at + 2} .* got one that takes in line {at + 3}, which"
    with pytest.raises(DatasetError, match=said) as raised:
        read(odd)
    assert "\n" not in str(raised.value)


LONG = ('"a\nb",1,"c\nd",4', '1,2,3,"x\n4,5,6,y"', '1,"a\nb",3,4', '1,2,3,"a, b\nc"')
"""Records of more than one line; in the first two, a further line begins a row of four values."""


@pytest.mark.parametrize("width", [4, own_reader.WIDE])
@pytest.mark.parametrize("last", ['1,2,3,"z', '1,"z', '"z', '"', '1,2,3,"z"",', '1,2,"z\n,"",4'])
@pytest.mark.parametrize("next_", ["1,2,3,4", '1,2,3,"4"', '1,2"",3,4"', '"1",2,3,4', *LONG])
def test_whatever_one_row_holds_the_next_ones_are_read_as_before(width, last, next_):
    """Or the file is refused: one cell of the row may be open where it ends."""
    more = "".join(f",{i}" for i in range(width - 4))
    head = ",".join("abcd") + "".join(f",x{i}" for i in range(width - 4))

    def told(row: str) -> list[list[str]] | None:
        after = [f"{next_}{more}", *(f'{i},2,3,"{i}"{more}' for i in range(5))]
        content = "\n".join([head, f"0,0,0,0{more}", row, *after]) + "\n"
        try:
            with own_reader.opened(io.BytesIO(content.encode()), "a.csv") as source:
                batches = list(source.batches(source.names[:4]))
        except DatasetError:
            return None
        return [[cell for one in batches for cell in one[key].to_pylist()] for key in "abcd"]

    one, two = told(f"1,2,3,4{more}"), told(f"{last}{more}")
    assert (one is None) == (next_ in LONG[:2])
    if one is not None and two is not None:
        assert [cells[-6:] for cells in one] == [cells[-6:] for cells in two]


def test_a_first_record_is_no_line_of_names():
    """Its values would be public, as names of columns are."""
    rows = "\n".join(f"{i % 7}.5,{i % 3},{i % 2}" for i in range(ROWS))
    stated = 'kind = "classes"\nclasses = ["0", "1"]\nevery = {low = 0, high = 9}\n'
    with pytest.raises(DatasetError, match="expected a line of column names, got numbers alone: '"):
        own.keep("a.csv", f"5.5,2,1\n{rows}".encode(), stated, "1")
    for first in ("5,5;2;1", "5.5;NA;1", "5.5;unknown;1"):
        more = rows.replace(",", ";").replace(".", "," if ",5" in first else ".")
        with pytest.raises(DatasetError, match="expected a line of column names, got numbers"):
            own.keep("a.csv", f"{first}\n{more}".encode(), stated, "1")
    for head in ("0,1,2", ",0,1", "1,2,3", "400.5,410.5,y"):  # as pixels and spectra are named
        own.keep("a.csv", f"{head}\n{rows}".encode(), stated, head.split(",")[-1])
