"""Image Segmentation: regions of seven outdoor images, described by 18 features."""

import numpy as np

from datasets.base import Card, Floats, Integers, LabelledTable, check
from datasets.fetch import File, fetch
from datasets.parse import words
from engine.core.errors import DatasetError

# Lower and upper bound of each feature. Places, densities, saturation and hue follow from the
# publisher's description; the others are round numbers around what outdoor images give.
BOUNDS = {
    "region-centroid-col": (0.0, 256.0),
    "region-centroid-row": (0.0, 256.0),
    "short-line-density-5": (0.0, 0.5),
    "short-line-density-2": (0.0, 0.5),
    "vedge-mean": (0.0, 50.0),
    "vedge-sd": (0.0, 1_500.0),
    "hedge-mean": (0.0, 50.0),
    "hedge-sd": (0.0, 1_500.0),
    "intensity-mean": (0.0, 160.0),
    "rawred-mean": (0.0, 160.0),
    "rawblue-mean": (0.0, 160.0),
    "rawgreen-mean": (0.0, 160.0),
    "exred-mean": (-50.0, 10.0),
    "exblue-mean": (-20.0, 90.0),
    "exgreen-mean": (-40.0, 30.0),
    "value-mean": (0.0, 160.0),
    "saturation-mean": (0.0, 1.0),
    "hue-mean": (-np.pi, np.pi),
}
CONSTANT = 2  # region-pixel-count: 9 in every row
CARD = Card(
    name="segment",
    title="Image Segmentation",
    summary="Regions of 3 x 3 pixels drawn from seven outdoor images, segmented by hand into "
    "brickface, sky, foliage, cement, window, path and grass.",
    records=2_310,
    classes=7,
    record="a region of an image",
    features=tuple(BOUNDS),
    source="Vision Group, University of Massachusetts (1990), Image Segmentation, UCI Machine "
    "Learning Repository, https://archive.ics.uci.edu/dataset/50/image+segmentation; both parts "
    "together, without the constant region-pixel-count",
    licence="UCI: CC BY 4.0",
    public="The number of regions and the bounds of the features: some follow from the "
    "description, the others are round numbers chosen with the file in view and treated as public",
    taken=True,
)
CLASSES = ("BRICKFACE", "SKY", "FOLIAGE", "CEMENT", "WINDOW", "PATH", "GRASS")
ADDRESS = "https://archive.ics.uci.edu/ml/machine-learning-databases/image/"
FILES = tuple(
    File(path=f"segment/{name}", sha256=checksum, urls=(f"{ADDRESS}{name}",), text=True)
    for name, checksum in (
        (
            "segmentation.data",
            "b4226a708f25d44fbbe4eae36f0d66326bc46393534c2a0d2b9267ae1302002f",
        ),
        (
            "segmentation.test",
            "3b5aa7c3559fdc3a165e97d321809b81292084adfc112645e250d90321203685",
        ),
    )
)


def load() -> LabelledTable:
    """Returns the 210 + 2,100 regions: x (2310, 18), in the order of the two files.

    224 rows repeat an earlier one, as published. Values are clipped to the public bounds, which
    moves only rounding errors below 1e-7.

    Raises:
        DatasetError: One of the two files is missing, damaged or another one.
    """
    parts = [parse(fetch(file), file.path) for file in FILES]
    lower, upper = np.array(list(BOUNDS.values()), np.float64).T
    x = np.concatenate([x for x, _ in parts])
    return check(
        LabelledTable(
            card=CARD,
            x=np.clip(x, lower, upper),
            y=np.concatenate([y for _, y in parts]),
            bounds=(lower, upper),
        )
    )


def parse(content: bytes, name: str) -> tuple[Floats, Integers]:
    """Returns features, shape (rows, 18), and classes in the order of CLASSES, shape (rows,).

    Raises:
        DatasetError: A class that the publisher does not name, or a field that is no number.
    """
    rows = words(content, name, 20)
    try:
        x = rows[:, 1:].astype(np.float64)
        y = np.array([CLASSES.index(label) for label in rows[:, 0]], np.int64)
    except ValueError as error:
        raise DatasetError(
            f"{name}: expected a class and 19 numbers in a row, got others"
        ) from error
    return np.delete(x, CONSTANT, axis=1), y
