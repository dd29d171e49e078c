"""How often a guess about one record can be right at most: one number for the whole app."""

import hashlib

from engine.audit import limits
from engine.privacy.answers import answer
from engine.privacy.guarantee import Guarantee
from pages.ui.kit.late import Asked
from pages.ui.paper.view import View
from pages.ui.words import best_guess


def of(asked: Asked, guarantee: Guarantee) -> float | None:
    """The largest share of right guesses that a proof allows; None where it allows any.

    It follows from the whole trade-off curve, which is tighter than (ε, δ), by one rule for every
    budget: so it rises with ε.

    Guarantees:
        No test is right more often than (1 + delta(0))/2, whatever its threshold
        (`engine.audit.limits`). Of a person with several rows the bound is that of (ε, δ).
    """
    entry, spec, data = asked
    if guarantee.epsilon_proved is None:
        return None
    if data.rows > 1:
        return best_guess(guarantee.epsilon_proved, guarantee.delta)
    releases = entry.releases(spec, data.records)
    text = f"right {releases!r} {guarantee.relation} {guarantee.epsilon_proved!r} {guarantee.delta}"
    width = entry.width(spec, data)
    text += f" {width}" if width else ""
    code = hashlib.sha256(text.encode()).hexdigest()[:16]

    def work() -> float:
        most = limits.allowed(guarantee, releases, width)
        return 1.0 if most is None else most.share

    return answer(code, work)


def share(view: View, method: str = "") -> float | None:
    """The same of a method at the budget under the slider; of the one that is looked at if none."""
    name = method or view.method
    return of(view.asked(name, view.budget), view.guarantee(name))
