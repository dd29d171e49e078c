"""The static pages hold the app's own sentences, rulers and figures; no text is a part of one."""

import functools
import html
import json
import re
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import parse_qsl

import pytest

from datasets import catalog as data_catalog
from engine.cli.main import main
from engine.core import disk
from engine.core.errors import RequestError
from engine.privacy.guarantee import Guarantee
from engine.runs import reference, shipped
from engine.runs.exhibit import exhibits
from pages.ui import home as first
from pages.ui import words
from pages.ui.bundle import collect, sections, slide
from pages.ui.bundle.drawn import Drawn
from pages.ui.compare import candidates, shown
from pages.ui.exhibits import table
from pages.ui.kit import chart, markdown, shell, source
from pages.ui.kit.chart import Picture, named
from pages.ui.lessons import contents, foreign, library
from pages.ui.messages import spoken, tr
from pages.ui.paper import defaults, foot, panels, whole
from pages.ui.paper.defaults import addressed
from pages.ui.paper.view import COST, PROOF, WHY
from pages.ui.site import blocks, compare, frame, lesson, packed, start, states, write
from tests.pages.conftest import ROOT, Open
from tests.pages.drawn import charts, plots

BLANK = json.dumps({"data": [], "layout": {}})
"""A figure without a trace."""


class Fold(nullcontext[None]):
    """An expander that is open."""

    open = True


@pytest.fixture
def taken(home: Path, monkeypatch: pytest.MonkeyPatch) -> states.Taken:
    """The mean's page with its shipped stops."""
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    return _taken("mean")


@functools.cache
def _taken(slug: str) -> states.Taken:
    """A page with its shipped stops, for all tests: the largest takes a minute."""
    one = states.take(slug)
    assert one is not None
    return one


@pytest.mark.thorough
def test_every_stop_says_what_the_app_says(taken: states.Taken):
    offered, opening = addressed("mean", {}).offers.knobs, taken.opening.state
    assert opening.budgets == list(offered["epsilon"].texts)
    bound = next(one for one in taken.controls if one.field == "bound")
    assert bound.label == "Clipping bound B [mg/dL]"
    assert bound.texts == list(offered["bound"].texts)
    assert bound.stops[bound.first] is None
    for at, budget in enumerate(opening.budgets):
        view = slide.opened("mean", {"mean.epsilon": budget})
        assert opening.findings[at] == markdown.html(panels.result(view))
        drawn, _, odds = foot.marks(view, view.guarantee())
        assert drawn.partition("</style>")[2] in opening.rulers[at]
        assert markdown.html(odds) in opening.rulers[at]
    moved = [one.state for one in bound.stops if one is not None]
    assert len(moved) == len(bound.texts) - 1
    assert len({one.findings[one.first] for one in moved}) > 1
    assert all(len(one.frames) == len(one.budgets) >= 5 for one in moved)


@pytest.mark.thorough
def test_another_method_has_its_own_card_and_finding(taken: states.Taken):
    methods = next(one for one in taken.controls if one.listed)
    assert methods.label == "Method"
    assert methods.texts == list(addressed("mean", {}).offers.method.texts)
    for text, stop in zip(methods.texts, methods.stops, strict=True):
        view = slide.opened("mean", {"mean.method": text})
        one, at = stop or taken.opening, (stop or taken.opening).state.first
        assert one.state.findings[at] == markdown.html(panels.result(view))
        card = next(block for block in one.blocks if block.title == blocks.CARD).told[at]
        assert html.escape(view.watched[view.method].label) in card[0]


@pytest.mark.thorough
def test_what_has_to_be_trained_at_another_stop_is_named(taken: states.Taken):
    """A coarse curve holds no histogram, so nothing is drawn there, and the page can say why."""
    bound = next(one for one in taken.controls if one.field == "bound")
    stop = bound.stops[bound.texts.index("2")]
    assert stop is not None
    title = "Histogram of the column"
    assert title in stop.tabs()["waits"]
    assert title not in taken.opening.tabs()["waits"]
    assert "chart-histogram" in taken.opening.tabs()["sections"]
    assert "chart-histogram" not in stop.tabs()["sections"]
    assert "does not ship" not in json.dumps(stop.tabs()["told"])


