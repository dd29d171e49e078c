"""The six screens of Learn: text, formula and picture of each."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from engine.audit.words import IF_AS_DECLARED
from engine.papers.mean.spec import UNIT
from engine.privacy.mechanisms import Laplace
from engine.runs.audits import Row, rows
from engine.service.watching import Stage
from pages.ui import words
from pages.ui.charts import attack as attack_charts
from pages.ui.charts.dots import dots
from pages.ui.charts.measured import curve
from pages.ui.jobs import live
from pages.ui.jobs.live import Shown, Watched
from pages.ui.kit import shell, source
from pages.ui.kit.access import troubles
from pages.ui.kit.chart import chart
from pages.ui.kit.glossary import here as link
from pages.ui.kit.lock import locked
from pages.ui.learn import figures, maths
from pages.ui.learn.names import ANSWERS, BUDGETS, CONTROLS
from pages.ui.paper.panels import RAW

SMALLER = "A smaller ε adds more noise and protects more."


@dataclass(frozen=True)
class Screen:
    """One idea.

    Attributes:
        name: In the address.
        title: What the idea says.
        text: Two or three sentences.
        draw: Draws its control and its picture.
        formula: What is behind it, in Markdown with LaTeX.
    """

    name: str
    title: str
    text: str
    draw: Callable[[], None]
    formula: str


def _slide(label: str, name: str, options: tuple[str, ...], default: str, help: str) -> str:
    """A slider whose place the address holds."""
    key = f"learn.{name}"
    return str(
        st.select_slider(
            label, options, default, key=key, help=help, bind="query-params", disabled=locked(key)
        )
    )


@st.fragment
def _count() -> None:
    """Two overlapping densities."""
    epsilon = float(_slide("Privacy budget ε", "count", BUDGETS, "0.5", SMALLER))
    densities = maths.densities(epsilon)
    off = words.number(Laplace(1.0, epsilon).scale, 2)
    right = round(100 * maths.guesses(densities.overlap))
    said = (
        f"At ε = {epsilon:g} the count is off by {off} people on average, and the two curves share "
        f"{100 * densities.overlap:.0f} % of their area. Guessing from one published count whether "
        f"you are in it is right {right} times out of 100."
    )
    st.markdown(said)
    pairs = zip(densities.x[::20], densities.without[::20], densities.present[::20], strict=True)
    table = [
        {"Published count": float(x), "Density without you": float(a), "Density with you": float(b)}
        for x, a, b in pairs
    ]
    chart("learn.count.chart", figures.overlap(densities, epsilon), said, table, epsilon)


@st.fragment
def _odds() -> None:
    """One hundred dots."""
    epsilon = float(_slide("Privacy budget ε", "odds", BUDGETS, "1", SMALLER))
    chance = words.best_guess(epsilon)
    count = words.filled(chance)
    st.image(dots(count), width=600, alt=f"{count} of 100 dots are filled, 50 of them in grey.")
    st.markdown(words.odds(epsilon, 0.0, "add_or_remove_one", "a person"))
    st.caption(
        "Grey dots: right by blind guessing. Coloured dots: what the result adds at most, whatever "
        "the attacker knows already. Nanayakkara et al. 2023, arXiv 2303.00738."
    )


def _clipping() -> None:
    """Bias against noise; the bias comes from a run on real records."""
    with troubles():
        job = maths.clipping()
        shown = Shown({"laplace": job}, {"laplace": "Laplace"}, asks=((job, Stage.FULL),))
        live.follow(_clipped, "learn.live", lambda: shown)


def _clipped(watched: dict[str, Watched]) -> None:
    """What clipping costs at the chosen bound."""
    options = CONTROLS["learn.bound"]
    bound = float(
        _slide(f"Clipping bound B [{UNIT}]", "bound", options, "5",
               "A larger B clips fewer values and needs more noise.")
    )  # fmt: skip
    noise, one = maths.deviations(), watched["laplace"]
    at = maths.BOUNDS.index(bound)
    lines = {}
    if one.results is not None:
        names = ("bias", "expected")
        lines = {name: curve(one.results, name, name, 0, "bound") for name in names}
    bias, both = lines.get("bias"), lines.get("expected")
    size = words.number(noise[at], 2)
    said = f"At B = {bound:g} the noise has a standard deviation of {size} {UNIT}"
    if bias is not None and (place := bias.at(bound)) is not None:
        said += f", and clipping lowers the mean by {words.number(bias.middle[place], 2)} {UNIT}."
    else:
        said += ". The bias appears as soon as the run has measured it."
    st.markdown(said)
    table = [
        {f"B [{UNIT}]": b, f"Noise [{UNIT}]": n,
         f"Bias [{UNIT}]": None if bias is None or (i := bias.at(b)) is None else bias.middle[i]}
        for b, n in zip(maths.BOUNDS, noise, strict=True)
    ]  # fmt: skip
    source.name([one.job.id])
    drawn = figures.clipping(maths.BOUNDS, noise, bias, both, bound)
    chart("learn.bound.chart", drawn, said, table, bound)
    source.name(())
    st.caption(
        f"Mean of a blood value of {maths.FEW} people at ε = {one.job.values['epsilon']:g}; half "
        f"of the budget pays for a histogram. {RAW}"
    )


@st.fragment
def _answers() -> None:
    """Budgets of many answers add up."""
    count = int(_slide("Answers published", "answers", ANSWERS, "10", "More answers cost more."))
    total = maths.total(count)
    right = words.out_of_100(words.best_guess(total))
    said = (
        f"{words.plural(count, 'answer')} at ε = {maths.EACH:g} cost ε = {total:g} together. A "
        f"guess is right at most {right} times out of 100. The average of the answers has "
        f"an error of {words.number(maths.average_off(count), 2)} people (standard deviation)."
    )
    st.markdown(said)
    table = [
        {
            "Answers": n,
            "ε together": maths.total(n),
            "Right at most": words.best_guess(maths.total(n)),
        }
        for n in map(int, ANSWERS)
    ]
    chart("learn.answers.chart", figures.answers(count), said, table, total)


@st.fragment
def _attack() -> None:
    """Claimed, proved and attacked budget of one method."""
    attacks = {_named(row): row for row in rows() if row.epsilon_attacked is not None}
    if not attacks:
        st.markdown("No attacks ship with this copy.")
        return
    names = list(attacks)
    first = next((i for i, row in enumerate(attacks.values()) if row.broken), 0)
    chosen = st.selectbox("Method", names, first, key="learn.attack", bind="query-params",
                          help="Each was attacked at its page's first budget.")  # fmt: skip
    row, said = attacks[chosen], _finding(attacks[chosen])
    st.markdown(said)
    table = [{"Claimed ε": row.epsilon_claimed, "Proved ε": row.epsilon_proved,
              "Attacked ε, at least": row.epsilon_attacked}]  # fmt: skip
    drawn = attack_charts.ruler(row.epsilon_claimed, row.epsilon_proved, row.epsilon_attacked)
    chart("learn.attack.chart", drawn, said, table, 0.0)
    st.caption(
        f"{row.replicas:,} trainings with one extreme record and as many without it, on "
        f"{words.short(row.dataset)}. 95 % confidence. {IF_AS_DECLARED if row.by_curve else ''}"
    )


def _named(row: Row) -> str:
    """A method's name, its paper, and which noise."""
    paper = shell.papers().get(row.paper)
    label = row.method if paper is None else paper.entry(row.method).label
    noise = {"paper": ", as printed", "rigorous": ", with proof"}.get(row.calibration, "")
    return f"{label}{noise} ({row.paper if paper is None else paper.title.partition(' (')[0]})"


