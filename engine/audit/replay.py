"""Holds every release of a run to what its method declares and is priced for.

The same seed runs on two neighbours; the second is handed the outputs of the first, so that both
stay in one state. Then each release must use a mechanism that is declared for that step, as often
as declared, and its value before noise may differ by the sensitivity at most. This finds what the
proofs on paper cannot: a gradient that is scaled after it was clipped, noise for another batch, a
release that is made twice and priced once.
"""

import math
import re
from collections.abc import Iterator, Sequence

import torch

from engine.audit import statistics
from engine.audit.training import Setting, Training
from engine.core.batch import Batch
from engine.core.gauges import unmeasured
from engine.privacy.mechanisms import Exposed, Mechanism, Noise
from engine.privacy.recording import Recorded, recording, replaying
from engine.privacy.releases import BEFORE, active

ROUNDED = 1e-5
"""Relative room for numbers in single precision."""
UNIT = 2.0**-24
"""What rounding to single precision changes at most, relative to a number."""
NUMBER = re.compile(r"\d+\.\d+(e-?\d+)?")


def faults(setting: Setting, seed: int = 0) -> Iterator[str]:
    """One sentence for every release that is not as declared, on a run of one replica.

    Args:
        setting: The method, its setting and two neighbours.
        seed: Names the noise.
    """
    batch = Batch(setting.spec, (setting.spec,), (0,))
    pair, n = setting.pair, len(setting.pair.without)
    first, second = (
        Training(setting, batch, table, seed) for table in (pair.without, pair.present)
    )
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
                far = float(statistics.apart(a, b).max())
                if far > 1.0 + ROUNDED + summed(n):
                    yield (
                        f"step {stage + 1}, release {number + 1}: expected a change within the "
                        f"sensitivity, got {far:.6g} times it"
                    )


def summed(n: int) -> float:
    """Relative room for two sums of n records in single precision, each within the sensitivity s.

    Added up by pairs, a sum is off by at most log2(n) roundings of n s (Higham, Accuracy and
    Stability of Numerical Algorithms, 2002, section 4.2). A thousandth at most, however many there
    are: errors of either sign cancel, and a slip of scale or count is to be found in large tables.
    """
    return min(1e-3, 2.0 * math.ceil(math.log2(max(2, n))) * n * UNIT)


def inside(setting: Setting, seed: int = 0) -> Iterator[str]:
    """One sentence for every promise of noise inside an objective that a run does not keep.

    The answer of one data set is taken for the other's too: each then names the linear term that
    led to it. The first term has to be the noise that was drawn, the two may differ by the
    sensitivity at most, and the curvatures' log determinants by the ratio that is priced.

    Args:
        setting: The method, whose witness has `implied`, its setting and two neighbours.
        seed: Names the noise.
    """
    implied, spec = setting.witness.implied, setting.spec
    assert implied is not None
    tables = (setting.pair.without, setting.pair.present)
    run = Training(setting, Batch(spec, (spec,), (0,)), tables[0], seed)
    with unmeasured(), torch.no_grad(), recording() as seen:
        for stage in range(BEFORE, setting.entry.steps(spec, len(tables[0]))):
            run.advance(stage)
        noises = [noise for _, noise in seen.drawn]
        (own, curve), (other, bent) = (implied(spec, t, run.state, noises) for t in tables)
    declared = [release.mechanism for release in setting.entry.releases(spec, len(tables[0]))]
    wanted, used = sorted(map(_noise, declared)), sorted(_noise(m[0]) for m, _ in seen.drawn)
    if wanted != used:
        yield f"expected noise {', '.join(wanted)}, got {', '.join(used)}"
    priced = seen.drawn[0][0][0]
    off = float((own - noises[0]).norm()) / priced.sensitivity
    if off > ROUNDED:
        yield f"expected the noise that was drawn to explain the answer, got {off:.4g} beside it"
    far = float((own - other).norm()) / priced.sensitivity
    if far > 1.0 + ROUNDED:
        yield f"expected a change within the sensitivity, got {far:.6g} times it"
    ratio = getattr(priced, "ratio", 0.0)
    if abs(curve - bent) > ratio:
        yield f"expected log determinants within {ratio:.4g}, got {abs(curve - bent):.4g} apart"


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
    """A mechanism by its price, since its sensitivity may grow with the width of the data.

    Twelve digits of it: a bound that depends on the width is added up in another order.
    """
    price = NUMBER.sub(lambda found: f"{float(found[0]):.12g}", str(mechanism.event))
    return f"{type(mechanism).__name__} {price}"
