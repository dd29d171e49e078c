"""A guarantee in the form of the public registry of deployments, with its gaps named.

The Differential Privacy Deployments Registry (registry.opendp.org; Nanayakkara, Ghazi and Vadhan
2025, arXiv 2509.13509) asks for three tiers of information. What only the curator of the data can
say is None here, and its fields are listed, so that nobody takes a gap for an answer.
"""

from typing import Any

from datasets.base import Card
from engine.privacy.guarantee import RELATIONS, STATUSES, Guarantee

CURATOR = ("curator", "intended_use", "publication_date", "links")
"""Fields of the first tier that only the curator can fill."""
SECURITY = ("access_to_raw_data", "code_review", "side_channels", "parameter_choice_rationale")
"""Fields of the third tier that only the curator can fill."""


def entry(card: Guarantee, described: Card, software: str) -> dict[str, Any]:
    """The registry's entry of one release, by tier.

    Args:
        card: What is guaranteed.
        described: The data set.
        software: Name and version of what made the release.
    """
    bounds = described.bounds
    return {
        "tier_1": {
            **dict.fromkeys(CURATOR),
            "data_product": ", ".join(card.released),
            "data_source": described.title,
        },
        "tier_2": {
            "flavor": "pure differential privacy" if card.delta == 0 else "approximate (ε, δ)",
            "privacy_unit": card.unit,
            "epsilon": card.epsilon_proved,
            "delta": card.delta,
            "deployment_model": "central",
        },
        "tier_3": {
            "neighbouring_relation": RELATIONS[card.relation],
            "data_domain": None if bounds is None else bounds.covariates,
            "unprotected_quantities": described.public,
            "mechanism": card.mechanism,
            "sampling": card.sampling or None,
            "accounting": card.accountant,
            "composition": "one release; further releases from the same records add up",
            "post_processing": "allowed without limit",
            "status_of_the_proof": STATUSES[card.status],
            "arguments": card.reasons,
            "not_covered": card.limits,
            "implementation": software,
            **dict.fromkeys(SECURITY),
        },
        "unfilled": [f"tier_1.{name}" for name in CURATOR]
        + [f"tier_3.{name}" for name in SECURITY]
        + (["tier_3.data_domain"] if bounds is None else []),
    }
