"""What a first visit asks for, as a list, is what the pages ask for when they are opened."""

import pytest

from engine.catalog import catalog
from engine.service.client import Client
from pages.ui.kit import shell
from pages.ui.paper import defaults
from pages.ui.paper.view import Layout
from tests.pages.conftest import Open

PAGES = ("", *sorted(shell.papers()))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_with_jobs_of_the_list(visit: Open, page: str):
    assert not visit(page).exception
    asked = {run.id for run in Client(workers=False).runs()}
    assert asked
    assert asked <= set(defaults.everything())


def test_every_paper_with_a_page_is_in_the_list():
    assert {job.paper for job in defaults.everything().values()} == set(shell.papers())


def test_a_page_without_a_layout_of_its_own_is_the_common_one():
    assert defaults.layout("nobody") == Layout()
    assert all(entry.name in defaults.opening("lvq") for entry in catalog()["lvq"].methods)
