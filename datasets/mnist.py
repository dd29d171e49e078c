"""MNIST: handwritten digits of 28 x 28 pixels."""

from dataclasses import replace

import numpy as np

from datasets.base import Card, LabelledTable, check
from datasets.fetch import File, fetch
from datasets.parse import idx
from engine.core.errors import DatasetError

CARD = Card(
    name="mnist",
    title="MNIST (28 x 28)",
    summary="Digits written by employees of the US Census Bureau and by high-school students, "
    "centred in 28 x 28 grey pixels; 60,000 to train on and 10,000 to test on.",
    records=60_000,
    classes=10,
    record="an image of a digit",
    features=("28 x 28 pixels",),
    image=(28, 28),
    source="LeCun, Cortes and Burges (1998), The MNIST database of handwritten digits, "
    "http://yann.lecun.com/exdb/mnist/",
    licence="None in the files; commonly described as CC BY-SA 3.0 (rights: Y. LeCun, C. Cortes)",
    public="The number of images and the range 0 to 255 of a pixel, which is that of a byte; one "
    "person wrote many images, and the guarantee is for one image",
)
MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
SHA256 = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}


def load() -> LabelledTable:
    """Returns the 60,000 training images: x (60000, 784) uint8; `test` holds the other 10,000.

    Raises:
        DatasetError: One of the four files is missing, damaged or another one.
    """
    test_card = replace(CARD, title="MNIST (28 x 28), test part", records=10_000)
    return _part("train", CARD, test=_part("t10k", test_card, test=None))


def _part(prefix: str, card: Card, test: LabelledTable | None) -> LabelledTable:
    images = idx(fetch(file(f"{prefix}-images-idx3-ubyte")), f"{prefix}-images-idx3-ubyte")
    labels = idx(fetch(file(f"{prefix}-labels-idx1-ubyte")), f"{prefix}-labels-idx1-ubyte")
    if images.shape[1:] != (28, 28) or labels.shape != images.shape[:1]:
        raise DatasetError(
            f"mnist: expected images of 28 x 28 and as many labels, got shapes {images.shape} "
            f"and {labels.shape}"
        )
    return check(
        LabelledTable(
            card=card,
            x=images.reshape(len(images), -1),
            y=labels.astype(np.int64),
            bounds=(np.array(0.0), np.array(255.0)),
            image=(28, 28),
            test=test,
        )
    )


def file(name: str) -> File:
    """Returns where one of the four files is found; its checksum is of the decompressed bytes."""
    urls = tuple(f"{mirror}{name}.gz" for mirror in MIRRORS)
    return File(path=f"mnist/{name}", sha256=SHA256[name], urls=urls)
