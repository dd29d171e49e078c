"""How often the interval of a class's experiment holds the planted effect, in simulated classes.

python -m benchmarks classes [--json]

Every person of a simulated class gets an explanation at random, knows the answer with the chance
that its group has, and reports it by randomised response as the lesson does.
"""

from random import Random

from benchmarks.row import Row
from engine.service.responses import RandomisedResponse

CLASSES, SIZES, EFFECTS, BUDGETS = 1_000, (30, 100, 300), (0.0, 0.2, 0.4), (1.0, 2.0)
"""Classes of each kind; people; planted differences; the budget of one answer."""
FIRST, OPTIONS, RIGHT = 0.3, 3, 1
"""Share that is right after the first explanation; options; which one is right."""
LOW, HIGH = 92.9, 97.1
"""Per cent of the classes of one kind: 95, and three standard errors of 1,000 classes."""


def held(size: int, effect: float, epsilon: float, rng: Random) -> float:
    """Per cent of simulated classes whose interval holds the planted effect."""
    how, hits = RandomisedResponse(OPTIONS, epsilon), 0
    for _ in range(CLASSES):
        counts = [[0] * OPTIONS, [0] * OPTIONS]
        for _ in range(size):
            arm = rng.randrange(2)
            right = rng.random() < FIRST + effect * arm
            truth = RIGHT if right else rng.choice((0, 2))
            counts[arm][how.report(truth, rng)] += 1
        found = how.gap(counts[0], counts[1], RIGHT)
        hits += found.low <= effect <= found.high
    return 100.0 * hits / CLASSES


def rows() -> list[Row]:
    """Coverage by size, effect and budget."""
    rng = Random(33)
    return [
        Row(f"class of {size}, effect {effect:g}, ε = {epsilon:g} each", found, None, "%",
            f"{LOW:g} to {HIGH:g}", LOW <= found <= HIGH, f"{CLASSES:,} simulated classes")
        for epsilon in BUDGETS for size in SIZES for effect in EFFECTS
        for found in (held(size, effect, epsilon, rng),)
    ]  # fmt: skip