@pytest.mark.thorough
@pytest.mark.parametrize("code", ["en", "de"])
def test_the_first_page_has_the_app_s_curve_with_its_named_budgets(
    visit: Open, monkeypatch: pytest.MonkeyPatch, code: str
):
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    with spoken(code):
        state, body = start.taken() or ({}, "")
        names = [tr(words) for words in first.stops().values()]
        drawn_measure = tr("Pairs ranked wrongly")
    assert 'id="epsilon"' in body
    for budget in ("0.1", "1", "10"):
        test = visit("", **{"home.epsilon": budget, "lang": code})
        assert not test.exception
        at = state["budgets"].index(budget)
        drawn = Drawn("", "", [], state["base"], state["frames"], []).whole(at)
        (app_s,) = charts(test)
        drawn["layout"]["meta"]["fit"] = True  # only the app's follows what its foot leaves free
        assert drawn == app_s
        assert state["alts"][at] == plots(test)[0]["alt"]
        assert drawn_measure in state["alts"][at]
        assert drawn_measure in drawn["layout"]["yaxis"]["title"]["text"]
        stops = [one for one in drawn["layout"]["annotations"] if one.get("name") == "stop"]
        assert [one["text"].partition(":")[0] for one in stops] == names
        assert state["findings"][at] in [markdown.html(one.value) for one in test.markdown]


@pytest.mark.thorough
def test_figures_are_whole_at_every_budget(taken: states.Taken):
    state = taken.opening.state
    for moved in state.frames:
        data = [*state.base["data"], *moved["data"]]
        lines = [one for one in data if one.get("mode") == "lines+markers" and len(one["x"]) > 1]
        assert len(lines) == 3
        assert {"xaxis", "yaxis"} <= {*state.base["layout"], *moved}


def test_a_script_says_every_part_once_and_holds_what_it_was_given():
    long = [float(i) for i in range(40)]
    known = {"a": {"x": long, "y": long}, "b": [long, 1, 1.0, True, "1", None], "c": "</script>"}
    text = packed.script(known, "kept")
    assert text.count(json.dumps(long, separators=(",", ":"))) == 1
    assert "</script>" not in text
    shared = list[Any]()
    body = text.split("return ")[1].split("\n")[0]
    for line in re.findall(r"^_\[\d+\] = (.*)$", text, re.M):
        shared.append(_read(line, shared))
    assert _read(body, shared) == known
    assert [type(one) for one in _read(body, shared)["b"][1:5]] == [int, float, bool, str]


def _read(text: str, shared: list[Any]) -> Any:
    """A part of such a script, as a browser reads it."""
    return json.loads(re.sub(r"_\[(\d+)\]", lambda at: json.dumps(shared[int(at[1])]), text))


@pytest.mark.thorough
def test_no_text_becomes_a_part_of_a_page(taken: states.Taken):
    bad = states.Taken(**(vars(taken) | {"title": "<script>alert(1)</script>"}))
    text = frame.page(bad.title, write._paper(bad), {"mean": bad.title}, script="site.js")
    assert "<script>" not in re.sub(r"<script src=\"[^\"]+\"(?: defer)?></script>", "", text)
    assert not re.search(r"\son\w+=", text)
    assert "</script>" not in packed.script(bad.json() | {"slug": "</script>"})


def test_the_app_s_chart_is_handed_over_without_modules():
    text = frame.charts()
    assert "window.drawn = function" in text
    assert not re.search(r"^(import|export) ", text, re.M)


