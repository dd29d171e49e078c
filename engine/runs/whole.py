"""The whole guarantee behind a card, for the page that draws it and the exports that hold it."""

from typing import Any

import numpy as np

from datasets.base import Card
from engine.core.errors import BudgetError
from engine.core.spec import Spec
from engine.method import Entry
from engine.privacy.guarantee import Guarantee

EPSILONS, ALARMS = np.linspace(0.0, 10.0, 41), np.linspace(0.0, 1.0, 41)


def curves(entry: Entry[Any], spec: Spec, data: Card, card: Guarantee) -> dict[str, Any] | None:
    r"""\mu, \delta for every \varepsilon, and the fewest misses of a test, as JSON values.

    Args:
        entry: The method.
        spec: Its settings.
        data: The data set; a person may have several of its rows.
        card: What `entry.promise(spec, data)` says, which takes an accountant to find.

    Returns:
        `mu` (None where it is not exact), `epsilons` with `deltas`, and `false_alarms` with
        `misses`; None where nothing finite is proved.

    Guarantees:
        Of a person with m rows, \delta at \varepsilon is (1 + exp(\varepsilon / m) + ... +
        exp((m - 1) \varepsilon / m)) times that of a row at \varepsilon / m (Vadhan 2017, Lemma
        2.2), \mu is m times that of a row, and the power of a test is that of a row, applied m
        times (Dong et al. 2022, Theorem 2.14).
    """
    from engine.privacy.curves import deltas, misses, mu  # loads the accountant

    if card.epsilon_proved is None:
        return None
    event, rows = entry.cost(spec, data.records, entry.steps(spec, data.records)), data.rows
    try:
        by_row = deltas(event, EPSILONS / rows, card.relation)
        power = ALARMS
        for _ in range(rows):
            power = 1.0 - misses(event, power, card.relation)
    except BudgetError:
        return None
    lost = np.minimum(by_row * np.exp(np.outer(np.arange(rows), EPSILONS / rows)).sum(axis=0), 1.0)
    if lost[-1] >= 1.0:
        return None
    one = mu(event)
    return {
        "mu": None if one is None else rows * one,
        "epsilons": EPSILONS.tolist(),
        "deltas": lost.tolist(),
        "false_alarms": ALARMS.tolist(),
        "misses": (1.0 - power).tolist(),
    }