def _finding(row: Row) -> str:
    """What an attack says, in one or two sentences."""
    shown = words.number(row.epsilon_attacked or 0.0)
    if row.broken:
        return (
            f"The attack shows that ε is at least {shown}. That is more than the stated ε: the "
            "statement, or an assumption behind it, does **not hold** for every record."
        )
    if row.epsilon_proved is None:
        return f"The attack shows that ε is at least {shown}. No finite ε is proved."
    return (
        f"The true ε lies between {shown}, which the attack shows, and "
        f"{words.number(row.epsilon_proved)}, which is proved."
    )


@st.fragment
def _papers() -> None:
    """Where each paper puts its noise."""
    papers = {one.title.partition(" (")[0]: one for one in shell.papers().values()}
    if not papers:
        st.markdown("This copy holds no papers.")
        return
    title = st.selectbox("Paper", list(papers), key="learn.paper", bind="query-params",
                         help="Each has a page of its own.")  # fmt: skip
    one = papers[title]
    st.markdown(f"**It claims** {one.claim}")
    private = [entry for entry in one.methods if entry.role != "reference"]
    st.markdown("\n".join(f"- **{entry.label}**: {entry.summary}" for entry in private))
    st.caption(f"{one.citation}.")
    st.page_link(shell.script(one.slug), label="Open", icon=":material/arrow_forward:")