def test_a_lesson_is_one_file_with_its_views_in_order(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    file = home / "lesson.html"
    assert main(["bundle", "--lesson", "clipping", "--to", str(file)]) == 0
    text, known = file.read_text(encoding="utf-8"), contents.find("clipping").lesson
    assert known is not None
    places = [text.index(html.escape(view.text)) for view in known.views]
    assert places == sorted(places)
    for view in known.views:
        if view.question is not None:
            assert html.escape(view.question.text) in text
    (data,) = re.findall(r'id="views">(.*?)</script>', text, re.S)
    drawn = dict(zip([view.address for view in known.views], json.loads(data), strict=True))
    assert all(drawn.values())  # no view needs the app
    assert "needs the app" not in text
    curve = drawn["/mean?mean.bound=5"]
    said = panels.result(slide.opened("mean", {"mean.bound": "5"}))
    assert curve["findings"][curve["first"]] == markdown.html(said)
    screen = drawn["/learn?learn.screen=clipping&learn.bound=30"]
    assert screen["texts"][screen["first"]] == "30"
    assert "At B = 30 the noise has a standard deviation" in screen["findings"][screen["first"]]
    assert "At B = 5 the noise" in screen["findings"][screen["texts"].index("5")]
    bins = drawn["/mean?mean.bound=0.5&mean.tab=Histogram"]
    assert bins["texts"] == curve["texts"]
    assert bins["charts"][0]["title"] == "Histogram of the column"
    assert "a bin is off by" in bins["charts"][0]["said"][bins["first"]]
    assert "<script src" not in text
    assert "http://" not in re.sub(r"http://www\.w3\.org/\S+", "", text.split("<script>")[0])


def test_a_lesson_that_is_not_there_or_has_mistakes_is_one_sentence(home: Path, capsys):
    assert main(["bundle", "--lesson", "none", "--to", str(home / "l.html")]) == 2
    assert "lesson: expected one of epsilon, clipping" in capsys.readouterr().err
    name = library.keep('title = "<script>"\n')
    assert main(["bundle", "--lesson", name, "--to", str(home / "l.html")]) == 2
    assert f"lesson {name}: " in capsys.readouterr().err
    assert not (home / "l.html").exists()


def test_a_table_of_a_paper_has_the_numbers_and_names_of_the_app():
    """A p-value of 6e-14 is no zero, and a variant is called as on the page."""
    known = exhibits("yesiwell")["tests"]
    kept = reference.load("yesiwell", "tests")
    assert kept is not None
    small = [cell for cell in kept.cells if cell.ours and known.fades(cell.ours)]
    assert small
    made = html.unescape(write.table_of(known, kept.cells))
    for cell in small:
        assert table.figure(known, cell.ours) in made
        assert table.figure(known, cell.ours).strip("-0.") != ""
    assert ">with proof<" in made
    assert ">rigorous<" not in made
    assert "The data are simulated." in made


def test_the_first_static_page_marks_simulated_data_as_the_app_does():
    known = {slug: SimpleNamespace(title=slug) for slug in shell.papers()}
    drawn = write._home(cast(Any, known), "")
    opens = [data_catalog.card(one.datasets[0]) for one in shell.papers().values()]
    assert drawn.count("Simulated data") == sum(card.simulated for card in opens) > 0


@pytest.mark.thorough
def test_a_finding_on_simulated_data_is_marked_in_what_is_taken_along(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    monkeypatch.setattr(panels, "result", lambda view: "Found.")
    mark = words.simulated(True)
    monkeypatch.setattr(words, "simulated", lambda *made: mark)
    bundled, static = collect.take("mean"), states.state(addressed("mean", {}), states.ships)
    assert bundled is not None
    assert static is not None
    assert {*bundled.findings, *static.findings} == {"Found. Simulated data"}


@pytest.mark.thorough
def test_exhibits_that_cannot_be_read_leave_the_tables_of_other_papers(
    monkeypatch: pytest.MonkeyPatch,
):
    def read(slug: str) -> object:
        if slug == "lvq":
            raise RequestError("lvq: expected <a module>, got none")
        return exhibits(slug)

    monkeypatch.setattr(write, "exhibits", read)
    made = write._reproduce()
    assert "<p>lvq: expected &lt;a module&gt;, got none</p>" in made
    assert "Figure 5" in made


def test_what_follows_a_list_is_no_part_of_it():
    assert markdown.paragraphs("- **a**: b\n- c\n\nSomebody, 2020.") == (
        "<ul>\n<li><strong>a</strong>: b</li>\n<li>c</li>\n</ul>\n<p>Somebody, 2020.</p>"
    )


HELD = """title = "What *holds*"
text = "All of it."
[[views]]
address = "/mean?mean.epsilon=0.5"
text = "Look at the **error** and at [Learn](/learn)."
hide = ["sidebar", "tabs", "budget"]
lock = ["mean.epsilon"]
[views.question]
text = "Which ε was *used*?"
options = ["0.1", "0.5"]
answer = 2
reveal = "It was **0.5**."
arms = ["One **word**.", "Another word."]
[[views]]
address = "/mean"
text = '''- one
- two

And 2 \\* 3.

| ε | right |
|---|---|
| 1 | 9 |'''
hide = ["mean.epsilon"]
[[views]]
address = "/mean"
text = "Move it."
lock = ["mean.bound"]
"""


@pytest.mark.thorough
def test_one_file_keeps_what_a_lesson_hides_locks_and_asks(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    text = lesson.text(library.keep(HELD))
    asked, hidden, free = re.findall(r"<section class=\"drawn\".*?</section>", text, re.S)
    before, answer = asked.split('<details class="answer">')
    for part in ("finding", "chart", "slider", "meaning"):
        assert f'class="{part}"' not in before  # nothing of it stands under the question
        assert f'class="{part}"' in answer.rpartition("</details>")[0]
    assert "<p>Option 2.</p><p>It was <strong>0.5</strong>.</p>" in answer
    for group, said in ("A", "One <strong>word</strong>."), ("B", "Another word."):
        fold = f"<details><summary>Explanation {group}</summary><p>{said}</p></details>"
        assert fold in before
    assert "<strong>Which ε was *used*?</strong>" in before  # as the app, which draws no marks here
    slider, meaning = r'<div class="slider">.*</div></div>', '<div class="meaning">'
    assert re.search(f"<div hidden><div>{slider}{meaning}", asked)  # the foot of the page
    assert re.search(f"<div><div hidden>{slider}{meaning}", hidden)
    assert re.search(f"<div><div>{slider}{meaning}", free)
    assert [" disabled>" in one for one in (asked, hidden, free)] == [True, False, False]


def test_a_text_of_a_lesson_is_drawn_in_its_file_as_in_the_app(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    text = lesson.text(library.keep(HELD))
    assert "<title>What holds · Epsilon Explorer</title>" in text
    assert "<h1>What <em>holds</em></h1>" in text
    assert "<p>Look at the <strong>error</strong> and at Learn.</p>" in text
    assert "<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n<p>And 2 * 3.</p>" in text
    assert "<td>1</td>" in text
    bad = markdown.paragraphs(foreign.words("[x](https://a.example) <a@b.example> **<b>** \\\\<b>"))
    assert not re.search(r"<(?!/?(p|strong)>)", bad)


@pytest.mark.parametrize(
    ("tab", "titles"),
    [
        ("Histogram", {"Histogram of the column", "Who pays for privacy?"}), ("cost", {None}),
        ("", {None}), ("Proof", {"Attack", "The whole guarantee"}), ("Data", None),
    ],
)  # fmt: skip
def test_a_view_shows_its_own_tab_and_no_other(
    home: Path, monkeypatch: pytest.MonkeyPatch, tab: str, titles: set[str | None] | None
):
    """A text about a histogram must not stand above a curve."""
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    place = f"/mean?mean.tab={tab}" if tab else "/mean"
    name = library.keep(
        f'title = "T"\ntext = "x"\n[[views]]\naddress = "{place}"\ntext = "Look at it."\n'
    )
    text = lesson.text(name)
    assert ('<section class="drawn"' in text) == (titles is not None)
    assert (f"This view needs the app: open {place} there." in text) == (titles is None)
    (data,) = re.findall(r'id="views">(.*?)</script>', text, re.S)
    (drawn,) = json.loads(data)
    assert (drawn and {one.get("title") for one in drawn["charts"]}) == titles
    for title in titles or ():
        assert title is None or f"<h3>{html.escape(title)}</h3>" in text


def test_the_game_of_learn_is_left_to_the_app(home: Path):
    place = "/learn?learn.screen=attacker"
    name = library.keep(
        f'title = "T"\ntext = "x"\n[[views]]\naddress = "{place}"\ntext = "Play it."\n'
    )
    assert f"This view needs the app: open {place} there." in lesson.text(name)


@pytest.mark.thorough
def test_a_static_lesson_leads_to_the_tab_that_its_text_is_about(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    held = contents.find("prototypes").lesson
    assert held is not None
    known, page = lesson.taken("prototypes")
    tabs = [view.settings.get("lvq.tab") for view in held.views]
    assert "Pictures" in tabs
    for tab, one in zip(tabs, known, strict=True):
        assert (tab, one) == ("Pictures", None) or tab is None
    assert 'href="../../lvq/index.html?lvq.tab=Pictures&amp;lvq.epsilon=8"' in page


def test_words_of_a_lesson_stay_words(home: Path):
    bad = "<img src=x onerror=alert(1)>"
    name = library.keep(
        f'title = "{bad}"\ntext = "{bad}"\n[[views]]\naddress = "/compare"\ntext = "{bad}"\n'
    )
    text = lesson.text(name)
    assert bad not in text
    assert html.escape(bad) in text


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("mean", "mean/index.html"),
        ("mean?mean.epsilon=2", "mean/index.html?mean.epsilon=2"),
        ("mean?mean.bound=2", "mean/index.html?mean.bound=2"),
        ("mean?mean.tab=Why", "mean/index.html"),
        ("mean?mean.tab=Proof", "mean/index.html"),
        ("mean?mean.bound=2&mean.tab=Proof", "mean/index.html?mean.bound=2"),
        ("mean?mean.bound=2&mean.tab=Why", "mean/index.html?mean.bound=2"),
        ("mean?mean.method=Gaussian", "mean/index.html?mean.method=Gaussian"),
        ("mean?mean.method=Gaussian&mean.bound=2", ""),
        ("mean?mean.tab=Data", ""),
        ("", "index.html?home.epsilon=1"),
        ("?home.epsilon=2", "index.html?home.epsilon=2"),
        ("mean?mean.share=0.3", ""),
        ("mean?mean.by=By claim", ""),
    ],
)
def test_a_chart_of_the_app_names_the_static_page_that_shows_it_or_says_that_none_does(
    visit: Open, monkeypatch: pytest.MonkeyPatch, address: str, place: str
):
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    monkeypatch.setenv(source.SITE, "https://site.example/explorer/")
    said: list[str] = []
    monkeypatch.setattr(source, "publish", said.append)
    path, _, query = address.partition("?")
    test = visit(path, **dict(parse_qsl(query)))
    assert not test.exception
    assert said[-1] == place


def test_the_line_of_a_chart_holds_its_settings_and_no_mark_of_html(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv(source.SITE, "https://site.example/explorer/")
    source.publish('mean/index.html?mean.epsilon=2"><script>')
    line = source.embed(named("mean.utility"))
    (address,) = re.findall(r'<iframe src="([^"]+)"', line)
    assert html.unescape(address) == (
        'https://site.example/explorer/mean/index.html?mean.epsilon=2"><script>&embed=1'
    )
    assert "<script>" not in line
    source.publish("")
    assert source.embed("1").startswith("The static pages do not have this chart")


@pytest.mark.thorough
@pytest.mark.parametrize("slug", list(shell.papers()))
def test_every_chart_that_the_app_offers_alone_is_on_the_static_page(
    visit: Open, monkeypatch: pytest.MonkeyPatch, slug: str
):
    """What the app draws in the tabs that are published, by the names that static pages know."""
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    drawn: set[str] = set()
    layout = defaults.layout(slug)
    with monkeypatch.context() as app:
        app.setattr(chart, "draw", lambda key, picture: drawn.add(named(key)))
        for tab in (COST, layout.shows, WHY, PROOF):
            assert not visit(slug, **{f"{slug}.tab": tab}).exception
    taken = _taken(slug)
    known = {one.name for one in taken.opening.drawn}
    assert drawn - known - {source.MAIN} - source.ABSENT == set()
    source.publish(slug)
    assert not any(source.embed(name).startswith("<iframe") for name in source.ABSENT)


@pytest.mark.thorough
@pytest.mark.parametrize("slug", list(shell.papers()))
def test_the_charts_of_why_and_proof_are_those_that_the_app_draws(
    visit: Open, monkeypatch: pytest.MonkeyPatch, slug: str
):
    """With the fold of the whole guarantee open: as it opens, and at another stop of each control.

    No worker trains here, so the app draws what ships.
    """
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    taken = _taken(slug)
    monkeypatch.setattr(whole.st, "expander", lambda *_, **__: Fold())
    first = taken.opening.state.first
    for settings, stop, at in [({}, taken.opening, first - 1), *moved(slug, taken)]:
        for tab in (WHY, PROOF):
            seen: dict[str, Picture] = {}
            with monkeypatch.context() as app:
                app.setattr(
                    chart, "draw", lambda key, one, seen=seen: seen.update({named(key): one})
                )
                said = {f"{slug}.tab": tab, f"{slug}.epsilon": stop.state.budgets[at]}
                assert not visit(slug, **said, **settings).exception
            drawn = [one for block in stop.blocks if block.tab == tab for one in block.drawn]
            there = {one.name: one.whole(at) for one in drawn if one.frames[at]}
            app_s = {name: sections._figure(one) for name, one in seen.items()}
            app_s = {name: one for name, one in app_s.items() if name not in source.ABSENT}
            for one in (*there.values(), *app_s.values()):
                one["layout"].pop("uirevision")  # a coarse curve is another run than the whole
            assert there == app_s, (settings, tab)


def moved(slug: str, taken: states.Taken) -> Iterator[tuple[dict[str, str], states.Stop, int]]:
    """Another stop of every control, at the first budget."""
    for one in taken.controls:
        at = next(i for i, stop in enumerate(one.stops) if stop is not None)
        stop = one.stops[at]
        assert stop is not None
        yield {f"{slug}.{one.field}": one.texts[at]}, stop, stop.state.first


@pytest.mark.thorough
@pytest.mark.parametrize("slug", list(shell.papers()))
@pytest.mark.parametrize("tab", [COST, WHY, PROOF])
def test_a_tab_s_tables_and_card_are_those_of_the_app(
    visit: Open, monkeypatch: pytest.MonkeyPatch, slug: str, tab: str
):
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    page = addressed(slug, {})
    view = slide.opened(slug, {})
    told = [
        text
        for block in blocks.blocks(page, [view])
        if block.tab == tab
        for text in (*map("".join, block.told), *(said for one in block.drawn for said in one.said))
    ]
    said = html.unescape(" ".join(told))
    if tab == COST:  # the app works its measures out once their fold is open
        monkeypatch.setattr(panels.st, "expander", lambda *_, **__: Fold())
    test = visit(slug, **{f"{slug}.tab": tab})
    assert not test.exception
    tables = [one.value for one in test.table if tab != COST or "Measured" in one.value]
    for one in tables:
        if "Proved ε" not in one:  # else every method's line, which has a table of its own
            named = {*map(str, one.index), *map(str, one.columns)} - {"value"}
            heads = [head for head in named if not head.isdigit()]  # else the number of a row
            cells = [*heads, *map(str, one.to_numpy().flat)]
            assert [cell for cell in cells if html.unescape(blocks.plain(cell)) not in said] == []
    assert len(tables) >= {COST: 1, WHY: 0, PROOF: 2}[tab]


def test_a_full_disk_is_noticed_before_the_pages_are_made(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setattr(disk, "room", lambda folder: 5_000)
    monkeypatch.setattr(write, "take", lambda slug: pytest.fail("it has begun"))
    assert main(["site", "--to", str(tmp_path / "site")]) == 1
    says = f"{tmp_path}: expected 10.0 MB of free space on the disk for the pages, it is full"
    assert capsys.readouterr().err.startswith(says)


@pytest.mark.thorough
def test_static_compare_says_what_the_app_says_of_measures_data_and_proofs(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    monkeypatch.setattr(compare, "_shipped", functools.cache(compare._shipped.__wrapped__))
    monkeypatch.setattr(shown, "drawn", lambda *_, **__: Picture(BLANK, "", ()))
    runs = compare._shipped()

    def state(data: str, better: str) -> Any:
        here = [one for one in runs if one.dataset == data]
        known = candidates.gauges(here).items()
        name, gauge = next((name, one) for name, one in known if one.better == better)
        return compare._state(here, data, data, name, gauge)

    plain = state("flchain", "neither")
    assert not plain["best"]
    assert all("no better direction" in one for one in (*plain["findings"], plain["note"]))
    made = state("yesiwell", "up")
    assert all("Simulated data" in one for one in made["findings"])
    assert any("Two kinds of guarantee share this axis" in one for one in made["captions"])
    assert not any(shown.RELATIONS_DIFFER in one for one in made["captions"])
    kept = shown.cards
    monkeypatch.setattr(shown, "cards", lambda *given: _related(kept(*given)))  # none ships so
    assert all(shown.RELATIONS_DIFFER in one for one in state("yesiwell", "up")["captions"])


def _related(cards: list[Guarantee]) -> list[Guarantee]:
    """The same cards, of which the first counts other neighbours than the rest."""
    other = "add_or_remove_one" if cards[1].relation == "replace_one" else "replace_one"
    return [replace(cards[0], relation=other), *cards[1:]]
