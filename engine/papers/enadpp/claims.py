"""Published budgets that are not proved as they stand, and what is proved of their noise.

Every row says where it was read. Where the settings that an accountant needs are published, what
their noise proves is computed; where they are not, the row says so and has no number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import Release, cost
from engine.runs.exhibit import Cell, Exhibit, Note
from engine.runs.results import Results

DELTA = 1e-5


@dataclass(frozen=True)
class Shuffled:
    """Published settings of a run on shuffled batches.

    Attributes:
        row: What the table calls it.
        records: Records that it trained on.
        batch: Size of a batch.
        multiplier: Deviation of the noise over the clipping bound.
        epochs: Passes over the records.
        claimed: The published budget, at the same δ.
    """

    row: str
    records: int
    batch: int
    multiplier: float
    epochs: int
    claimed: float

    def release(self, rate: float = 1.0) -> Release:
        """Its noisy sums: of Poisson batches at a rate, or of the parts of a shuffled order."""
        parts = self.records // self.batch
        return Release(
            Gaussian(1.0, self.multiplier),
            times=parts * self.epochs,
            rate=rate,
            disjoint=parts if rate == 1.0 else 1,
        )

    def proved(self) -> float:
        """The epsilon of one full release in each epoch, whatever the order of the records.

        Guarantees:
            Batches of an epoch are disjoint, so a record is in one of them at most: parallel
            composition within an epoch, composition of Gaussian releases over epochs.
        """
        from engine.privacy import accounting

        return accounting.epsilon(cost((self.release(),)), DELTA, "add_or_remove_one")

    def as_poisson(self) -> float:
        """What the same noise would cost in Poisson batches, which is what was priced."""
        from engine.privacy import accounting

        event = cost((self.release(self.batch / self.records),))
        return accounting.epsilon(event, DELTA, "add_or_remove_one")


SHUFFLED = (
    Shuffled("MNIST 98.1 %, convolutions (Tramèr and Boneh 2021)", 60_000, 512, 1.23, 40, 3.0),
    Shuffled("Fashion-MNIST 86.0 %, convolutions (the same)", 60_000, 2048, 2.15, 40, 3.0),
    Shuffled("CIFAR-10 59.2 %, convolutions (the same)", 50_000, 1024, 1.54, 30, 3.0),
)
SCATTERING = "MNIST 98.7 %, scattering and a linear layer (the same)"
SELECTIVE = {
    1.0: "MNIST 97.93 %, DPSUR (Fu et al. 2024)",
    2.0: "MNIST 98.70 %, DPSUR",
    3.0: "MNIST 98.88 %, DPSUR",
}
SCALED = "A public implementation, gradients scaled after clipping"
README = "[README](https://github.com/ftramer/Handcrafted-DP)"
OPEN = "**Settings not published** in full, so nothing is computed. "
NOTES = (
    Note(
        SHUFFLED[0].row,
        "Batches of 512, noise multiplier 1.23, 40 epochs. By default the code shuffles, and it "
        "prices the batches as Poisson batches, which would cost ε = 2.58. The source "
        "does not say which of the two the published figure was trained with.",
        "The noise multipliers are computed so as to consume the privacy budget in respectively "
        "40, 40 and 30 epochs.",
        README,
    ),
    Note(
        "Shuffled and priced as Poisson, in general",
        "The proved ε here holds for every order of the records. It is an upper bound: what an "
        "attack can show lies below it, and above the claim in some cases.",
        "DP models trained with this approach have considerably overestimated privacy guarantees "
        "(up to 4 times).",
        "Annamalai et al., [arXiv 2411.10614](https://arxiv.org/abs/2411.10614)",
    ),
    Note(
        SCATTERING,
        f"{OPEN}Batches of 4,096 and noise multiplier 3.04 are printed beside ε = 3; the number of "
        "epochs is not. The same code shuffles by default.",
        "consumed after some fixed number of epochs",
        README,
    ),
    Note(
        "DPSUR",
        f"{OPEN}The number of steps tried is not printed. The abstract of arXiv 2606.04384 says "
        "that the accounting is wrong. When DPSUR's authors ran it again, they got 96.32, 97.51 "
        "and 98.12 % at ε = 1, 2 and 3.",
        "",
        "[arXiv 2606.04384](https://arxiv.org/abs/2606.04384); figures: "
        "[README of DPSUR](https://github.com/JeffffffFu/DPSUR)",
    ),
    Note(
        SCALED,
        f"{OPEN}It scales large gradients to norm 8 while its noise is made for norm 1. An earlier "
        "reading of its code came to ε of about 91, 293 and 584 at most, instead of 1, 2 and 3. "
        "The tests of this app make the same mistake on purpose and find it.",
    ),
)


def _cells(results: Mapping[str, Results]) -> tuple[Cell, ...]:
    """A row for each claim; what is proved where it can be computed."""
    known = [(one.row, one.claimed, one.proved()) for one in SHUFFLED]
    bare = [(SCATTERING, 3.0, None), *((row, epsilon, None) for epsilon, row in SELECTIVE.items())]
    bare += [(f"{SCALED}, ε = {epsilon:g}", epsilon, None) for epsilon in (1.0, 2.0, 3.0)]
    return tuple(
        Cell(row, "ε", "with proof", claimed, proved, None, "")
        for row, claimed, proved in (*known, *bare)
    )


def _says(cells: Sequence[Cell]) -> str:
    """The result in one sentence."""
    priced = [cell for cell in cells if cell.ours is not None and cell.published]
    if not priced:
        return ""
    worst = max(priced, key=lambda cell: (cell.ours or 0.0) / (cell.published or 1.0))
    return (
        f"Of {len(cells)} published budgets, {len(priced)} come with the settings that a proof "
        f"needs. One claims ε = {worst.published:g}; for shuffled batches its noise proves "
        f"ε = {worst.ours or 0.0:.1f}."
    )


CLAIMS = Exhibit(
    name="claims",
    title="Published ε that could not be confirmed",
    caption="Published budgets ε at δ = 10⁻⁵ that their sources do not prove, beside what is "
    "proved of the same noise. The reasons are shuffled batches priced as Poisson batches, refuted "
    "accounting, and gradients that are scaled after they were clipped. The proved ε follows from "
    "the published settings, for one record added or removed and batches cut from a shuffled "
    "order. Nothing here says that the accuracies are wrong.",
    quantity="Budget ε at δ = 10⁻⁵",
    better="neither",
    digits=1,
    jobs=lambda full: {},
    cells=_cells,
    beside="Claims of others",
    graded=False,
    says=_says,
    heads=("Claimed", "Proved"),
    notes=NOTES,
)
