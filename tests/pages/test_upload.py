"""A table of one's own on the survival page: added, chosen, trained on, removed."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from datasets import catalog, own, own_store
from engine.cli.work import complete
from engine.core.errors import DatasetError
from engine.papers.survival.price.compared import power
from engine.papers.survival.spec import SurvivalSpec
from engine.runs import ledger
from engine.runs.job import request
from engine.service.client import Client
from pages.ui.paper import defaults, pays, upload
from pages.ui.words import short
from tests.datasets.test_own import plain, stretches
from tests.pages.conftest import Open
from tests.pages.played import play

KIND = "text/csv"


def asked(home: Path) -> set[str]:
    """The data sets of all runs."""
    return {run.job.dataset for run in Client(home, workers=False).runs()}


def add(test: AppTest, name: str, content: bytes) -> AppTest:
    """Puts a file into the widget and accepts what is proposed."""
    test.file_uploader(key="survival.upload").set_value((name, content, KIND)).run()
    return test.button(key="survival.add").click().run()


def below(widgets: Any, key: str) -> Any:
    """A widget below the table of a file, which has the file's own key."""
    [one] = [one for one in widgets if f"{one.key}.".startswith(f"{key}.")]
    return one


@pytest.mark.thorough
@pytest.mark.parametrize(("content", "persons"), [(plain(15), 15), (stretches(12), 12)])
def test_a_good_file_is_chosen_and_asked_for(visit: Open, home: Path, content: bytes, persons: int):
    test = add(visit("survival"), "my study.csv", content)
    assert not test.exception
    assert not test.error
    [name] = own.names()
    assert name in asked(home)
    assert test.radio(key="survival.dataset").value.startswith("Own my study ")
    assert "my study.csv" in test.radio(key="survival.dataset").proto.captions
    assert "csv" not in str(test.query_params)  # the address tells of no file
    assert any(f"{persons} records" in one.value for one in test.caption)
    again = visit("survival", **{"survival.dataset": test.radio(key="survival.dataset").value})
    assert not again.warning
    assert any(f"{persons} records" in one.value for one in again.caption)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            b"name,age\n" + b"Ann,40\n" * 12,
            "File: expected columns of time and event, got name, age: give the role",
        ),
        (stretches() + b"\np3,3,9,0,1", "File: expected rows without overlap, got"),
    ],
)
def test_a_bad_file_is_one_sentence_and_changes_nothing(
    visit: Open, home: Path, content: bytes, says: str
):
    test = add(visit("survival"), "bad.csv", content)
    assert not test.exception
    [error] = test.error
    assert error.value.startswith(says)
    assert own.names() == ()
    assert asked(home) == {"flchain"}
    assert test.radio(key="survival.dataset").value == "FLchain"


@pytest.mark.thorough
def test_a_file_that_has_been_replaced_is_not_added(visit: Open):
    """The button was drawn for the first file; it is pressed when the second has just arrived."""
    test = visit("survival")
    file = test.file_uploader(key="survival.upload")
    file.set_value(("first.csv", plain(15), KIND)).run()
    test.file_uploader(key="survival.upload").set_value(("second.csv", stretches(12), KIND))
    test.button(key="survival.add").click().run()
    assert not test.exception
    assert not own.names()
    assert any(one.value.startswith("**24 rows, 5 columns.**") for one in test.markdown)
    test.button(key="survival.add").click().run()
    [name] = own.names()
    assert name.startswith("own_second_")


def test_a_table_that_is_removed_leaves_the_list(visit: Open, home: Path):
    test = add(visit("survival"), "study.csv", plain(15))
    assert test.button(key="survival.remove").disabled  # until it is confirmed
    test.checkbox(key="survival.sure").check().run()
    test.button(key="survival.remove").click().run()
    assert not test.exception
    assert own.names() == ()
    assert test.radio(key="survival.dataset").value == "FLchain"
    for page in ("runs", "compare"):
        assert not visit(page).exception


