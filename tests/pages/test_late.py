"""Prices that take an accountant seconds: another process works them out, and no page waits."""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from datasets import catalog as data_catalog
from engine.catalog import paper
from engine.core.errors import BudgetError, StoreError
from engine.privacy import accounting, answers
from engine.service import presence, pricing
from engine.service.store import Store
from pages.ui.kit import card, late, shell
from pages.ui.kit.access import client
from pages.ui.paper import defaults, foot, view
from tests.audit import planted
from tests.engine.conftest import until
from tests.pages.conftest import ROOT, Open
from tests.pages.played import play

RATE, EPOCHS = 0.005, 30.0
"""Settings that nothing ships for: prices ship for moves of one control."""
PROBE = """
import sys
from engine.service import pricing
pricing.main()
print(*[name for name in ("torch", "lifelines", "streamlit") if name in sys.modules])
"""


def asked(epsilon: float = 1.0) -> late.Asked:
    publication = paper("enadpp")
    spec = publication.spec(sample_rate=RATE, epochs=EPOCHS, epsilon=epsilon)
    return publication.entry("dpsgd"), spec, data_catalog.card("digits")


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has been asked or answered in this process."""
    monkeypatch.setattr(answers, "answers", {})
    monkeypatch.setattr(card, "_CARDS", {})
    monkeypatch.setattr(view, "_REFUSED", {})
    monkeypatch.setattr(late.DESK, "_open", set())
    monkeypatch.setattr(late.DESK, "_given_up", set())
    accounting._epsilon.cache_clear()


@pytest.fixture
def somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process is there that answers, some time; in this one the accountant may not be asked."""

    def never(*_: object) -> float:
        raise AssertionError("a page has asked the accountant")

    monkeypatch.setattr(pricing, "start", lambda store: True)
    monkeypatch.setattr(accounting, "_answer", never)


def test_a_page_is_drawn_before_its_prices_are_worked_out(visit: Open, somebody: None):
    page = visit("enadpp", **{"enadpp.sample_rate": str(RATE), "enadpp.epochs": str(EPOCHS)})
    assert not page.exception
    said = [one.value for one in page.markdown]
    assert foot.WORKING in said
    assert any("Working out what is proved: " in one.value for one in page.caption)
    first = pricing.waiting(client().store)[0]
    assert f'"sample_rate": {RATE}' in first  # the budget under the slider goes first


def test_what_is_asked_while_answers_are_read_is_no_answered_question(
    somebody: None, home: Path, monkeypatch: pytest.MonkeyPatch
):
    waiting = pricing.waiting

    def meanwhile(store: Store) -> list[str]:
        """Another session asks after the store has been read."""
        found = waiting(store)
        assert late.DESK.ask([asked()])
        return found

    monkeypatch.setattr(pricing, "waiting", meanwhile)
    late.DESK.look()
    assert late.DESK._open == {pricing.question(*asked())}  # still to be answered
    assert late.DESK.ask([asked()])  # not given up


def test_the_cards_that_sessions_share_are_changed_by_one_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
):
    class Held(dict[object, object]):
        def __setitem__(self, key: object, value: object) -> None:
            assert view._CHANGING.locked()
            super().__setitem__(key, value)

        def get(self, key: object, default: object = None) -> object:
            assert view._CHANGING.locked()
            return super().get(key, default)

    def refuse(*asked: object) -> None:
        raise BudgetError("too little")

    monkeypatch.setattr(view, "_KNOWN", Held())
    monkeypatch.setattr(view, "_REFUSED", Held())
    job = defaults.opening("mean")["laplace"]
    data = data_catalog.card(job.dataset)
    assert view.known(job, 1.0, data) is view.known(job, 1.0, data) is not None
    monkeypatch.setattr(card, "known", refuse)
    assert view.known(job, 2.0, data) is None
    assert view.refused(job, 2.0) is not None


@pytest.mark.thorough
def test_what_another_process_has_answered_is_read_from_the_store(home: Path):
    store, one = client().store, asked()
    pricing.ask(store, [pricing.question(*one)])
    pricing.work_out(store, pricing.question(*one))
    worked = dict(answers.answers)
    assert worked
    answers.answers.clear()
    card._CARDS.clear()
    accounting._epsilon.cache_clear()
    assert card.known(*one) is None
    pricing.read(store)
    there = card.known(*one)
    assert there is not None
    assert there.epsilon_proved in worked.values()
    assert pricing.waiting(store) == []


