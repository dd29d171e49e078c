"""A run as one file to take away."""

import io
import tempfile
import zipfile
from pathlib import Path

from engine.cli.export import write
from engine.service.client import Client, Run


def bundle(client: Client, run: Run) -> bytes:
    """A zip archive of the run, what its cards cover apart from what must not be published.

    Raises:
        StoreError: The store cannot be read.
    """
    with tempfile.TemporaryDirectory() as folder, io.BytesIO() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in write(client, run, Path(folder)):
                archive.write(path, f"run-{run.id}/{path.relative_to(folder)}")
        return file.getvalue()
