"""Other languages: a catalogue is complete, keeps every fact, and is what pages then say."""

import functools
import html
import json
import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from babel.messages.pofile import read_po
from streamlit.testing.v1 import AppTest

from engine.runs import shipped
from engine.service.client import Client
from pages.ui import gather, home, messages, words
from pages.ui.charts.theme import axis, figure
from pages.ui.jobs.sentences import day, summary
from pages.ui.kit import glossary, plot, shell
from pages.ui.kit.labels import drawn as words_of
from pages.ui.kit.labels import label, parts, spoken
from pages.ui.learn.declared import QUESTIONS, SCREENS
from pages.ui.paper import defaults, preview, total
from pages.ui.site import learn, start, write
from pages.ui.site.frame import page
from tests.pages.conftest import ROOT, Open
from tests.pages.drawn import charts
from tests.pages.played import begin, play
from tests.pages.test_learn import answered

OTHERS = [code for code in messages.languages() if code != messages.SOURCE]
LINK = re.compile(r"\]\(([^)]+)\)")
MATHS = re.compile(r"\$[^$]+\$")


def entries(code: str) -> dict[str, str]:
    """A catalogue as its file has it."""
    with (messages.FOLDER / f"{code}.po").open("rb") as file:
        return {str(one.id): str(one.string) for one in read_po(file) if one.id}


def fields(text: str) -> list[tuple[str, str]]:
    """The facts in the braces of a text, with how each is written."""
    plain = MATHS.sub("", text)
    return sorted((name, spec or "") for _, name, spec, _ in string.Formatter().parse(plain)
                  if name is not None)  # fmt: skip


def test_there_is_german():
    assert messages.languages()["de"] == "Deutsch"
    assert next(iter(messages.languages())) == "en"


@pytest.mark.parametrize("code", OTHERS)
def test_a_language_has_every_text_and_nothing_else_or_is_absent(code: str):
    kept, wanted = entries(code), gather.texts()
    assert [text for text in sorted(wanted) if not kept.get(text)] == []
    sentences = {text for text in kept if len(text.split()) > 9}
    assert sentences - wanted == set()  # shorter ones may be labels of charts


