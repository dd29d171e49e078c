"""Learn without a server: each screen asks, and then shows what the app draws at every stop."""

import json
from html import escape
from typing import Any

from pages.ui.bundle.collect import quiet
from pages.ui.bundle.drawn import split
from pages.ui.jobs.live import Watched
from pages.ui.jobs.submit import look
from pages.ui.kit import glossary, labels
from pages.ui.kit.chart import picture
from pages.ui.kit.markdown import html, paragraphs
from pages.ui.learn import game, maths, pictures
from pages.ui.learn.ask import AFTER, BEFORE, gain
from pages.ui.learn.declared import QUESTIONS, QUIZ, SCREENS, WORDS, Screen, filled, option
from pages.ui.learn.figures import game as drawn
from pages.ui.learn.page import RUN
from pages.ui.messages import figures, tr
from pages.ui.site.frame import choice, embed, slider

TEMPLATES = {key: f"{{{key}}}" for key in ("score", "next", "right", "played", "then", "now")}
"""Numbers that only the visitor's browser knows: their places stay."""


def data() -> dict[str, Any]:
    """What the script of the page moves: every screen at every stop, and every verdict."""
    quiet()
    return {
        "screens": [stops(one) for one in SCREENS.values()],
        "answers": [one.answer - 1 for one in QUESTIONS],
        "marks": [filled(QUIZ["wrong"]), filled(QUIZ["right"])],
        "gains": [[html(gain(then, now)) for now in range(len(QUESTIONS) + 1)]
                  for then in (None, *range(len(QUESTIONS) + 1))],
        "choose": filled(WORDS["choose"]),
    }  # fmt: skip


def stops(screen: Screen) -> dict[str, Any]:
    """One screen: its verdicts by answer, and what it shows by stop."""
    job = maths.clipping()
    results = Watched("", job, look(job)).results if screen.name == RUN else None
    every, right = pictures.options(screen), pictures.truth(screen, results)
    shown = [pictures.DRAWN[screen.name](screen, stop, results) for stop in every]
    told = [screen.says("finding", {**TEMPLATES, **one.facts}) for one in shown]
    charts = [
        json.loads(picture(one.figure, said, one.rows, one.budget).text)
        for one, said in zip(shown, told, strict=True)
        if one.figure is not None
    ]
    base, frames = split(charts) if charts else (None, [])
    verdicts = [
        html(pictures.verdict(screen, at, right)) for at in range(len(pictures.asked(screen)))
    ]
    return {
        "name": screen.name, "key": screen.control.key, "stops": every,
        "texts": [*map(figures if screen.control.options else labels.label, every)],
        "first": every.index(pictures.first(screen)), "verdicts": verdicts,
        "said": [html(one) for one in told], "base": base, "frames": frames,
        "asked": list(map(option, pictures.asked(screen))),
        "images": [one.image for one in shown], "more": [paragraphs(one.more) for one in shown],
        "captions": [html(screen.says("caption", one.facts)) for one in shown],
        "game": _game(screen) if screen.plays else None,
    }  # fmt: skip


def _game(screen: Screen) -> dict[str, Any]:
    """What the game needs: its two means, its sentences, and a chart to move the cross in."""
    names = {key: screen.says(key) for key in ("inside", "outside", "published", "x")}
    sentences = ("none", "score", "begin", "win", "lose", "on", "hit", "miss", "was", "wasnot")
    return {
        "others": maths.OTHERS, "step": maths.STEP, "lost": maths.LOST, "few": game.FEW,
        "sure": game.SURE, "many": game.MANY, "rounds": game.LOST,
        "said": {key: html(screen.says(key, TEMPLATES)) for key in sentences},
        "figure": json.loads(
            picture(drawn(maths.OTHERS + 0.5 * maths.STEP, names), "", (), 0.0).text
        ),
    }  # fmt: skip