SCREENS = (
    Screen(
        "count",
        "Noise hides one person",
        f"{maths.COUNT} people answered yes, or {maths.COUNT + 1} if you are among them. The exact "
        f"count would give you away to someone who knows all the others. So {link('Noise')} is "
        f"added before the count is published. The {link('Privacy budget ε', 'privacy budget ε')} "
        "sets how much.",
        _count,
        r"Noise of scale $b = \Delta/\varepsilon$ has density $e^{-|x|/b}/(2b)$. Here the "
        r"sensitivity is $\Delta = 1$. The curves share the area $e^{-\varepsilon/2}$.",
    ),
    Screen(
        "odds",
        "ε is a limit on guessing",
        "Someone sees a result and guesses whether you are in the data. Blind guessing is right "
        "50 times out of 100. ε limits how much better anybody can do, for every kind of result: "
        "a count, a mean or a trained network.",
        _odds,
        r"For neighbouring data sets $D, D'$ and every set $S$ of results: "
        r"$\Pr[M(D)\in S] \le e^{\varepsilon}\Pr[M(D')\in S]$. With even odds, a guess is right "
        r"with probability at most $e^{\varepsilon}/(1+e^{\varepsilon})$.",
    ),
    Screen(
        "clipping",
        "Clipping trades bias for noise",
        "One very large value can move a mean far, so hiding it needs a lot of noise. "
        f"{link('Clipping', 'Clipping')} cuts every value to a bound B. A small B makes the mean "
        "too small, which is bias. A large B needs more noise. The best B lies between.",
        _clipping,
        r"$\hat\mu = \frac1m\sum_i\min(x_i,B) + \mathrm{Laplace}(b)$ with $b = B/(m\,\varepsilon_"
        r"\mathrm{mean})$. The expected error is $\sqrt{\mathrm{bias}^2 + 2b^2}$.",
    ),
    Screen(
        "answers",
        "A hundred answers cost more than one",
        "Ask the same question again and again, and the average of the answers cancels the noise. "
        f"That is why budgets add up ({link('Composition')}). Training a model is many small "
        "answers: every training step spends some budget.",
        _answers,
        r"Releases with budgets $\varepsilon_1,\dots,\varepsilon_k$ are together "
        r"$(\varepsilon_1+\dots+\varepsilon_k)$-private. The average of $k$ answers has standard "
        r"deviation $b\sqrt{2/k}$.",
    ),
    Screen(
        "attack",
        "A proof is a ceiling, an attack is a floor",
        f"A claim alone protects nobody. A {link('Proved', 'proof')} shows that ε is at most some "
        f"value, whatever anybody tries. An {link('Attacked', 'attack')} trains with and without "
        "one record, guesses which was which, and shows that ε is at least some value. A claim "
        "below the floor is wrong.",
        _attack,
        r"If false alarms are $\alpha$ and misses $\beta$, then "
        r"$\varepsilon \ge \ln\frac{1-\delta-\beta}{\alpha}$ (Kairouz, Oh and Viswanath 2015).",
    ),
    Screen(
        "papers",
        "Where papers put the noise",
        "Noise can be added to the final answer, to what is minimised, or to every training step. "
        "Choose a paper, read what it claims, and open its page to see what its noise costs.",
        _papers,
        "Each paper's page shows its formulas beside its settings.",
    ),
)