def test_urgent_questions_go_first_then_those_that_were_asked_last(home: Path):
    store = client().store
    pricing.ask(store, ["a", "b"])
    with store.database.writing() as connection:
        connection.execute("UPDATE questions SET asked = asked - 60")
    pricing.ask(store, ["c", "d"])
    pricing.ask(store, ["b"], urgent=True)
    assert pricing.waiting(store) == ["b", "c", "d", "a"]


def test_a_question_that_ends_in_an_error_is_asked_once(home: Path, somebody: None):
    one = asked()
    assert late.DESK.ask([one]) == {pricing.question(*one)}
    with client().store.database.writing() as connection:
        connection.execute("DELETE FROM questions")
    assert late.DESK.look() == set()
    assert late.DESK.ask([one]) == set()
    pricing.work_out(client().store, '["gone", "gone", "gone", {}]')  # is left without an answer


def test_without_another_process_a_card_is_worked_out_here():
    assert card.guarantee(*asked()).epsilon_proved == pytest.approx(1.0, rel=0.02)


@pytest.mark.slow
def test_the_process_answers_and_leaves_and_loads_nothing_heavy(home: Path):
    store, one = Store(home), asked(2.0)
    pricing.ask(store, [pricing.question(*one)])
    done = subprocess.run(
        [sys.executable, "-c", PROBE], cwd=ROOT, capture_output=True, text=True, check=True,
        env={**os.environ, "EXPLORER_HOME": str(home), "EXPLORER_IDLE_SECONDS": "0.3"},
    )  # fmt: skip
    assert done.stdout.split() == []
    assert pricing.waiting(store) == []
    assert pricing.read(store) > 0
    assert card.known(*one) is not None


CHANGES = """
import sys
from pathlib import Path
from engine.service import pricing
pricing.code = lambda: Path(sys.argv[1]).stat().st_mtime
pricing.main()
"""


def remove(folder: Path) -> None:
    """Removes a store, once; a process at work may put a file into it meanwhile."""

    def gone() -> bool:
        with suppress(OSError):
            shutil.rmtree(folder)
            return True
        return False

    until(gone)


@pytest.mark.slow
def test_a_process_of_an_earlier_version_leaves_its_questions_to_a_new_one(
    home: Path, tmp_path: Path
):
    source, store, one = tmp_path / "source", Store(home), asked(3.0)
    source.touch()

    def worker() -> int:
        return sum(row["pid"] for row in store.database.rows("SELECT pid FROM workers"))

    old = subprocess.Popen(
        [sys.executable, "-c", CHANGES, str(source)], cwd=ROOT,
        env={**os.environ, "EXPLORER_HOME": str(home), "EXPLORER_IDLE_SECONDS": "60"},
    )  # fmt: skip
    try:
        until(lambda: worker() == old.pid, 120.0)
        os.utime(source, (0, 0))
        pricing.ask(store, [pricing.question(*one)])
        assert old.wait(120.0) == 0
        until(lambda: pricing.waiting(store) == [], 120.0)
        assert worker() not in (0, old.pid)
        assert pricing.read(store) > 0
        assert card.known(*one) is not None
    finally:
        old.kill()
        new = worker()
        remove(home)  # the new one leaves too
        until(lambda: not (Path("/proc") / str(new)).exists() or new in (0, old.pid), 120.0)


def rows(store: Store) -> list[str]:
    with store.database.reading() as connection:
        return [row["code"] for row in connection.execute("SELECT code FROM prices ORDER BY rowid")]


@pytest.mark.parametrize(
    "change", ["value = 0.01", "sources = 'older'", "sources = '', crc = NULL"]
)
def test_a_stored_price_of_other_code_or_a_damaged_one_is_not_read(home: Path, change: str):
    store, one = client().store, asked()
    pricing.ask(store, [pricing.question(*one)])
    pricing.work_out(store, pricing.question(*one))
    worked, kept = dict(answers.answers), rows(store)
    with store.database.writing() as connection:
        connection.execute(f"UPDATE prices SET {change}")
    answers.answers.clear()
    after = pricing.read(store)
    assert answers.answers == {}
    accounting._epsilon.cache_clear()
    pricing.collect(store)
    assert rows(store) == kept[-1:]  # the last number is not given again
    pricing.work_out(store, pricing.question(*one))
    answers.answers.clear()
    pricing.read(store, after)  # who has read so far sees the new ones
    assert answers.answers  # what else was worked out on the way may be remembered
    assert answers.answers.items() <= worked.items()