@pytest.mark.slow
@pytest.mark.parametrize("code", OTHERS)
def test_a_language_has_every_label_of_the_charts(code: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    kept = entries(code)
    wanted = gather.labels() | gather.texts()
    assert [text for text in sorted(wanted) if not kept.get(text)] == []
    assert set(kept) - wanted - gather.names() == set()


@pytest.mark.thorough
@pytest.mark.parametrize("code", OTHERS)
def test_a_language_has_every_word_of_the_pictures_beside_the_curves(
    code: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    wanted, kept = gather.pictured(), entries(code)
    assert {"years", "of 100 right", "Releases that fail"} <= wanted
    assert [text for text in sorted(wanted - gather.names()) if not kept.get(text)] == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("page", "own"),
    [
        ("survival", {"Zeit [Jahre]", "Gepunktet: ohne Privatsphäre"}),
        ("pcdbn", {"<b>Programm der Autoren</b>", "nichts dringt nach außen", "angegriffen"}),
    ],
)
def test_the_picture_beside_a_curve_is_in_the_language(
    visit: Open, page: str, own: set[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    drawn = [text for one in charts(visit(page, lang="de")) for text in words_of(one)]
    assert own <= set(drawn)
    assert left(drawn) == []


@pytest.mark.parametrize("code", OTHERS)
def test_a_translation_keeps_facts_links_and_formulas(code: str):
    for text, said in entries(code).items():
        assert fields(said) == fields(text), text
        assert sorted(LINK.findall(said)) == sorted(LINK.findall(text)), text
        assert said.count("**") == text.count("**"), text
        if text != said and "$" in text:
            assert sorted(MATHS.findall(said)) == sorted(MATHS.findall(text)), text


@pytest.mark.thorough
def test_a_missing_text_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """The same comparison on a catalogue that lacks one text, and on one that lost a fact."""
    kept = entries("de")
    del kept["Wrong" if "Wrong" in kept else next(iter(gather.texts()))]
    assert [text for text in gather.texts() if not kept.get(text)] != []
    assert fields("{a:n2} und {b}") != fields("{a:n} und {b}")


def test_numbers_are_written_as_the_language_writes_them():
    with messages.spoken("de"):
        assert messages.figures("1,234.5") == "1.234,5"
        assert messages.numbered("ε = 0.5, then 1,000.") == "ε = 0,5, then 1.000."
    assert messages.numbered("ε = 0.5") == "ε = 0.5"


def test_labels_are_translated_part_by_part():
    with messages.spoken("de"):
        assert label("Test accuracy [%] · higher is better") == (
            "Testgenauigkeit [%] · höher ist besser"
        )
        assert label("EnADPP, with proof, layer 1") == "EnADPP, mit Beweis, Schicht 1"
        drawn = spoken(
            figure(
                [{"type": "bar", "x": [1], "name": "Noise", "hovertemplate": "Noise: %{y}"}],
                xaxis=axis("Test loss [nats]"),
            )
        )
    one = json.loads(drawn.to_json())
    assert one["data"][0] == {"type": "bar", "x": [1], "name": "Rauschen",
                              "hovertemplate": "Rauschen: %{y}"}  # fmt: skip
    assert one["layout"]["xaxis"]["title"]["text"] == "Testverlust [nats]"
    assert one["layout"]["separators"] == ",."
    assert label("Test loss [nats]") == "Test loss [nats]"
    assert parts("no proof:<br>91–92 %") == ["no proof:"]


def said(test) -> list[str]:
    """All words of a page that are Markdown, headings, or the label of something to choose."""
    body = (*test.title, *test.header, *test.subheader, *test.markdown, *test.caption)
    asked = (*test.radio, *test.select_slider, *test.selectbox, *test.button)
    return [str(one.value) for one in body] + [str(one.label) for one in asked]


@pytest.mark.thorough
@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("page", ["", "learn"])
def test_a_page_speaks_the_language_of_its_address(visit: Open, page: str, code: str):
    test = visit(page, lang=code)
    if page:
        test = answered(test)
    assert not test.exception
    shown = said(test)
    own = entries(code)
    for text in own:  # nothing that the catalogue has is left in English
        if len(text.split()) > 4 and text != own[text] and "{" not in text:
            assert text not in shown, text
    assert sum(one in set(own.values()) for one in shown) > (20 if page else 5)


ENGLISH = re.compile(
    r"\b(the|of|and|with|is|are|from|for|which|noise|your|you|by)\b", re.IGNORECASE
)
"""Words that no other language here has."""
TITLE = "What Are the Chances? Explaining the Epsilon Parameter in Differential Privacy"


def left(texts: Iterable[str]) -> list[str]:
    """What is still English among texts; titles of papers are quoted."""
    quoted = [TITLE, *(one.citation for one in shell.papers().values())]
    plain = (re.sub(r"<[^>]+>|\*+", "", html.unescape(one)) for one in texts)
    return [one for one in plain if ENGLISH.search(functools.reduce(
        lambda text, title: text.replace(title.replace("*", ""), ""), quoted, one))]  # fmt: skip


def strings(of: Any) -> Iterator[str]:
    """All texts of plain data."""
    if isinstance(of, str):
        yield of
    elif isinstance(of, dict | list):
        for one in of.values() if isinstance(of, dict) else of:
            yield from strings(one)


@pytest.mark.thorough
@pytest.mark.parametrize("code", OTHERS)
def test_nothing_on_the_static_home_and_learn_is_left_in_english(
    code: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shipped, "FOLDER", ROOT / "reference" / "defaults")
    titles = {slug: SimpleNamespace(title=one.title) for slug, one in shell.papers().items()}
    names = {slug: one.title for slug, one in titles.items()}
    with messages.spoken(code):
        state, curve = start.taken() or ({}, "")
        pages = [
            page("Home", write._home(titles, curve), names),
            page("Learn", learn.body(), names),
        ]
        moved = [one for screen in learn.data()["screens"] for key, one in screen.items()
                 if key not in ("key", "name", "stops", "images", "base", "frames")]  # fmt: skip
    seen = [
        text for one in pages for text in re.findall(r'>([^<]+)<|(?:aria-label|alt)="([^"]+)', one)
    ]
    assert left(text for pair in seen for text in pair) == []
    curves = [state[key] for key in ("findings", "rulers", "alts") if key in state]
    assert curves
    assert left(strings([moved, curves])) == []
    assert left(["Ein Rauschen of the size"]) != []


def above(test: AppTest) -> list[str]:
    """The buttons, captions and sentences of Home; its bar is seen by a browser alone."""
    return [*(one.label for one in test.button), *(one.value for one in test.markdown),
            *(one.value for one in test.caption)]  # fmt: skip


@pytest.mark.parametrize("code", OTHERS)
def test_home_says_in_its_language_how_far_runs_are_and_how_they_ended(
    visit: Open, home: Path, code: str
):
    test = visit("", lang=code)
    own, client = entries(code), Client(home, workers=False)
    assert [one.label for one in test.button if one.key == "home.stop"] == [own["Stop"]]
    stopped, failed, done = sorted(client.runs(), key=lambda run: -run.job.replicas())[:3]
    begin(home, stopped.job).finish("cancelled", [])
    begin(home, failed.job).finish("failed", [])
    play(home, done.job)
    for run in client.runs():
        client.cancel(run.job.id)
    shown = above(test.run())
    assert not test.exception
    assert own["Run again"] in shown
    assert any(one.startswith(f"{own['Failed']} · ") or one.startswith(f"{own['Stopped']} · ")
               for one in shown)  # fmt: skip
    text = "\n".join(shown)
    assert not re.search(r"stopped|failed|shown\b|repetition|computed", text)


def test_the_bar_of_training_speaks_the_language_that_is_spoken():
    one = SimpleNamespace(active=True, settled=False, job=SimpleNamespace(method="a"))
    other = SimpleNamespace(active=True, settled=True, job=SimpleNamespace(method="b"))
    watched: Any = {"a": one, "b": other}
    assert total.sentence(watched, 660.0) == "Training: 1 of 2 methods · about 11 min"
    ready: Any = {"b": other}
    assert total.sentence(ready, None) == "More repetitions"
    assert total.sentence(ready, 11.0, 3) == "3 repetitions so far · about 11 s"
    assert total.sentence(ready, None, 1) == "1 repetition so far"
    assert total.sentence(watched, None, 3) == "Training: 1 of 2 methods"
    with messages.spoken("zh"):
        assert total.sentence(watched, 660.0) == "训练：已完成 1 / 2 种方法 · 约 11 分钟"
    with messages.spoken("de"):
        assert total.sentence(watched, 7560.0) == "Training: 1 von 2 Verfahren fertig · etwa 2,1 h"


def test_what_was_trained_is_counted_by_trainings_in_every_language(home: Path):
    play(home, preview.page().jobs["out_pert"])
    (run,) = Client(home, workers=False).runs()
    run = replace(run, worked=0.2)  # on any machine, however fast it is
    said = f"{run.job.replicas():,} trainings computed in under a second"
    assert f"1 method, {said}; {len(run.diverged)} trainings diverged" in summary([run])
    with messages.spoken("de"):
        told, often = summary([run]), messages.figures(f"{run.job.replicas():,}")
    assert f"1 Verfahren, {often} Trainings berechnet in unter einer Sekunde" in told
    assert left([told]) == []


def test_a_day_is_written_as_the_language_writes_it():
    at = 1_795_600_000.0
    assert day(at) == "25 Nov 2026"
    days = {
        "de": "25. Nov. 2026",
        "es": "25 nov 2026",
        "fr": "25 nov. 2026",
        "zh": "2026年11月25日",
    }
    for code in OTHERS:
        with messages.spoken(code):
            assert day(at) == days[code]


def test_an_english_sentence_keeps_its_nouns_and_figures():
    with messages.spoken("de"):
        assert words.plural(1234, "repetition") == "1,234 repetitions"
        assert words.duration(7560.0) == "2.1 h"
        assert words.counted(1234, "repetition") == "1.234 Wiederholungen"
        assert words.lasting(7560.0) == "2,1 h"
        assert words.named(["a", "b", "c"]) == "a, b und c"


@pytest.mark.thorough
def test_english_captions_of_a_page_hold_no_words_of_another_language(visit: Open, home: Path):
    for job in defaults.opening("survival").values():
        play(home, job)
    captions = [one.value for one in visit("survival", lang="de").caption]
    (band,) = (one for one in captions if "four times in five" in one)
    assert re.search(r"four times in five \(\d+ repetitions\)", band)


@pytest.mark.parametrize("code", OTHERS)
def test_the_tables_of_learn_are_in_the_language(visit: Open, code: str):
    (table, *_) = visit("learn", lang=code).table
    assert len(table.value) > 10
    rows = table.value.drop(columns=messages.catalogue(code)["Source"])
    assert left([*map(str, rows.columns), *map(str, rows.to_numpy().ravel())]) == []


@pytest.mark.thorough
def test_german_learn_names_its_charts_and_answers_in_german(visit: Open):
    test = answered(visit("learn", lang="de"), count=0)
    assert any("Sie sagten **50**. Es ist **61**." in one for one in said(test))
    titles = [one["layout"]["xaxis"]["title"]["text"] for one in charts(test)]
    assert titles[:2] == ["Mittelwert [mg/dL]", "Veröffentlichte Zahl"]
    assert any("weicht die Zahl im Mittel um 2 Personen ab" in one for one in said(test))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("code", "off", "costs"),
    [
        ("en", "the count is off by 1 person on average", "One answer costs ε = 0.1."),
        ("de", "weicht die Zahl im Mittel um 1 Person ab", "Eine Antwort kostet ε = 0,1."),
        pytest.param(
            "es",
            "se desvía en promedio 1 persona, y",
            "Una respuesta cuesta ε = 0,1.",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            "fr",
            "s’écarte en moyenne de 1 personne, et",
            "Une réponse coûte ε = 0,1.",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_learn_counts_one_person_and_one_answer_as_one(
    visit: Open, code: str, off: str, costs: str
):
    at = {"learn.count": "1", "learn.answers": "1"}
    text = "\n".join(said(answered(visit("learn", lang=code, **at))))
    assert off in text
    assert costs in text


def test_a_chart_is_told_what_its_buttons_say():
    assert plot.words() == {}
    with messages.spoken("de"):
        assert plot.words()["Full screen"] == "Vollbild"
        assert set(plot.words()) == set(plot.BUTTONS)


def test_an_unknown_language_is_english(visit: Open):
    test = visit("learn", lang="xx")
    assert not test.exception
    assert test.title[0].value == "Learn: what ε means"
    assert "lang" not in test.query_params


@pytest.mark.parametrize("code", OTHERS)
def test_findings_of_papers_are_in_the_language(code: str):
    from pages.ui.paper import sketches

    for slug, one in sketches.read().items():
        assert set(one.found) == set(messages.languages()), slug
        assert one.found[code] != one.found["en"], slug


def test_declared_words_are_gathered():
    wanted = gather.texts()
    assert {one.text for one in QUESTIONS} <= wanted
    assert {one.title for one in SCREENS.values()} <= wanted
    assert set(glossary.TERMS.values()) <= wanted


SAID = {
    r"\bsensitivity\b": {"de": "Sensitivität", "fr": "sensibilité", "es": "sensibilidad",
                         "zh": "敏感度"},
    r"\b(proofs?|proved)\b": {"de": "beweis|bewies", "fr": "preuve|prouv", "es": "demostr",
                              "zh": "证明"},
    r"no proof covers": {"de": "kein Beweis deckt", "fr": "aucune preuve ne couvre",
                         "es": "ninguna demostración cubre", "zh": "没有任何证明涵盖"},
    r"\bfalse alarms\b": {"de": "Fehlalarm", "fr": "fausses alarmes", "es": "falsas alarmas",
                          "zh": "误报"},
    r"\bmisses\b": {"de": "übersehene", "fr": "cas manqués", "es": "omisiones", "zh": "漏报"},
    r"\bpredicted chances?\b": {"de": "Wahrscheinlichkeit", "fr": "probabilité",
                                "es": "probabilidad", "zh": "概率"},
    r"failure probability": {"de": "Fehlerwahrscheinlichkeit", "fr": "probabilité d’échec",
                             "es": "probabilidad de fallo", "zh": "失败概率"},
    r"noise for bias": {"de": "verringert das Rauschen", "fr": "réduit le bruit",
                        "es": "reduce el ruido", "zh": "更少的噪声"},
    r"\boutput noise\b": {"de": "Ausgaberauschen", "fr": "bruit sur la sortie",
                          "es": "ruido de salida", "zh": "输出噪声"},
    r"\bbudget ratio\b": {"de": "Budgetverhältnis", "fr": "rapport des budgets",
                          "es": "razón de presupuestos", "zh": "预算比"},
    r"\bprivate descent\b": {"de": "Gradienten", "fr": "gradient", "es": "gradiente",
                             "zh": "梯度"},
    r"\btraining times M\b": {"de": "Trainingszeitpunkte", "fr": "instants d’entraînement",
                              "es": "instantes de entrenamiento", "zh": "训练时刻"},
    r"computing the private answer": {"de": "wird berechnet", "fr": "calcul", "es": "calculando",
                                      "zh": "计算"},
    r"somebody else takes her place": {"de": "an ihrer Stelle", "fr": "à sa place",
                                       "es": "en su lugar", "zh": "代替她"},
    r"how to embed it": {"de": "einbettet", "fr": "intégrer", "es": "insertar", "zh": "嵌入"},
    r"^line$": {"de": "Gerade", "fr": "droite", "es": "recta", "zh": "直线"},
    r"photograph of an article": {"de": "Modeartikel", "fr": "article de mode",
                                  "es": "artículo de moda", "zh": "商品"},
}  # fmt: skip
"""What an English term is called in each language, wherever it stands."""
UNSAID = {
    "de": r"Münzwurf|\bwas was war\b|dazubringt|Chancen von 100|Das Meiste, was|fragt zuerst Sie"
    r"|Neu bei ε",
    "fr": r"pile ou face|en déduit|pour qui devine|\bchances sur 100",
    "es": r"lanzando su|en unos \{|proporcional a ella|Las probabilidades de cada 100",
    "zh": r"掷币|地图上的",
}
"""What a statistician would read in another way, or as no sentence of the language."""
NOT = {"de": "nicht", "fr": "pas", "es": r"\bno\b", "zh": "不|并非|没有"}


@pytest.mark.parametrize("code", OTHERS)
def test_a_term_has_one_name_in_a_language(code: str):
    kept = entries(code)
    for term, names in SAID.items():
        meant = [text for text in kept if re.search(term, text, re.IGNORECASE)]
        assert meant, term
        assert [kept[one] for one in meant
                if not re.search(names[code], kept[one], re.IGNORECASE)] == []  # fmt: skip
    assert [text for text in kept.values() if re.search(UNSAID[code], text)] == []


@pytest.mark.parametrize("code", OTHERS)
def test_a_negation_in_bold_stays_in_bold(code: str):
    meant = {text: one for text, one in entries(code).items() if re.search(r"\*\*not ", text)}
    assert meant
    for text, one in meant.items():
        assert re.search(NOT[code], " ".join(re.findall(r"\*\*(.+?)\*\*", one))), text


@pytest.mark.parametrize("code", OTHERS)
def test_a_chart_that_no_static_page_has_is_said_in_two_sentences(code: str):
    (one,) = (one for text, one in entries(code).items() if text.startswith("The static pages do"))
    assert len(re.findall(r"[.。]", one)) == 2
    assert not re.search("[:：]", one)


@pytest.mark.thorough
@pytest.mark.parametrize("code", OTHERS)
def test_a_claim_follows_a_colon(visit: Open, code: str):
    """A claim begins as a sentence does, with an article and a capital in some languages."""
    own = entries(code)
    claims = [own[one.claim] for one in shell.papers().values()]
    shown = [one for one in said(answered(visit("learn", lang=code)))
             if any(one.endswith(claim) for claim in claims)]  # fmt: skip
    assert shown
    assert [one for one in shown if not re.match(r"\*\*[^*]+[:：]\*\* ?", one)] == []


def test_german_home_says_no_bound_of_almost():
    with messages.spoken("de"):
        right = home.text("right", most=words.out_of_100(0.9999)).replace("**", "")
    assert "fast 100 von 100" in right
    assert "höchstens fast" not in right
