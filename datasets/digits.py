"""Handwritten digits of 8 x 8 pixels, as scikit-learn bundles them."""

import numpy as np

from datasets.base import Card, LabelledTable, check

CARD = Card(
    name="digits",
    title="Digits (8 x 8)",
    summary="Digits written by 13 people on forms, scanned and reduced to 8 x 8 counts of "
    "black pixels.",
    records=1_797,
    classes=10,
    record="an image of a digit",
    features=("8 x 8 pixels",),
    image=(8, 8),
    source="Alpaydin and Kaynak (1998), Optical Recognition of Handwritten Digits (test part), "
    "UCI Machine Learning Repository, https://archive.ics.uci.edu/dataset/80; "
    "the copy in scikit-learn is used",
    licence="UCI: CC BY 4.0; scikit-learn, which bundles the file: BSD-3-Clause",
    public="The number of images and the range 0 to 16 of a pixel, which follows from how they "
    "were counted; one person wrote many images, and the guarantee is for one image",
    embedded=True,
)


def load() -> LabelledTable:
    """Returns the 1,797 images of Alpaydin and Kaynak (1998): x (1797, 64) in 0 to 16.

    Raises:
        DatasetError: scikit-learn bundles another file than the card describes.
    """
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    return check(
        LabelledTable(
            card=CARD,
            x=np.asarray(x, np.float64),
            y=np.asarray(y, np.int64),
            bounds=(np.array(0.0), np.array(16.0)),
            image=(8, 8),
        )
    )