@pytest.mark.thorough
def test_its_ledger_says_what_is_spent_and_when_the_limit_is_reached(visit: Open, home: Path):
    test = add(visit("survival"), "study.csv", plain(15))
    [name] = own.names()
    assert any("0 releases: ε = 0 spent. No limit is set." in one.value for one in test.caption)
    test.number_input(key="survival.limit").set_value(2.0).run()
    test.button(key="survival.limits").click().run()
    assert not test.exception
    assert ledger.read(name).limit == ledger.Limit(2.0)
    job = request("survival", "dp_newton", name, {"epsilon": 1.5}, {}, (0,))
    card = job.entry().promise(job.spec(), catalog.card(name))
    ledger.enter(name, job.paper, job.method, card)
    test.run()
    assert any("1 release: ε = 1.5 of 2 spent." in one.value for one in test.caption)
    assert not test.error
    test.number_input(key="survival.limit").set_value(1.5).run()
    test.button(key="survival.limits").click().run()
    assert any("The limit is reached" in one.value for one in test.error)


@pytest.mark.thorough
def test_who_pays_is_not_shown_of_a_table_of_one_s_own(visit: Open, home: Path):
    chosen = add(visit("survival"), "study.csv", plain(15)).radio(key="survival.dataset").value
    test = visit("survival", **{"survival.dataset": chosen, "survival.tab": "People"})
    assert not test.exception
    assert any(pays.WORDS["who_pays"]["PRIVATE"] in one.value for one in test.markdown)


def test_power_on_an_own_table_is_planned_without_its_events(visit: Open, home: Path):
    """How many events a table of one's own has is not public: half of the records are taken."""
    rows = "".join(f"{i % 100 + 1},{i % 2},{i % 60}\n" for i in range(600))
    lines = "age: 0 to 100\ntime: 0 to 10"
    name = own.keep("study.csv", f"time,event,age\n{rows}".encode(), lines)
    fields = {"dataset": short(name), "tab": "People", "epsilon": "5", "intervals": "10"}
    test = visit("survival", **{f"survival.{key}": text for key, text in fields.items()})
    assert not test.exception
    found = 100.0 * power(SurvivalSpec(epsilon=5.0, intervals=10), 600, 300, 2.0)
    text = " ".join(str(one.value) for one in (*test.markdown, *test.caption))
    assert f"a hazard ratio of 2 in {found:.0f} % of studies" in text
    assert "of a table of your own, half as many events as records" in text
    assert "600 records." in text
    assert " events." not in text


def flowers() -> bytes:
    rows = (f"{40 + i % 9},{i % 3},{('red', 'blue')[i % 2]}" for i in range(40))
    return "\n".join(["# age: 30 to 60", "# width: 0 to 3", "age,width,species", *rows]).encode()


def test_papers_of_labelled_records_take_tables_of_classes_alone(visit: Open, home: Path):
    own.keep("study.csv", plain(15))
    test = visit("lvq")
    assert not any("study" in text for text in test.radio(key="lvq.dataset").options)
    test.file_uploader(key="lvq.upload").set_value(("flowers.csv", flowers(), KIND)).run()
    test.button(key="lvq.add").click().run()
    assert "expected the classes of species, got none" in test.error[0].value
    below(test.checkbox, "lvq.taken").check().run()
    test.button(key="lvq.add").click().run()
    assert not test.exception
    assert not test.error
    assert test.radio(key="lvq.dataset").value.startswith("Own flowers ")
    assert any("40 records" in one.value for one in test.caption)
    assert asked(home) & set(own.names())


@pytest.mark.thorough
def test_what_a_form_lacks_is_said_in_its_own_words(visit: Open):
    content = "a,b\n" + "".join(f"{i}.5,{i}.25\n" for i in range(60))
    test = visit("lvq")
    test.file_uploader(key="lvq.upload").set_value(("a.csv", content.encode(), KIND)).run()
    said = "File: expected the column of the classes, got none: name it by the role label"
    assert any(one.value.startswith(said) for one in test.warning)
    test.button(key="lvq.add").click().run()
    assert test.error[0].value.startswith(said)


def masses(rows: int = 20) -> bytes:
    """A table whose bounds nobody knows."""
    return b"time,event,mass\n" + b"".join(b"%d,%d,%d\n" % (i, i % 2, i) for i in range(rows))


