"""How often a guess about one record can be right at most: one number for the whole app."""

import hashlib

from engine.audit import limits
from engine.privacy.answers import answer
from engine.privacy.guarantee import Guarantee
from engine.runs import audits
from engine.runs.job import Job
from pages.ui.kit.late import Asked
from pages.ui.paper.view import View
from pages.ui.words import best_guess


def share(
    view: View, guarantee: Guarantee, attack: Job | None, method: str | None = None
) -> float | None:
    """The largest share of right guesses that the proof allows; None where it allows any.

    Args:
        view: The page, at the budget under the slider.
        guarantee: The card of the method.
        attack: The attack on it at this setting; the one that ships knows how many numbers are
            released, on which the bound may depend.
        method: The method; the one that is looked at if None.
    """
    row = None if attack is None else audits.fitting(attack)
    if row is not None and row.allowed is not None and row.epsilon_proved is not None:
        return row.allowed
    return of(view.asked(method or view.method, view.budget), guarantee)


def of(asked: Asked, guarantee: Guarantee) -> float | None:
    """The same of one card: by the whole trade-off curve, which is tighter than (ε, δ).

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
    code = hashlib.sha256(text.encode()).hexdigest()[:16]

    def work() -> float:
        most = limits.allowed(guarantee, releases)
        return 1.0 if most is None else most.share

    return answer(code, work)
