"""What an attack found and what a proof allows, in words. No torch."""

import math

IF_AS_DECLARED = "The ε that it shows holds only if the noise is of the declared kind."
"""What a bound through the noise's own trade-off curve rests on."""


def outcome(trainings: int, right: float, judged: int = 0) -> str:
    """How often an attack was right, with the 95 % interval of that share, rounded outwards.

    >>> outcome(1000, 0.61)
    'An attack with 1,000 trainings was right 61 times out of 100'
    >>> outcome(220, 0.581818, 220)
    'An attack with 220 trainings was right 58 times out of 100, between 51 and 65'
    >>> outcome(520, 0.484615, 260)[:52]
    'An attack with 520 trainings, judged on 260 of them,'

    Args:
        trainings: With and without the witness together.
        right: Share of right guesses.
        judged: Trainings whose guesses were counted; 0 where that was not kept.
    """
    said = f"was right {100 * right:.0f} times out of 100"
    if not judged:
        return f"An attack with {trainings:,} trainings {said}"
    from engine.audit.bounds import interval

    low, high = interval(round(right * judged), judged, 0.025)
    said += f", between {math.floor(100 * low)} and {math.ceil(100 * high)}"
    part = f", judged on {judged:,} of them," if judged < trainings else ""
    return f"An attack with {trainings:,} trainings{part} {said}"


def permitted(proved: bool, allowed: float | None, exact: bool, delta: float) -> str:
    """How often a guess may be right, rounded up, and which statement of the card says so.

    >>> permitted(True, 0.731, False, 0.0)
    'the proof allows 74 (from ε alone)'

    Args:
        proved: Whether it is proved; else it is claimed.
        allowed: The largest share of right guesses; None or not finite where nothing limits it.
        exact: Whether it comes from the proof's whole trade-off curve.
        delta: Of the card.
    """
    if allowed is None or not math.isfinite(allowed):
        return "nothing limits it"
    point = "from ε and δ alone" if delta else "from ε alone"
    source = "by its whole trade-off curve, which is tighter than ε alone" if exact else point
    what = "proof" if proved else "claim"
    return f"the {what} allows {math.ceil(100 * allowed - 1e-9)} ({source})"


WEAK = 0.5
"""Share of the sensitivity below which a witness is too weak for a small bound to say much."""


def power(best: float | None, trainings: int, reach: float | None) -> str:
    """What an attack could show at most, so that a small bound is not taken for a safe method.

    >>> power(0.861, 500, 0.0132)
    'A perfect attack with 1,000 trainings shows ε = 0.86 in half of all cases. Before the noise, \
this witness changes what is released by 1.32 % of the sensitivity: a small bound says little here.'
    >>> power(None, 500, 1.0)
    'Before the noise, this witness changes what is released by 100 % of the sensitivity.'

    Args:
        best: The epsilon that a perfect attack shows in half of all cases; None if unknown.
        trainings: With the witness, and as many without.
        reach: What the witness changes before noise, over the sensitivity; None if not recorded.
    """
    said = []
    if best is not None:
        said.append(
            f"A perfect attack with {2 * trainings:,} trainings shows ε = {best:.2g} in half of "
            "all cases."
        )
    if reach is not None and math.isfinite(reach):
        weak = ": a small bound says little here." if reach < WEAK else "."
        said.append(
            f"Before the noise, this witness changes what is released by {100 * reach:.3g} % of "
            f"the sensitivity{weak}"
        )
    return " ".join(said)
