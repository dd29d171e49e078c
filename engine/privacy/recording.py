"""What a run releases, seen by the experimenter: every value before and after its noise.

`engine.privacy.noise.release` is the one place where noise meets records. Within `recording` it
keeps what it was given and what it returned. Within `replaying` it returns what another run has
released, in place of noise of its own: so a run on neighbouring data goes the very same way, and
only the values before noise differ. Those differences are what sensitivity bounds (a test), and
what a likelihood ratio needs (an audit). Nothing of this is released.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from torch import Generator, Tensor

from engine.core.errors import ExplorerError
from engine.privacy.mechanisms import Noise

Parts = tuple[Tensor, ...]
"""One release may be of several arrays together, (R, ...) each."""


class ReplayError(ExplorerError):
    """A run on neighbouring data that releases other things than the first."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """One release of R replicas.

    Attributes:
        mechanisms: One per replica.
        values: Before noise, (R, ...) each.
        outputs: After noise, in the same shapes.
        generator: State of the generator after the noise was drawn.
        weights: What each value is multiplied by where its change is measured; None for 1.
    """

    mechanisms: tuple[Noise, ...]
    values: Parts
    outputs: Parts
    generator: Tensor
    weights: tuple[Tensor | None, ...]


@dataclass(eq=False)
class Recorder:
    """Releases in their order; those of another run come back instead of noise.

    Attributes:
        releases: What was released so far.
        drawn: Noise that was drawn without a value to add it to, (R, d) each, and its mechanisms.
        script: What another run has released; None to draw noise.
    """

    releases: list[Recorded] = field(default_factory=list)
    drawn: list[tuple[tuple[Noise, ...], Tensor]] = field(default_factory=list)
    script: Sequence[Recorded] | None = None

    def watch(
        self,
        mechanisms: Sequence[Noise],
        values: Parts,
        rng: Generator,
        noisy: Callable[[], Parts],
        weights: Sequence[Tensor | None] = (),
    ) -> Parts:
        """The outputs of one release, drawn or from the script.

        Args:
            mechanisms: One per replica.
            values: Before noise; they are kept, so they must be nobody else's.
            rng: Source of the noise.
            noisy: Draws the noise and returns the outputs, which it may change later.
            weights: See `Recorded`; empty for ones.
        """
        if self.script is None:
            outputs = noisy()
            after = tuple(output.detach().clone() for output in outputs)
        else:
            outputs = after = self._scripted(mechanisms, values, rng)
        kept = tuple(value.detach() for value in values)
        weigh = tuple(weights) or (None,) * len(kept)
        self.releases.append(Recorded(tuple(mechanisms), kept, after, rng.get_state(), weigh))
        return outputs

    def _scripted(self, mechanisms: Sequence[Noise], values: Parts, rng: Generator) -> Parts:
        number = len(self.releases)
        assert self.script is not None
        if number >= len(self.script):
            raise ReplayError(f"expected {number} releases on neighbouring data, got more")
        first = self.script[number]
        if tuple(mechanisms) != first.mechanisms or [v.shape for v in values] != [
            o.shape for o in first.outputs
        ]:
            raise ReplayError(
                f"expected release {number + 1} on neighbouring data to have the noise and the "
                "shape of the first run's, got another"
            )
        rng.set_state(first.generator)
        return first.outputs  # they are copied into the run's own tensors


_RECORDER: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


def recorder() -> Recorder | None:
    """Who is watching; None in every ordinary run."""
    return _RECORDER.get()


@contextmanager
def recording() -> Iterator[Recorder]:
    """Keeps every release that is made within."""
    yield from _with(Recorder())


@contextmanager
def replaying(script: Sequence[Recorded]) -> Iterator[Recorder]:
    """Keeps every value before noise, and answers with the outputs of another run."""
    yield from _with(Recorder(script=script))


def _with(one: Recorder) -> Iterator[Recorder]:
    token = _RECORDER.set(one)
    try:
        yield one
    finally:
        _RECORDER.reset(token)
