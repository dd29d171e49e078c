r"""The layers above the convolutions: 25 normalised rectified units and a softmax layer."""

from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional

from engine.papers.dbn.pcdbn.maps import blocked, plain

LOG2 = 0.6931471805599453


@dataclass(frozen=True)
class Loss:
    """What the upper layers minimise.

    Attributes:
        quadratic: Whether the cross-entropy is replaced by its Taylor form (equation 18).
        linear: Noise on the coefficients of w, shape (m, classes), or None.
        square: Noise on the coefficients of w w', which are pp'/8, shape (m, m), or None.
    """

    quadratic: bool
    linear: Tensor | None = None
    square: Tensor | None = None

    def value(self, p: Tensor, weight: Tensor, bias: Tensor, y: Tensor) -> Tensor:
        """Mean over records; p is (B, m), weight (m, classes)."""
        z = p @ weight + bias
        if not self.quadratic:
            return functional.cross_entropy(z, y)
        hot = functional.one_hot(y, z.shape[1])
        loss = (LOG2 + (0.5 - hot) * z + z.square() / 8).sum(1).mean()
        if self.linear is not None and self.square is not None:
            loss = loss + (self.linear * weight).sum()
            loss = loss + (weight * (self.square @ weight)).sum()
        return loss


def hidden(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Normalised over the records at hand, rectified, at most 1; as in the published program.

    oneDNN multiplies by 25 columns, and back, three times as fast as the product of plain tensors.
    """
    return rectified(plain(functional.linear(blocked(x), weight.T)) + bias)


def rectified(a: Tensor) -> Tensor:
    """States of responses (B, m), normalised over the records."""
    mean, variance = a.mean(0), a.var(0, unbiased=False)
    return ((a - mean) / (variance + 1e-3).sqrt()).clamp(0.0, 1.0)
