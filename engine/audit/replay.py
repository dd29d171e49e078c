"""Holds every release of a run to what its method declares and is priced for.

The same seed runs on two neighbours; the second is handed the outputs of the first, so that both
stay in one state. Then each release must use a mechanism that is declared for that step, as often
as declared, and its value before noise may differ by the sensitivity at most. This finds what the
proofs on paper cannot: a gradient that is scaled after it was clipped, noise for another batch, a
release that is made twice and priced once.
"""

from collections.abc import Iterator, Sequence

import torch

from engine.audit import statistics
from engine.audit.runner import Run, Setting
from engine.core.batch import Batch
from engine.core.gauges import unmeasured
from engine.privacy.mechanisms import Exposed, Mechanism, Noise
from engine.privacy.recording import Recorded, recording, replaying
from engine.privacy.releases import BEFORE, active

ROUNDED = 1e-5
"""Relative room for sums in single precision."""


def faults(setting: Setting, seed: int = 0) -> Iterator[str]:
    """One sentence for every release that is not as declared, on a run of one replica.

    Args:
        setting: The method, its setting and two neighbours.
        seed: Names the noise.
    """
    batch = Batch(setting.spec, (setting.spec,), (0,))
    pair, n = setting.pair, len(setting.pair.without)
    first, second = (Run(setting, batch, table, seed) for table in (pair.without, pair.present))
    declared = setting.entry.releases(setting.spec, n)
    with unmeasured(), torch.no_grad():
        for stage in range(BEFORE, setting.entry.steps(setting.spec, n)):
            with recording() as one:
                first.advance(stage)
            with replaying(one.releases) as other:
                second.advance(stage)
            expected = [release.mechanism for release in active(declared, stage)]
            yield from _undeclared(stage, expected, one.releases)
            for number, (a, b) in enumerate(zip(one.releases, other.releases, strict=True)):
                far = reach(a, b)
                if far > 1.0 + ROUNDED:
                    yield (
                        f"step {stage + 1}, release {number + 1}: expected a change within the "
                        f"sensitivity, got {far:.4g} times it"
                    )


def reach(one: Recorded, other: Recorded) -> float:
    """How far two neighbours' values lie apart before noise, in units of the sensitivity."""
    gain = statistics.weighted(one, statistics.gain(other, one))
    return float(statistics.reach(one.mechanisms, gain).max())


def _undeclared(
    stage: int, expected: Sequence[Mechanism], made: Sequence[Recorded]
) -> Iterator[str]:
    """A sentence where noise is not that of the declared mechanisms, each used once."""
    if any(isinstance(mechanism, Exposed) for mechanism in expected):
        return
    wanted = sorted(_noise(mechanism) for mechanism in expected)
    used = sorted(_noise(one.mechanisms[0]) for one in made)
    if wanted != used:
        yield f"step {stage + 1}: expected releases {', '.join(wanted)}, got {', '.join(used)}"


def _noise(mechanism: Mechanism | Noise) -> str:
    """A mechanism by its price, since its sensitivity may grow with the width of the data."""
    return f"{type(mechanism).__name__} {mechanism.event}"
