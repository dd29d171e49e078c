"""A notebook that reads the numbers of a bundle."""

import json

WORDS = (
    "# The numbers of this bundle\n\nEach file in `data/` is one chart of one paper. In those of a "
    "measure, each row is one method at one privacy budget ε: the median of its repetitions and "
    "the band that holds the middle 80 %."
)
READ = """from pathlib import Path

import pandas as pd

tables = {path.stem: pd.read_csv(path) for path in sorted(Path("data").glob("*.csv"))}
print("\\n".join(f"{name}: {len(table)} rows" for name, table in tables.items()))"""
DRAW = """import plotly.express as px

name = next(name for name, table in tables.items() if "Median" in table)
lines = tables[name].dropna(subset=["ε"])
figure = px.line(lines, x="ε", y="Median", color="Method", markers=True, log_x=True, title=name)
figure"""


def text() -> str:
    """The notebook as the file format 4.5 of Jupyter."""
    cells = [
        {"cell_type": "markdown", "id": "words", "metadata": {}, "source": WORDS},
        *(
            {"cell_type": "code", "id": name, "metadata": {}, "execution_count": None,
             "outputs": [], "source": source}
            for name, source in (("read", READ), ("draw", DRAW))
        ),
    ]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1, ensure_ascii=False)
