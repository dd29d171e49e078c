"""Human Activity Recognition Using Smartphones: 561 features of 2.56 seconds of motion.

Looked for in the folder of EXPLORER_DATA: `har/train/X_train.txt` and its neighbours as in the
publisher's archive (also inside `har/UCI HAR Dataset/`, also gzipped), then the archive itself,
`har/UCI HAR Dataset.zip`; then the publisher's download.
"""

import io
import zipfile
import zlib
from collections.abc import Callable
from functools import partial

import numpy as np

from datasets.base import Card, Floats, Integers, LabelledTable, check
from datasets.fetch import File, content, fetch, local
from datasets.parse import numbers
from engine.core.errors import DatasetError

CARD = Card(
    name="har",
    title="Human activity (smartphones)",
    summary="Windows of 2.56 seconds from a phone worn at the waist by 30 volunteers who walked, "
    "climbed and descended stairs, sat, stood and lay down.",
    records=10_299,
    classes=6,
    record="a window of 2.56 seconds of one volunteer",
    features=("561 features of acceleration and rotation",),
    source="Anguita, Ghio, Oneto, Parra and Reyes-Ortiz (2012), Human Activity Recognition on "
    "Smartphones using a Multiclass Hardware-Friendly Support Vector Machine, IWAAL; "
    "https://archive.ics.uci.edu/dataset/240; training and test part together",
    licence="UCI's page: CC BY 4.0; the data set's own README: cite Anguita et al. (2012), any "
    "commercial use is prohibited",
    public="The number of windows and the range -1 to 1, to which the publisher scaled every "
    "feature; a volunteer has about 340 windows, half of each shared with the next, and the "
    "guarantee is for one window, not for a volunteer",
)
INNER = "UCI HAR Dataset.zip"
FOLDERS = ("har/", "har/UCI HAR Dataset/")
ARCHIVE = File(
    path=f"har/{INNER}",
    sha256="2045e435c955214b38145fb5fa00776c72814f01b203fec405152dac7d5bfeb0",
)
DOWNLOAD = File(  # holds the archive above
    path="har/human+activity+recognition+using+smartphones.zip",
    sha256="c00b803081a5c797cd5e4b83700a9810b38d53d9d84e01917e090e1fdbc81031",
    urls=(
        "https://archive.ics.uci.edu/static/public/240/"
        "human+activity+recognition+using+smartphones.zip",
    ),
)
PARTS = ("train", "test")
COLUMNS = {"X": 561, "y": 1, "subject": 1}
# Checksums of the unpacked features are not known here: their size and range are checked.
SHA256 = {
    "train/y_train.txt": "415b3357e2e2d5e70a45c781947c6bdd80e0410a579d862eedcd6bbce3c694ef",
    "test/y_test.txt": "2a94cb53ca46b956c1b2aebd4a09a72badd8a8e9ea9cdfe9f31b3306a08666bb",
    "train/subject_train.txt": "66e1e2fbe9b396fa5155f531dc3348c803f503be663e2318772d49947db9153a",
    "test/subject_test.txt": "63b8c577f4a85431c06bd87f6384608c90a9f72f05c7956dd21255dc63515c07",
}


def load() -> LabelledTable:
    """Returns the 10,299 windows: x (10299, 561) in -1 to 1, training part first.

    `groups` holds the volunteer of each window, 1 to 30.

    Raises:
        DatasetError: The files are missing, damaged or not the ones the card describes.
    """
    x, y, subject = parse(reader())
    bounds = (np.array(-1.0), np.array(1.0))
    return check(LabelledTable(card=CARD, x=x, y=y, bounds=bounds, groups=subject))


def reader() -> Callable[[str], bytes]:
    """Returns a function from a member's path, such as "train/X_train.txt", to its content.

    Raises:
        DatasetError: Neither the unpacked files nor the archive are there or can be downloaded.
    """
    for folder in FOLDERS:
        if local(f"{folder}train/X_train.txt") is not None:
            return partial(_unpacked, folder)
    return archive(fetch(ARCHIVE if local(ARCHIVE.path) else DOWNLOAD))


def archive(packed: bytes) -> Callable[[str], bytes]:
    """Returns a reader of the publisher's zip, or of the zip within the zip that UCI offers.

    Raises:
        DatasetError: `packed` is no zip file, or (from the reader) a member is missing or damaged.
    """
    try:
        opened = zipfile.ZipFile(io.BytesIO(packed))
        if INNER in opened.namelist():
            opened = zipfile.ZipFile(io.BytesIO(opened.read(INNER)))
    except (zipfile.BadZipFile, zlib.error) as error:
        raise DatasetError(f"har: expected a zip archive, got a damaged file ({error})") from error

    def read(member: str) -> bytes:
        try:
            return opened.read(f"UCI HAR Dataset/{member}")
        except (KeyError, zipfile.BadZipFile, zlib.error) as error:
            raise DatasetError(f"har: expected {member} in the archive, got {error}") from error

    return read


def parse(read: Callable[[str], bytes]) -> tuple[Floats, Integers, Integers]:
    """Returns features (n, 561), classes 0 to 5 (n,) and subjects (n,), both parts joined.

    Raises:
        DatasetError: A table with other than 561 features, or parts of unequal length.
    """
    x, y, subject = (_joined(read, kind, columns) for kind, columns in COLUMNS.items())
    if not len(x) == len(y) == len(subject):
        lengths = f"{len(x)}, {len(y)} and {len(subject)}"
        raise DatasetError(f"har: expected as many labels and subjects as windows, got {lengths}")
    return x, y[:, 0].astype(np.int64) - 1, subject[:, 0].astype(np.int64)


def _joined(read: Callable[[str], bytes], kind: str, columns: int) -> Floats:
    tables = []
    for part in PARTS:
        name = f"{part}/{kind}_{part}.txt"
        tables.append(numbers(read(name), f"har/{name}"))
        if tables[-1].shape[1] != columns:
            got = tables[-1].shape[1]
            raise DatasetError(f"har/{name}: expected {columns} numbers in a row, got {got}")
    return np.concatenate(tables)


def _unpacked(folder: str, member: str) -> bytes:
    file = File(path=f"{folder}{member}", sha256=SHA256.get(member), text=True)
    place = local(file.path)
    if place is None:
        raise DatasetError(f"har: expected {file.path} beside the other files, got no such file")
    return content(place, file)