def test_a_stored_price_replaces_no_other(home: Path, monkeypatch: pytest.MonkeyPatch):
    store, shipped = client().store, next(iter(answers._shipped()))
    with store.database.writing() as connection:
        connection.executemany(
            "INSERT INTO prices VALUES (?, 0.01, ?, ?)",
            [(code, pricing.accountants(), pricing._sum(code, 0.01)) for code in ("a", shipped)],
        )
    answers.answers["a"] = 3.0
    pricing.read(store)
    assert answers.answers == {"a": 3.0, shipped: answers._shipped()[shipped]}


@pytest.mark.parametrize("error", [RuntimeError("an accountant gave up"), MemoryError()])
def test_a_question_that_nobody_expected_to_fail_leaves_the_list(
    home: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
):
    def fails(slug: str) -> None:
        raise error

    store = client().store
    monkeypatch.setattr(pricing, "paper", fails)
    pricing.ask(store, [pricing.question(*asked())])
    pricing.work_out(store, pricing.waiting(store)[0])
    assert pricing.waiting(store) == []


def test_a_question_that_takes_too_long_is_given_up(home: Path, monkeypatch: pytest.MonkeyPatch):
    store, ended = client().store, list[str]()

    def lasts(slug: str) -> None:
        time.sleep(30)
        ended.append(slug)

    monkeypatch.setattr(pricing, "LIMIT", 0.1)
    monkeypatch.setattr(pricing, "paper", lasts)
    pricing.ask(store, [pricing.question(*asked())])
    pricing.work_out(store, pricing.waiting(store)[0])
    assert not ended
    assert pricing.waiting(store) == []


def test_only_so_many_questions_wait(home: Path, monkeypatch: pytest.MonkeyPatch):
    store = client().store
    monkeypatch.setattr(pricing, "MOST", 3)
    pricing.ask(store, ["a"], urgent=True)
    pricing.ask(store, ["b", "c", "d", "e"])
    assert pricing.waiting(store) == ["a", "b", "c"]


def test_the_accountant_leaves_with_its_store_and_does_not_make_it_again(tmp_path: Path):
    store = Store(tmp_path / "store")

    def serve() -> None:
        with suppress(StoreError):  # it was removed in the middle of a look
            pricing.serve(store, 60.0)

    working = threading.Thread(target=serve)
    working.start()
    until(lambda: presence.working(Store(store.folder), pricing.DEVICE))
    remove(store.folder)
    working.join(60.0)
    assert not working.is_alive()
    assert not store.folder.exists()


def test_what_has_no_curve_is_priced_once_nothing_trains(
    visit: Open, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pricing, "start", lambda store: True)
    page = visit("survival", **{"survival.knots": "10"})
    asked = pricing.waiting(client().store)
    assert not any("obj_pert_gauss" in one for one in asked)
    page.button(key="survival.stop").click().run()
    assert any("obj_pert_gauss" in one for one in pricing.waiting(client().store))


FAILS = (
    'if spec.epsilon > 3.0:\n        raise ZeroDivisionError("bang")\n    '
    "made, said = price.laplace_releases(spec, n), "
)
"""What stands at the beginning of a guarantee that fails for large budgets."""


def test_a_method_whose_price_fails_is_named_and_the_others_are_drawn(
    outside: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, home: Path
):
    monkeypatch.setitem(planted.FAULTS, "price", [("guarantees", FAILS.split("    ")[-1], FAILS)])
    slug = outside("price")
    for job in defaults.opening(slug).values():
        play(home, job)
    monkeypatch.setattr(shell, "outside", lambda: (slug,))
    test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    test.switch_page(shell.script(slug))
    test.query_params[f"{slug}.method"] = "Gaussian"
    test.run()
    assert not test.exception
    (error,) = [one.value for one in test.error]
    assert error == "Laplace: expected a guarantee, got ZeroDivisionError: bang (at ε = 3.2)."
    said = "\n".join(str(one.value) for one in test.markdown)
    assert "has an error of the mean of" in said
    assert "**Gaussian, with proof**" in said
