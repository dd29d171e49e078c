"""Published budgets that are not proved as they stand, and what is proved of their noise.

Every row says where it was read. Where the settings that an accountant needs are published, what
their noise proves is computed; where they are not, the row says so and has no number.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.core import stored
from engine.privacy.mechanisms import Gaussian
from engine.privacy.releases import Release, cost
from engine.runs.exhibit import Cell, Point, formula, sheet

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

    def proved(self) -> float:
        """The epsilon of one full release in each epoch, whatever the order of the records.

        Guarantees:
            Neighbours: a record is left out of every sum and its place stays, so that it displaces
            no other. Batches of an epoch are disjoint, so it is in one of them at most: parallel
            composition within an epoch, composition of Gaussian releases over epochs. With a
            record more or less all batches are cut elsewhere, and this says nothing.
        """
        from engine.privacy import accounting

        parts = self.records // self.batch
        noise = Gaussian(1.0, self.multiplier)
        sums = Release(noise, times=parts * self.epochs, disjoint=parts)
        return accounting.epsilon(cost((sums,)), DELTA, "zero_out_one")


SHEET = sheet(__file__)
SHUFFLED = tuple(stored.read(Shuffled, one) for one in SHEET.printed["shuffled"])


def claims(full: bool) -> list[Point]:
    """A row for each claim; what is proved where it can be computed."""
    known = [(one.row, one.claimed, one.proved) for one in SHUFFLED]
    bare = [(one["row"], one["claimed"], lambda: None) for one in SHEET.printed["unpriced"]]
    return [
        Point(row, "ε", "with proof", claimed, (), formula(proved))
        for row, claimed, proved in (*known, *bare)
    ]


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


CLAIMS = SHEET.exhibit(claims, says=_says)
