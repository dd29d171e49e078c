"""Labelled images as tensors with pixels in [0, 1], and checks of what a spec asks of them."""

from dataclasses import dataclass
from functools import lru_cache

from torch import Tensor

from datasets.base import LabelledTable, Table
from engine.core.errors import RequestError, SpecError
from engine.papers.dbn.pcdbn.spec import PcdbnSpec
from engine.training.records import records

SHOWN_IMAGES, SHOWN_MAPS = 3, 8
"""Test images whose maps are kept, and so many of their maps."""


@dataclass(frozen=True, eq=False)
class Images:
    """What methods train and test on.

    Attributes:
        x: Images to train on, shape (n, 1, side, side).
        y: Their classes, shape (n,).
        test_x: Images to test on, shape (m, 1, side, side).
        test_y: Their classes, shape (m,).
        classes: Number of classes.
        count: Number of images to train on; public, and fixed when a record is left out.
    """

    x: Tensor
    y: Tensor
    test_x: Tensor
    test_y: Tensor
    classes: int
    count: int

    @property
    def side(self) -> int:
        """Pixels of a side."""
        return int(self.x.shape[-1])

    @property
    def shown(self) -> Tensor:
        """A test image of each of the first classes, shape (3, 1, side, side)."""
        few = range(min(SHOWN_IMAGES, self.classes))
        return self.test_x[[int((self.test_y == k).int().argmax()) for k in few]]


def images(data: Table, spec: PcdbnSpec, device: str) -> Images:
    """The images of a table, checked against the spec.

    Raises:
        RequestError: A table of something else than square images, of very small ones, or
            whose card does not say how many classes there are: to count them would tell of
            the records.
        SpecError: A filter that is even or larger than the image.
    """
    if not isinstance(data, LabelledTable) or data.image is None:
        raise RequestError(f"dataset: expected labelled images, got {data.card.name}")
    height, width = data.image
    if height != width or height < 8:
        raise RequestError(
            f"dataset: expected square images of at least 8 pixels a side, got {height} x {width}"
        )
    if data.card.classes is None:
        raise RequestError(
            f"dataset: expected a card with a number of classes, got {data.card.name}"
        )
    if spec.filter_size > height or spec.filter_size % 2 == 0:
        raise SpecError(
            "filter_size",
            f"expected an odd number up to the image's {height} pixels, got {spec.filter_size}",
        )
    return _images(data, device)


@lru_cache(maxsize=4)
def _images(table: LabelledTable, device: str) -> Images:
    rows, side = records(table, device), (table.image or (0, 0))[0]
    kept = [place for place in range(len(rows)) if place not in rows.left_out]
    return Images(
        rows.x[kept].view(-1, 1, side, side),
        rows.y[kept],
        rows.test_x.view(-1, 1, side, side),
        rows.test_y,
        table.card.classes or 0,
        len(rows.x),
    )
