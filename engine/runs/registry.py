"""A guarantee in the form of the public registry of deployments, with its gaps named.

The Differential Privacy Deployments Registry (registry.opendp.org; Nanayakkara, Ghazi and Vadhan
2025, arXiv 2509.13509) takes one YAML file for each deployment. The names of the fields are those
of its schema of early 2026 (`dp_variant`, `deployment_model`). What only the curator of the data
can say is None here, and its fields are listed, so that nobody takes a gap for an answer.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from datasets.base import Card
from engine.privacy.guarantee import RELATIONS, STATUSES, Guarantee

Entry = dict[str, Any]


def entry(
    card: Guarantee, software: str, *, title: str, records: int | None, public: str = "",
    domain: object = None,
) -> Entry:  # fmt: skip
    """The registry's entry of one release.

    Args:
        card: What is guaranteed.
        software: Name and version of what made the release.
        title: What the data are called.
        records: How many units of privacy there are; None where nobody has counted them.
        public: What of the data is not protected.
        domain: The bounds of the data, if they are stated.
    """
    return {
        "url_slug": re.sub(r"[^a-z0-9]+", "-", f"{title} {software}".lower()).strip("-"),
        "deployment": {
            "basic": {
                "name": title, "data_curators": None, "description": ", ".join(card.released),
                "intended_use": None, "data_product_type": None, "data_product_region": None,
                "data_product_sector": None, "publication_date": None,
            },
            "dp_variant": {
                "variant_name": _variant(card),
                "data_domain": None if domain is None else str(domain),
                "unprotected_quantities": public or None,
            },
            "privacy_loss": _loss(card, records),
            "deployment_model": {
                "model_name": "Central", "trust_assumptions": None, "actors": None,
                "release_type": "One release", "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": None,
                "mechanisms": ". ".join(filter(None, (card.mechanism, card.sampling, software))),
                "composition": card.accountant or None,
                "post_processing": "Allowed without limit",
                "justification": " ".join(card.reasons) or None,
                "additional_information": "Not covered: " + " ".join(card.limits),
            },
            "administrative": {
                "evidence_sources": {}, "status": "Draft", "registry_authors": None, "tier": 3,
            },
        },
    }  # fmt: skip


def _proved(card: Guarantee) -> float | None:
    """The finite ε that is proved; None where there is none."""
    proved = card.epsilon_proved
    return proved if proved is not None and math.isfinite(proved) else None


def _variant(card: Guarantee) -> str:
    """Which kind of differential privacy is proved."""
    if _proved(card) is None:
        return "None proved"
    return "Approximate DP" if card.delta or card.failure else "Pure DP"


def _loss(card: Guarantee, records: int | None) -> Entry:
    """What is stated of the loss of privacy, and for whom."""
    proved, delta = _proved(card), {"delta": card.delta} if card.delta else {}
    return {
        "privacy_unit": card.unit, "privacy_unit_details": RELATIONS[card.relation],
        "number_of_privacy_units": records,
        "privacy_parameters": {} if proved is None else {"epsilon": proved, **delta},
        "privacy_parameters_details": _status(card),
    }  # fmt: skip


def _status(card: Guarantee) -> str:
    """The status of the proof, and what is claimed where that is another number."""
    said = STATUSES[card.status]
    if card.epsilon_claimed is None or card.epsilon_claimed == card.epsilon_proved:
        return said
    return f"{said}. {card.claimant}: epsilon = {card.epsilon_claimed:g}"


def unfilled(told: Mapping[str, Any], way: str = "") -> Iterator[str]:
    """The fields of an entry that only the curator can fill, with dots between their parts."""
    for name, value in told.items():
        if value is None:
            yield f"{way}{name}"
        elif isinstance(value, Mapping):
            yield from unfilled(value, f"{way}{name}.")


def of(card: Guarantee, described: Card, software: str) -> dict[str, Any]:
    """The entry of a release from a data set, beside its gaps."""
    bounds = described.bounds
    told = entry(
        card, software, title=described.title,
        records=described.records if described.rows == 1 else None,  # of persons with several rows
        public=described.public, domain=None if bounds is None else bounds.covariates,
    )  # fmt: skip
    return {"entry": told, "unfilled": list(unfilled(told))}


def text(told: Entry) -> str:
    """An entry as the YAML that the registry takes; its gaps are named at the top."""
    import yaml

    gaps = "".join(f"#   {name}\n" for name in unfilled(told))
    head = f"# To be filled in by the curator of the data:\n{gaps}" if gaps else ""
    body: str = yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=100)
    return head + body