def seen(content: bytes) -> dict:
    return own.propose(content, 'kind = "survival"')["columns"]


def test_what_is_edited_counts_as_stated_and_what_is_data_waits_for_a_yes():
    columns = seen(b"time,event,age,mass,name\n" + b"1,0,40,7,Ann\n2,1,50,9,Bob\n" * 9)
    table = upload.frame(columns)
    assert table[upload.FROM].tolist() == ["data", "standard", "standard", "data", "data"]
    table.loc[0, upload.HIGH] = 60.0
    table.loc[4, upload.ROLE] = "left out"
    said = tomllib.loads(upload.settings(table, columns, accept=False))["columns"]
    assert said["time"] == {"role": "time", "high": 60.0, "from": "stated"}
    assert said["age"] == {"role": "number", "low": 0.0, "high": 120.0, "from": "standard"}
    assert said["name"] == {"role": "left out", "from": "stated"}
    assert "mass" not in said
    said = tomllib.loads(upload.settings(table, columns, accept=True))["columns"]
    assert said["mass"] == {"role": "number", "low": 7.0, "high": 9.0, "from": "data"}


def test_what_is_read_off_the_data_can_be_stated_as_it_is(home: Path):
    content = b"time,event,age\n" + b"1,1,40\n2,2,50\n" * 9  # is 1 the event, or 2?
    columns = seen(content)
    table = upload.frame(columns)
    assert table[upload.FROM].tolist() == ["data", "data", "standard"]
    table.loc[0, upload.FROM] = table.loc[1, upload.FROM] = "stated"
    text = upload.settings(table, columns, accept=False)
    assert tomllib.loads(text)["columns"]["event"] == {
        "role": "event", "value": "2", "from": "stated"
    }  # fmt: skip
    assert not own.card(own.keep("a.csv", content, text)).taken
    table.loc[2, upload.FROM] = "data"
    said = tomllib.loads(upload.settings(table, columns, accept=True))["columns"]
    assert said["age"]["from"] == "data"


def test_a_table_whose_bounds_nobody_knows_is_taken_by_one_yes(visit: Open, home: Path):
    test = visit("survival")
    test = add(test, "study.csv", masses())
    [error] = test.error
    assert error.value.startswith("File: expected bounds of time, mass, got none")
    below(test.checkbox, "survival.taken").check().run()
    test.button(key="survival.add").click().run()
    assert not test.error
    [name] = own.names()
    assert own.card(name).taken
    assert own.card(name).title == "study.csv"


def test_a_category_with_a_comma_stays_one(visit: Open, home: Path):
    """In the table that is shown, and in what is kept when the box under it is checked."""
    words = ("high", '"low, controlled"', '"5"" wide"')
    content = "time,event,blood\n" + "".join(f"{i},{i % 2},{words[i % 3]}\n" for i in range(24))
    shown = upload.frame(seen(content.encode()))
    assert shown[upload.LEVELS][2] == '"5"" wide", high, "low, controlled"'
    test = visit("survival")
    test.file_uploader(key="survival.upload").set_value(("a.csv", content.encode(), KIND)).run()
    below(test.checkbox, "survival.taken").check().run()
    test.button(key="survival.add").click().run()
    assert not test.error
    [name] = own.names()
    assert own.card(name).features == ("blood high", "blood low, controlled")
    assert [int(one) for one in catalog.load(name).x.sum(0)] == [8, 8]


@pytest.mark.thorough
def test_a_mistyped_category_is_told_beside_the_table(visit: Open, home: Path):
    content = "time,event,sex\n" + "".join(f"{i},{i % 2},{'mf'[i % 3 > 0]}\n" for i in range(24))
    test = visit("survival")
    test.file_uploader(key="survival.upload").set_value(("a.csv", content.encode(), KIND)).run()
    more = 'columns.sex.categories = "m, w"\ncolumns.time.high = 30'
    below(test.text_area, "survival.more").set_value(more).run()
    test.button(key="survival.add").click().run()
    assert not test.error
    assert len(own.names()) == 1
    said = "Sex: other values (f) count as the baseline m; no row holds w."
    assert said in [one.value for one in test.warning]


