r"""The symbols that more than one paper uses, each defined once, in `vocabulary.toml`.

| name            | symbol        | meaning                                         |
|-----------------|---------------|-------------------------------------------------|
| Epsilon         | \varepsilon   | privacy budget of everything that is released   |
| Delta           | \delta        | what is added to the bound that epsilon sets    |
| ClipNorm        | C             | largest norm of one record's contribution       |
| SampleRate      | q             | chance of each record to be in one step         |
| Regularisation  | \Lambda       | weight of the ridge penalty                     |
| Epochs          | E             | expected visits of each record                  |
| Calibration     |               | noise as the paper prints it, or as can be proved |
| Objective       |               | noisy quadratic, bounded or as it was drawn      |
| Polynomial      |               | which polynomial that is                        |
"""

from pathlib import Path
from typing import Annotated

from engine.core import declared
from engine.core.spec import Setting, setting

_TABLES = declared.read(Path(__file__).with_suffix(".toml"))["knobs"]
_KNOBS: dict[str, Setting] = {name: setting(_TABLES, name) for name in _TABLES}

Epsilon = Annotated[float, _KNOBS["epsilon"]]
Delta = Annotated[float, _KNOBS["delta"]]
ClipNorm = Annotated[float, _KNOBS["clip"]]
SampleRate = Annotated[float, _KNOBS["sample_rate"]]
Regularisation = Annotated[float, _KNOBS["regularisation"]]
Epochs = Annotated[float, _KNOBS["epochs"]]
Calibration = Annotated[str, _KNOBS["calibration"]]
Objective = Annotated[str, _KNOBS["objective"]]
Polynomial = Annotated[str, _KNOBS["polynomial"]]
EPSILONS: tuple[float, ...] = declared.values(_TABLES, "epsilon")["grid"]
"""The grid that a curve is trained on: the papers' own points, and some between."""
