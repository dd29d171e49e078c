"""Whose claim a card states: what a paper does not claim is not said to be its claim."""

import pytest

from engine.catalog import catalog

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


def test_batches_that_need_the_number_of_records_say_that_it_is_public():
    paper = catalog()["pcdbn"]
    card = paper.entry("psgd").guarantee(paper.spec(), RECORDS, "a person")
    assert any(reason.startswith("The number of records is public") for reason in card.reasons)
