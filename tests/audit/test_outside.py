"""An attacker who sees what is published alone, and likelihoods that may be added up."""

import json

import numpy as np
import pytest

import epsilon_explorer
from engine.audit.outside import Known, SharedError, UnseenError, independent, published
from engine.audit.training import Setting
from engine.catalog import catalog, paper
from engine.cli.main import main
from engine.core.errors import RequestError
from engine.runs.job import request
from engine.service.client import Client
from engine.service.job_runner import perform
from tests.audit import small
from tests.engine.conftest import claimed

PRIVATE = [(one, entry) for one in catalog().values() for entry in one.methods if entry.witness]


SEEN = (
    "a histogram without noise",
    "half of a histogram without noise",
    "edges from the data",
    "an exact count",
    "an order from the data",
    "a measure of the records",
)
"""What gives itself away to a person who has the published numbers alone."""


@pytest.mark.parametrize("fault", ["", *SEEN])
def test_who_sees_what_is_published_catches_an_exact_mutant(fault, outside, capsys):
    asked = ["audit", outside(fault), "laplace", "--sees", "published", "--replicas", "100"]
    assert main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sees"] == "published"
    assert found["statistic"].partition(",")[0] in (
        *("histogram", "edges", "mean", "above", "order", "bias", "all published numbers"),
    )
    assert found["broken"] is bool(fault)
    assert found["replicas"] == 100


def test_a_mutant_that_breaks_off_where_the_maximum_is_gone_is_caught(outside, capsys):
    """Its bound follows the data's maximum: of values that are all 0 it can make no histogram."""
    asked = ["audit", outside("a bound of at most the data's maximum"), "laplace", "--sees"]
    assert main([*asked, "published", "--replicas", "20"]) == 1
    assert "expected a run to end alike on neighbours" in capsys.readouterr().err


def test_an_audit_says_that_it_sees_everything(capsys):
    assert main(["audit", "mean", "laplace", "--replicas", "60", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sees"] == "everything"
    assert main(["audit", "mean", "laplace", "--replicas", "60", "--sees", "published"]) == 0
    assert "sees what is published alone" in capsys.readouterr().out


@pytest.mark.parametrize(("fault", "shared"), [("", False), ("one seed for two releases", True)])
def test_likelihoods_of_a_mutant_that_shares_noise_are_not_added_up(fault, shared, outside, capsys):
    slug = outside(fault)
    entry = paper(slug).entry("laplace")
    setting = Setting.of(entry, paper(slug).spec(), small.people())
    if shared:
        with pytest.raises(SharedError, match="noise that two releases share"):
            independent(setting)
    else:
        independent(setting)
    assert main(["audit", slug, "laplace", "--replicas", "60"]) == int(shared)
    assert ("must not be added up" in capsys.readouterr().err) is shared


def test_noise_that_is_no_release_is_said_on_the_command_line_and_on_a_page(
    outside, tmp_path, monkeypatch, capsys
):
    """Its releases are declared and none is made, so there is no score to attack by."""
    slug = outside("noise that is no release")
    assert main(["audit", slug, "laplace", "--replicas", "60"]) == 1
    assert "engine.privacy.noise.release" in (told := capsys.readouterr().err)
    assert len(told.splitlines()) == 1
    assert main(["audits", slug, "laplace", "--replicas", "60", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["audits"]
    assert "engine.privacy.noise.release" in row["reason"]
    with pytest.raises(UnseenError, match="makes none"):
        epsilon_explorer.audit(slug, "laplace", replicas=60)
    job = request(slug, "laplace", "flchain", {}, seeds=range(60), audit=True)
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    client = Client(workers=False)
    try:
        assert perform(claimed(client.store, job)) == "failed"
        assert "engine.privacy.noise.release" in client.run(job.id).error
    finally:
        client.close()


@pytest.mark.parametrize(
    ("one", "entry"), PRIVATE, ids=[f"{one.slug}-{entry.name}" for one, entry in PRIVATE]
)
@pytest.mark.thorough
def test_every_method_draws_noise_of_its_own_for_each_release(one, entry):
    independent(Setting.of(entry, small.spec(one), small.table(one)))


def test_the_score_is_the_likelihood_ratio_of_normal_numbers():
    rng = np.random.default_rng(0)
    known = Known.of(rng.normal(0.0, 1.0, (4000, 3)), rng.normal(0.5, 1.0, (4000, 3)))
    seen = rng.normal(0.0, 1.0, (5, 3))
    exact = ((seen**2 - (seen - 0.5) ** 2) / 2.0).sum(1)
    np.testing.assert_allclose(known.score(seen), exact, atol=0.5)
    with np.errstate(all="raise"):
        still = Known.of(np.zeros((4, 1)), np.ones((4, 1)))
        assert still.score(np.array([[0.0]])) < 0.0 < still.score(np.array([[1.0]]))


def test_a_method_that_publishes_nothing_has_no_such_attacker():
    one = paper("survival")
    setting = Setting.of(one.entry("km_dp"), small.spec(one), small.people())
    with pytest.raises(RequestError, match="publishes numbers"):
        published(setting, {}, 12)
