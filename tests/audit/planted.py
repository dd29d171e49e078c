"""Copies of the paper `mean`, in a folder outside the tree, with one fault planted in each."""

from pathlib import Path

import engine.papers.mean
from engine.core import declared

SOURCE = Path(engine.papers.mean.__file__).parent
HISTOGRAM = "histogram = release(exact, self._noises(batch, data, 1), rng)"
MEAN = "noisy = (release(total, self._noises(batch, data, 0), rng, unit) * unit)[:, 0]"
BOUND = 'bound = torch.tensor(batch.column("bound"), device=rng.device)[:, None]'
LONG = "parts(state.raw, bound).sum(1, keepdim=True)"
EDGES = '"edges": np.linspace(0.0, 1.0, BINS + 1) * bound'
COUNTS = '"histogram": state.counts[0].cpu().numpy()'
FIRST = "BINS = 20\n"
KEPT = "[arrays.released]\n"
NOISY = 'histogram = "'
BIAS = 'label = "Bias by clipping"\nbetter = "down"\n'
TOTAL = "release(total, self._noises(batch, data, 0), rng, unit)"
DRAWN = "torch.randn({0}.shape, generator=rng, dtype={0}.dtype)"
SAME = "at = rng.get_state().clone()"

FAULTS = {
    "a histogram without noise": [("method", HISTOGRAM, "histogram = exact")],
    "half of a histogram without noise": [
        ("method", HISTOGRAM, f"{HISTOGRAM}\n            histogram[:, :10] = exact[:, :10]")
    ],
    "the exact mean in the final state": [("method", "mean=noisy, counts", "mean=mean, counts")],
    "one seed for two releases": [
        ("method", MEAN, f"{SAME}\n            {MEAN}\n            rng.set_state(at)")
    ],
    "a bound of at most the data's maximum": [
        ("method", BOUND, f"{BOUND}\n        bound = bound.minimum(state.raw.amax(1)[:, None])")
    ],
    "edges from the data": [
        ("method", EDGES, f"{EDGES.removesuffix('bound')}state.raw.amax(1)[:, None].numpy()")
    ],
    "an exact count": [
        ("method", COUNTS, f'"above": (state.raw > 1.0).sum(1).numpy(), {COUNTS}'),
        ("paper", KEPT, f'{KEPT}above = "Values above 1"\n'),
    ],
    "a threshold from the data": [
        (
            "method", HISTOGRAM,
            f"{HISTOGRAM}\n            small = histogram < exact.amax(1, keepdim=True) / 4.0"
            "\n            histogram = histogram.masked_fill(small, 0.0)",
        )
    ],
    "stopping early by the data": [
        (
            "method", MEAN,
            f"for _ in range(3):\n                {MEAN}"
            "\n                if bool((noisy - mean).abs().max() < 0.1):"
            "\n                    break",
        )
    ],
    "noise before clipping": [
        ("method", MEAN, f"{MEAN.replace('total', LONG)}.minimum(bound[:, 0])")
    ],
    "an array of another run": [
        ("method", FIRST, f"{FIRST}EARLIER: dict[int, object] = {{}}\n"),
        ("method", COUNTS, f'{COUNTS[:13]}EARLIER.setdefault(len(batch), {COUNTS[13:]})'),
    ],
    "a name from the data": [
        ("method", COUNTS, f'f"bins{{int(state.raw.amax())}}": {COUNTS[13:]}'),
        ("paper", NOISY, '"bins*" = "'),
    ],
    "a length from the data": [
        (
            "method", COUNTS,
            COUNTS.replace("[0]", "[0][:, : int(state.counts[1].any(0).nonzero().max()) + 1]"),
        )
    ],
    "an order from the data": [
        ("method", COUNTS, f'"order": state.counts[1].argsort(1).numpy(), {COUNTS}'),
        ("paper", KEPT, f'{KEPT}order = "Bins by size"\n'),
    ],
    "digits of the data": [
        (
            "method", MEAN,
            f"{MEAN}\n            whole = bool((state.raw == state.raw.round()).all())"
            "\n            noisy = noisy.round(decimals=0 if whole else 2)",
        )
    ],
    "the sign of a zero": [
        (
            "method", HISTOGRAM,
            f"{HISTOGRAM}.clamp(min=0.0)\n            empty = (histogram == 0.0) & (exact == 0.0)"
            "\n            histogram = torch.where(empty, -histogram, histogram)",
        )
    ],
    "a measure of the records": [("paper", BIAS, f"{BIAS}released = true\n")],
    "an error that tells of a record": [
        (
            "method", MEAN,
            f'if not bool((state.raw > bound).any()):\n                raise RequestError("no")'
            f"\n            {MEAN}",
        )
    ],
    "noise of the records' own scale": [
        (
            "method", TOTAL,
            "release(total, [replace(one, sensitivity=float(clipped.max()) / clipped.shape[1])"
            " for one in self._noises(batch, data, 0)], rng, unit)",
        )
    ],
    "noise that is no release": [
        ("method", MEAN, f"noisy = ((total + {DRAWN.format('total')}) * unit)[:, 0]"),
        ("method", HISTOGRAM, f"histogram = exact + {DRAWN.format('exact')}"),
    ],
    "noise seeded by the records": [
        (
            "method", MEAN,
            f"rng.manual_seed(rng.initial_seed() + int(1e3 * state.raw.sum()))\n            {MEAN}",
        )
    ],
}  # fmt: skip
"""File, what stands in it, and what stands there instead."""


def copy(folder: Path, slug: str, fault: str = "") -> None:
    """Writes the paper under another name, with a fault of `FAULTS` or none."""
    target = folder / slug
    target.mkdir(parents=True)
    for file in (*SOURCE.glob("*.py"), SOURCE / declared.FILE):
        text = file.read_text().replace("engine.papers.mean", f"engine.papers.{slug}")
        for name, old, new in FAULTS.get(fault, ()):
            if name == file.stem:
                assert text.count(old) == 1, f"{name}: expected one {old!r}"
                text = text.replace(old, new)
        (target / file.name).write_text(text.replace('slug = "mean"', f'slug = "{slug}"'))


TABLE = '''"""A table."""

from engine.runs.exhibit import along, over, sheet
from engine.runs.job import request


def table1(full):
    """A row."""
    job = request("{slug}", "laplace", "flchain", {{}}, {{"epsilon": (1.0, 2.0)}}, range(2))
    return along(
        "epsilon", (1.0, 2.0), (job,), over("error"), row="Laplace", variant="as printed",
        printed=(0.1, 0.05),
    )


EXHIBITS = (sheet(__file__).exhibit(table1),)
'''
SHEET = """[table1]
title = "Table 1 of the copy"
caption = "A caption."
quantity = "Error"
better = "down"
"""


def shown(folder: Path, slug: str, old: str = "", new: str = "") -> None:
    """Gives a copy that is not read yet a table, one text in whose files is another."""
    paper = folder / slug / declared.FILE
    texts = {
        paper: paper.read_text().replace("[paper]\n", '[paper]\nexhibits = "exhibits"\n'),
        paper.with_name("exhibits.py"): TABLE.format(slug=slug),
        paper.with_name("exhibits.toml"): SHEET,
    }
    assert any(old in text for text in texts.values())
    for file, text in texts.items():
        file.write_text(text.replace(old, new) if old else text)