def test_settings_of_a_proposal_are_taken_as_they_are(visit: Open, home: Path):
    """A file of settings says the kind, and columns that the table above it says too."""
    text = own.propose(masses(), "time: 0 to 30\nmass: 0 to 50")["toml"]
    test = visit("survival")
    test.file_uploader(key="survival.upload").set_value(("a.csv", masses(), KIND)).run()
    below(test.checkbox, "survival.taken").check().run()
    below(test.text_area, "survival.more").set_value(text).run()
    test.button(key="survival.add").click().run()
    assert not test.error
    [name] = own.names()
    card = own.card(name)
    assert (card.bounds.covariates, card.bounds.horizon) == (((0.0, 50.0),), 30.0)
    assert not card.taken


def test_settings_count_before_the_table_and_what_is_left_of_data_stays_marked():
    columns = seen(b"time,event,subject,mass\n" + b"1,0,40,7\n2,1,50,9\n" * 9)
    table = upload.frame(columns)
    more = 'columns.Subject.role = "left out"\ncolumns.mass.fill = 8\n[columns.time]\nhigh = 30'
    shown = upload.settings(table, columns, accept=True)
    said = tomllib.loads(upload.together("survival", shown, more))
    assert said["kind"] == "survival"
    assert said["columns"] == {
        "time": {"role": "time", "high": 30, "from": "stated"},
        "event": {"role": "event", "from": "standard"},
        "subject": {"role": "left out"},
        "mass": {"role": "number", "low": 7.0, "high": 9.0, "fill": 8, "from": "data"},
    }
    with pytest.raises(DatasetError, match="file: kind: expected 'survival' in the settings"):
        upload.together("survival", shown, 'kind = "classes"')
    with pytest.raises(DatasetError, match="line 1, column 6"):  # of what is typed
        upload.together("survival", shown, "seed 1 =")


def test_what_lines_above_a_table_say_of_all_of_it_counts(home: Path):
    """The page gave back what they say of columns alone."""
    rows = "\n".join(f'p{i // 4},{i % 2},"{i % 9},5"' for i in range(120))
    above = "# person column: id\n# rows per person: 3\n# decimal comma: yes\n# split seed: 5\n"
    content = f"{above}# x: 0 to 10\nid,label,x\n{rows}".encode()
    seen = own.propose(content, 'kind = "classes"')
    shown = upload.settings(upload.frame(seen["columns"]), seen["columns"], True)
    added = own.add(
        "a.csv", content, upload.together("classes", shown, "", seen["toml"]), above=False
    )
    card = own.card(added.name)
    assert (card.records, card.rows, added.taken) == (90, 3, ())
    assert card.public.endswith("the seed 5")
    edited = shown.replace("high = 10.0", "high = 20.0")
    said = tomllib.loads(upload.together("classes", edited, 'record = "a cell"', seen["toml"]))
    assert said["columns"]["x"]["high"] == 20.0


def test_the_button_takes_what_lines_above_a_table_say_of_all_of_it(visit: Open, home: Path):
    add(visit("survival"), "a.csv", b"# record: a sample\n" + plain(15))
    [name] = own.names()
    assert own.card(name).record == "a sample"


def test_what_is_said_of_a_file_does_not_count_for_the_next(visit: Open, home: Path):
    test = visit("survival")
    test.file_uploader(key="survival.upload").set_value(("a.csv", masses(), KIND)).run()
    below(test.checkbox, "survival.taken").check().run()
    below(test.text_area, "survival.more").set_value('record = "a sample"').run()
    test.button(key="survival.add").click().run()
    [first] = own.names()
    assert (own.card(first).taken, own.card(first).record) == (True, "a sample")
    test = add(test, "b.csv", masses(21))
    [error] = test.error
    assert error.value.startswith("File: expected bounds of time, mass, got none")
    assert own.names() == (first,)
    assert below(test.text_area, "survival.more").value == ""


