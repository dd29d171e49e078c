"""Whose claim a card states: what a paper does not claim is not said to be its claim."""

import pytest

from engine.catalog import catalog
from engine.core.spec import knobs

RECORDS = 1_797
RIVALS = [
    (paper.slug, entry.name)
    for paper in catalog().values()
    for entry in paper.methods
    if entry.role == "rival" and entry.witness
]


@pytest.mark.parametrize(("slug", "name"), RIVALS)
def test_a_rival_claims_for_its_own_authors(slug, name):
    """Unless the paper states an epsilon of it, as it does of its own method."""
    paper = catalog()[slug]
    card = paper.entry(name).guarantee(paper.spec(), RECORDS, "a person")
    if card.epsilon_claimed is not None and card.claim != CLAIMS.get(slug):
        assert not card.claimant.startswith("The paper")


CLAIMS = {
    slug: paper.methods[0].guarantee(paper.spec(), RECORDS, "a person").claim
    for slug, paper in catalog().items()
}


def test_a_claim_of_each_step_says_so():
    paper = catalog()["enadpp"]
    card = paper.entry("appdl").guarantee(paper.spec(), RECORDS, "a person")
    assert card.claimant == "Zhang et al. claim, of each step"


@pytest.mark.parametrize("calibration", ["paper", "rigorous"])
def test_what_a_paper_claims_approximately_is_not_said_to_be_claimed_outright(calibration):
    """Nguyen and Hui disclaim a proof of what their chain draws, and claim that of exact draws."""
    paper = catalog()["survival"]
    spec = paper.spec(calibration=calibration)
    told = {
        name: paper.entry(name).guarantee(spec, RECORDS, "a person")
        for name in ("out_pert", "obj_pert", "psgld", "exact")
    }
    chain = told.pop("psgld")
    assert chain.claimant == "The paper claims approximately, in practice"
    assert (
        "“the sampling approach does not mathematically guarantee differential privacy but only "
        "guarantees it approximately in practice”"
    ) in chain.claim
    assert {card.claimant for card in told.values()} == {"The paper claims"}
    assert "approximately, in practice" in paper.claim


PLACES = {
    ("pcdbn", "activation"): "Sections 3.1 and 3.4",
    ("pcdbn", "pooling"): "Section 3.2",
    ("pcdbn", "optimiser"): "Section 3.2",
    ("pcdbn", "filters"): "Equation 4",
    ("pcdbn", "filter_size"): "Section 2.2",
    ("pcdbn", "epochs"): "Section 4.2",
    ("pcdbn", "hidden"): "Section 4.2",
    ("pcdbn", "sgd_epochs"): "Section 4.2: 18 at ε = 0.5",
    ("survival", "intervals"): "Section 2.2",
    ("survival", "knots"): "Section 3.2",
    ("survival", "solver"): "Section 4.1.1, Algorithm 1",
}
"""Where the papers have what a setting is. Of Phan et al., 2.2 has the network and its energy of
one record, 3.1 the logistic function's polynomial, 3.2 descent and pooling, 3.4 other activations,
and 4.2 MNIST. Of Nguyen and Hui, 2.2 has the intervals, 3.2 the spline, and 4.1.1 BFGS."""


@pytest.mark.parametrize(("slug", "field"), PLACES)
def test_a_setting_names_the_place_where_the_paper_has_it(slug, field):
    assert knobs(catalog()[slug].spec)[field].source == PLACES[slug, field]


@pytest.mark.parametrize("slug", ["pcdbn", "yesiwell"])
@pytest.mark.parametrize("calibration", ["paper", "rigorous"])
def test_a_claim_names_the_section_that_makes_it(slug, calibration):
    """Section 3 of Phan et al. presents the framework as private; Section 4 is the experiments."""
    paper = catalog()[slug]
    card = paper.entry("pcdbn").guarantee(paper.spec(calibration=calibration), RECORDS, "a person")
    assert card.claim.startswith("Section 3: ")


def test_batches_that_need_the_number_of_records_say_that_it_is_public():
    paper = catalog()["pcdbn"]
    card = paper.entry("psgd").guarantee(paper.spec(), RECORDS, "a person")
    assert any(reason.startswith("The number of records is public") for reason in card.reasons)
