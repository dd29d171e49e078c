"""Knobs of the samplers and of private descent."""

from typing import Annotated

from engine.core.spec import Choice, Knob

Link = Annotated[
    str,
    Choice(
        label="Link",
        options=("logit", "cloglog", "probit"),
        labels=("Logit", "Complementary log-log", "Probit"),
        help="How the hazard follows from the linear predictor. Only the samplers take all "
        "three: the other methods need a bounded gradient, which the logit link has.",
        symbol="g",
        source="Section 3.1, Figure 1",
    ),
]
Bound = Annotated[
    float,
    Knob(
        label="Largest loss of one record",
        symbol="v",
        bounds=(0.0, 1e4),
        range=(0.0, 60.0),
        step=1.0,
        help="One record's loss stays below this bound. A larger bound distorts "
        "less but scales every record down further. 0 means 2 log n, as in the paper.",
        equation=r"C_v(x) = v \tanh(x/v)",
        source="Section 5, Section 6.2",
    ),
]
PriorPrecision = Annotated[
    float,
    Knob(
        label="Precision of the prior",
        symbol=r"\sigma\epsilon/2v",
        bounds=(0.0, 1e6),
        range=(1e-4, 1.0),
        scale="log",
        grid=(1e-4, 1e-3, 1e-2, 1e-1, 1.0),
        help="Larger draws the parameters towards zero. The paper's σ = 0.01·2v/ε gives the prior "
        "precision 0.01, whatever v and ε are.",
        equation=r"U(f) = -\tfrac{\sigma}{2}\lVert f\rVert^2 - \sum_i C_v(\ell(f; d_i))",
        source="Section 6.2",
    ),
]
StepDecay = Annotated[
    float,
    Knob(
        label="Decay of the steps",
        symbol=r"\tau",
        bounds=(0.0, 1.0),
        range=(0.3, 1.0),
        grid=(0.3, 0.4, 0.51, 0.6, 0.75, 0.9, 1.0),
        help="Larger makes later steps shorter.",
        equation=r"\epsilon_t = s\,t^{-\tau}",
        source="Section 6.2",
    ),
]
Memory = Annotated[
    float,
    Knob(
        label="Memory of the squared gradients",
        symbol=r"\mu",
        bounds=(0.0, 0.999999),
        range=(0.9, 0.999),
        grid=(0.9, 0.95, 0.98, 0.99, 0.995, 0.999),
        help="Larger averages the squared gradients over more steps, so that step lengths change "
        "more slowly.",
        equation=r"V_t = \mu V_{t-1} + (1-\mu)\,\bar g_t^2",
        source="Section 6.2",
    ),
]
Damping = Annotated[
    float,
    Knob(
        label="Damping",
        symbol=r"\lambda",
        bounds=(1e-12, 1e3),
        range=(1e-8, 1e-2),
        scale="log",
        grid=(1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2),
        help="Larger shortens the steps where gradients are small.",
        equation=r"G_t = 1/(\lambda + \sqrt{V_t})",
        source="Algorithm 4, Section 6.2",
    ),
]
StepScale = Annotated[
    float,
    Knob(
        label="Step scale",
        symbol="s",
        bounds=(1e-12, 1e3),
        range=(1e-7, 1.0),
        scale="log",
        help="Factor on the step sizes. The paper has none, which is 1; its first step "
        "then goes far beyond the solution.",
        equation=r"\epsilon_t = s\,t^{-\tau}",
        source="Algorithm 4, line 3",
    ),
]
SamplerEpochs = Annotated[
    float,
    Knob(
        label="Epochs of the sampler",
        symbol="E",
        bounds=(1e-3, 1e4),
        range=(0.1, 250.0),
        scale="log",
        grid=(0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 250.0),
        help="One epoch is n steps of the chain. More epochs bring it closer to its target.",
        equation=r"T = E\,n",
        source="Section 6.2",
    ),
]
Minibatch = Annotated[
    int,
    Knob(
        label="Records in a step",
        symbol="k",
        bounds=(1, 100_000),
        range=(10, 1000),
        grid=(10, 20, 50, 100, 200, 500, 1000),
        help="More records give a more exact gradient and slower steps.",
        source="Section 6.2",
    ),
]
BurnIn = Annotated[
    int,
    Knob(
        label="Burn-in steps",
        symbol="t_0",
        bounds=(0, 10_000_000),
        range=(0, 50_000),
        step=1000,
        help="Steps that are left out of the averages, at most half of all.",
        source="Section 6.2",
    ),
]
Samples = Annotated[
    int,
    Knob(
        label="Draws of a chain",
        symbol="m",
        bounds=(8, 100_000),
        range=(50, 2000),
        step=50,
        help="Draws of each of four chains, after the proposal has been fitted.",
    ),
]
GradientSteps = Annotated[
    int,
    Knob(
        label="Gradient steps",
        symbol="T",
        bounds=(1, 1000),
        range=(4, 100),
        step=4,
        help="More steps come closer to the optimum but share the same budget.",
        equation=r"\mu^2 = \sum_t 1/\sigma_t^2",
    ),
]
ClipFactor = Annotated[
    float,
    Knob(
        label="Clipping bound",
        symbol="c",
        bounds=(0.1, 1000.0),
        range=(1.0, 15.0),
        step=0.25,
        help="Bound on one record's whitened gradient, in units of its root mean square "
        "over 3,000 events. Larger clips fewer records and adds more noise.",
        equation=r"C = c\sqrt{(1 + 3/\sigma)\,d/\tilde N}\,(\tilde N/3000)^{1/4}",
    ),
]
NewtonPasses = Annotated[
    int,
    Knob(
        label="Newton passes",
        symbol="T",
        bounds=(1, 20),
        range=(2, 10),
        step=1,
        help="Passes over all records. More come closer to the optimum but share the same budget.",
        equation=r"\mu^2 = \sum_t 1/\sigma_t^2",
        source="Ganesh et al. 2023",
    ),
]