def test_known_bounds_are_proposed_by_name():
    """And the data's where no record fits them: an age that counts from 48, sexes as 1 and 2."""
    rows = b"1,0,7\n" * 9 + b"2,1,999\n"
    far = seen(b"time,event,age\n" + rows)["age"]
    assert (far["low"], far["high"], far["origin"]) == (0.0, 120.0, "standard")
    assert far["why"] == "values beyond the bounds are clipped"
    content = b"time,event,age,sex\n" + b"1,0,40,1\n2,1,50,2\n" * 9
    columns = seen(content)
    assert (columns["age"]["low"], columns["age"]["high"]) == (0.0, 120.0)
    assert columns["age"]["origin"] == "standard"
    assert (columns["sex"]["low"], columns["sex"]["origin"]) == (1.0, "data")


@pytest.mark.parametrize("page", ["", "survival", "runs", "compare"])
def test_one_damaged_table_takes_no_page_down(visit: Open, home: Path, page: str):
    """One that is cut short, with a run on it, and one that is none."""
    name = own.keep("study.csv", plain(15))
    play(home, request("survival", "cox", name))
    file = own_store.folder() / f"{name}.table"
    file.write_bytes(file.read_bytes()[:200])
    own_store.place("own_0123456789abcdef").write_text("null")
    own_store._head.cache_clear()
    test = visit(page) if page else visit()
    assert not test.exception


@pytest.mark.parametrize(("covariates", "group"), [(1, "1"), (3, "2")])
def test_a_table_of_few_covariates_is_compared_by_one_that_it_has(
    visit: Open, home: Path, covariates: int, group: str
):
    """The run itself, in this process, and the page's widget for the two groups."""
    [name, address] = _kept(covariates)
    job = defaults.addressed("survival", address).jobs["log_rank"]
    assert job.values["group"] == int(group)
    few = request("survival", "log_rank", name, {"intervals": 4}, {}, range(3))
    assert few.values["group"] == int(group)
    run, _ = complete(Client(home, workers=False), few, lambda done, total: None)
    assert run.state == "completed"
    test = visit("survival", **address, **{"survival.repeats": "5"})
    assert not test.exception
    widget = _group(test)
    assert widget.options == [str(one + 1) for one in range(covariates)]
    assert widget.value == group


def test_an_address_with_a_covariate_that_a_table_lacks_ends_in_one_sentence(
    visit: Open, home: Path
):
    for covariates in (1, 3):
        [_, address] = _kept(covariates)
        test = visit("survival", **address, **{"survival.group": "7"})
        assert not test.exception
        [told] = test.toast
        assert f"group 7 is not on its slider, {covariates} is nearest" in told.value
        assert _group(test).value == str(covariates)
        assert test.query_params.get("survival.group", "1") == str(covariates)


def test_two_groups_follow_the_table_that_is_chosen(visit: Open, home: Path):
    [_, address] = _kept(1)
    own_text = address["survival.dataset"]
    test = visit("survival", **{"survival.group": "5", "survival.repeats": "5"})
    assert _group(test).value == "5"
    test.radio(key="survival.dataset").set_value(own_text).run()
    assert not test.exception
    assert _group(test).value == "1"
    test.radio(key="survival.dataset").set_value("FLchain").run()
    assert not test.exception
    assert _group(test).value == "2"


def _kept(covariates: int) -> tuple[str, dict[str, str]]:
    """A table with so many covariates, and the address of its page."""
    names = [f"c{one}" for one in range(covariates)]
    above = "".join(f"# {name}: 0 to 9\n" for name in names) + "# time: 0 to 60\n"
    rows = [f"{i + 1},{i % 2}" + f",{i % 7}" * covariates for i in range(30)]
    content = above + "\n".join([f"time,event,{','.join(names)}", *rows])
    name = own.keep("few.csv", content.encode())
    return name, {"survival.dataset": short(name)}


def _group(test: AppTest) -> Any:
    """The widget of the two groups, a list where there is one number only."""
    key = "survival.group"
    found = [one for one in (*test.select_slider, *test.selectbox) if one.key == key]
    assert len(found) == 1
    return found[0]
