"""Fashion-MNIST: photographs of clothes of 28 x 28 pixels."""

import gzip
import hashlib
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from datasets.base import Card, LabelledTable, check
from datasets.fetch import CACHE_VARIABLE, SECONDS, local
from datasets.parse import idx
from engine.core.errors import DatasetError

CARD = Card(
    name="fashion",
    title="Fashion-MNIST (28 x 28)",
    summary="Photographs of clothing from an online shop in ten classes, from T-shirts to ankle "
    "boots, in 28 x 28 grey pixels; 60,000 to train on and 10,000 to test on.",
    records=60_000,
    classes=10,
    record="a photograph of an article",
    features=("28 x 28 pixels",),
    image=(28, 28),
    source="Xiao, Rasul and Vollgraf (2017), arXiv 1708.07747, "
    "https://github.com/zalandoresearch/fashion-mnist",
    licence="MIT",
    public="The number of images and the range 0 to 255 of a pixel, which is that of a byte",
)
URL = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
SHA256 = {
    "train-images-idx3-ubyte": "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
    "train-labels-idx1-ubyte": "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
    "t10k-images-idx3-ubyte": "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    "t10k-labels-idx1-ubyte": "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
}
"""Of the publisher's compressed files, which are the ones that checksums are published for."""


def load() -> LabelledTable:
    """Returns the 60,000 training images: x (60000, 784) uint8; `test` holds the other 10,000.

    Raises:
        DatasetError: One of the four files is missing, damaged or another one.
    """
    card = replace(CARD, title="Fashion-MNIST (28 x 28), test part", records=10_000)
    tested = parsed(content("t10k-images-idx3-ubyte"), content("t10k-labels-idx1-ubyte"), card)
    whole = parsed(content("train-images-idx3-ubyte"), content("train-labels-idx1-ubyte"), CARD)
    return replace(whole, test=tested)


def parsed(images: bytes, labels: bytes, card: Card) -> LabelledTable:
    """The table in two IDX files.

    Raises:
        DatasetError: They hold something else than images of 28 x 28 pixels and their classes.
    """
    x, y = idx(images, "fashion images"), idx(labels, "fashion labels")
    if x.shape[1:] != (28, 28) or y.shape != (len(x),):
        raise DatasetError(
            "fashion: expected images of 28 x 28 pixels and a label for each, got arrays of "
            f"shapes {x.shape} and {y.shape}"
        )
    bounds = (np.array(0.0), np.array(255.0))
    flat, classes = x.reshape(len(x), -1), y.astype(np.int64)
    return check(LabelledTable(card=card, x=flat, y=classes, bounds=bounds, image=(28, 28)))


def content(name: str) -> bytes:
    """The decompressed content of one of the publisher's files, whose checksum is compared.

    It is looked for in the folder `fashion` of EXPLORER_DATA, and else downloaded.

    Raises:
        DatasetError: The file is missing and cannot be downloaded, is damaged or another one.
    """
    place = local(f"fashion/{name}.gz") or _download(f"{name}.gz", SHA256[name])
    try:
        raw = place.read_bytes()
        digest = hashlib.sha256(raw).hexdigest()
        if digest != SHA256[name]:
            raise DatasetError(
                f"fashion/{name}.gz: expected the publisher's file with SHA-256 {SHA256[name]}, "
                f"got {digest} in {place}"
            )
        return gzip.decompress(raw)
    except OSError as error:
        raise DatasetError(
            f"fashion/{name}.gz: expected a file that can be read, got {type(error).__name__} "
            f"for {place}"
        ) from error


def _download(name: str, sha256: str) -> Path:
    """The file from its publisher, or from the cache of earlier downloads."""
    import pooch

    pooch.get_logger().setLevel("ERROR")
    cache = Path(os.environ.get(CACHE_VARIABLE) or pooch.os_cache("epsilon-explorer"))
    try:
        place = pooch.retrieve(
            f"{URL}{name}",
            known_hash=f"sha256:{sha256}",
            fname=name,
            path=cache / "fashion",
            downloader=pooch.HTTPDownloader(timeout=SECONDS),
        )
    except (OSError, ValueError) as error:  # requests' own errors are OSErrors
        raise DatasetError(
            f"fashion/{name}: expected it in the folder named by EXPLORER_DATA, got no such file "
            f"and the download failed with {type(error).__name__}"
        ) from error
    return Path(place)