def body() -> str:
    """The page before its script has run."""
    screens = "".join(_section(i, one) for i, one in enumerate(SCREENS.values(), 1))
    terms = "".join(
        f'<dt id="{glossary.anchor(name)}">{escape(tr(name))}</dt><dd>{html(tr(text))}</dd>'
        for name, text in glossary.TERMS.items()
    )
    return (
        f"<h1>{escape(tr('Learn: what ε means'))}</h1><p>{html(filled(WORDS['intro']))}</p>"
        f'<p class="small">{html(filled(WORDS["session"]))}</p>'
        f"{_quiz(BEFORE)}{screens}{_quiz(AFTER)}<h2>{escape(tr('Glossary'))}</h2><dl>{terms}</dl>"
    )


def _form(name: str, inner: str, send: str, skip: str) -> str:
    """A question; the page's script enables its buttons once they do something."""
    return (
        f'<form class="ask" data-name="{name}">{inner}<p class="warning" role="status"></p>'
        f'<button type="submit" disabled>{escape(send)}</button> '
        f'<button type="button" class="skip" disabled>{escape(skip)}</button></form>'
    )


def _radio(name: str, text: str, options: list[str]) -> str:
    inner = "".join(
        f'<label><input type="radio" name="{name}" value="{i}"> {escape(one)}</label>'
        for i, one in enumerate(options)
    )
    return f"<fieldset><legend>{escape(text)}</legend>{inner}</fieldset>"


def _section(number: int, screen: Screen) -> str:
    """One screen: its text, its question, and the hidden place of what it shows."""
    told = list(map(option, pictures.asked(screen)))
    text = filled(screen.ask.text, pictures.named(screen))
    question = (
        slider(f"ask-{screen.name}", text, len(told), len(told) // 2)
        if screen.ask.slider else _radio(f"ask-{screen.name}", text, told)
    )  # fmt: skip
    label, stops = filled(screen.control.label), pictures.options(screen)
    if screen.control.lists:
        control = choice(screen.name, label, map(labels.label, stops))
    else:
        control = slider(screen.name, label, len(stops), stops.index(pictures.first(screen)))
    buttons = "".join(
        f'<button type="button" data-guess="{key}">{escape(screen.says(key))}</button> '
        for key in ("yes", "no", "many")
    )
    return (
        f'<section class="screen" id="screen-{screen.name}" data-chart="{screen.control.name}">'
        f"<h2>{number}. {escape(filled(screen.title))}</h2><p>{html(filled(screen.text))}</p>"
        f"{_form(screen.name, question, filled(WORDS['show']), filled(WORDS['pass']))}"
        f'<div class="shown" hidden><p class="verdict" role="status"></p>{control}'
        '<div class="image"></div><p class="said" aria-live="polite"></p><div class="chart"></div>'
        f"{f'<p>{buttons}</p><p class=last role=status></p>' if screen.plays else ''}"
        f'<div class="more"></div><p class="small caption"></p>'
        f"{embed(screen.control.name)}</div></section>"
    )


def _quiz(when: str) -> str:
    """The five questions before or after, and the place of their answers."""
    inner = "".join(
        _radio(f"{when}-{i}", filled(one.text), list(map(option, one.options)))
        for i, one in enumerate(QUESTIONS)
    )
    how = filled(QUIZ["how" if when == BEFORE else "again"])
    if when == BEFORE:
        after = "".join(
            f'<p data-kind="{key}" hidden>{escape(filled(QUIZ[key]))}</p>'
            for key in ("kept", "skipped")
        )
    else:
        listed = "".join(
            f"<li><span></span> {escape(filled(one.text))}<br><strong>"
            f"{escape(option(one.options[one.answer - 1]))}</strong>. {escape(filled(one.why))}"
            "</li>"
            for one in QUESTIONS
        )
        after = f'<div hidden><p class="gain" role="status"></p><ol>{listed}</ol></div>'
    form = _form(when, f"<p>{escape(how)}</p>{inner}", filled(QUIZ["send"]), filled(QUIZ["pass"]))
    return f'<section class="quiz"><h2>{escape(filled(QUIZ[when]))}</h2>{form}{after}</section>'
