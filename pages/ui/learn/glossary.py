"""The field's terms, in one or two sentences each."""

TERMS: dict[str, str] = {
    "Differential privacy": "A property of a computation with random noise: its result is almost "
    "as likely with one record as without it.",
    "Privacy budget ε": "The number that bounds how much more likely a result can become through "
    "one record: by a factor of at most e^ε. A smaller ε protects more.",
    "Failure probability δ": "The probability with which the bound by ε may fail. It should be far "
    "smaller than one over the number of records. Laplace noise has δ = 0.",
    "Record": "What is protected as a whole: a person, an image, or all rows of one person. Every "
    "guarantee names its record.",
    "Neighbours": "Two data sets that differ in one record. It is either replaced by another, or "
    "added or removed.",
    "Sensitivity": "The most that one record can change an answer before noise is added. Noise is "
    "proportional to it.",
    "Clipping": "Cutting values or gradients to a bound, so that no record changes the answer by "
    "more than a known amount. It adds bias.",
    "Noise": "Random numbers that are added to an answer. Their size is the sensitivity divided by "
    "the budget.",
    "Mechanism": "A rule that adds noise, such as Laplace or Gaussian noise.",
    "Composition": "How the budgets of several answers add up. Plain budgets are summed; many "
    "small Gaussian answers cost less than their sum.",
    "Batch": "The records that one training step uses. If they are drawn at random, one step costs "
    "less.",
    "Training step": "One update of a model. A model that is trained with noise pays for every "
    "step.",
    "Repetition": "The same computation with other random numbers. It shows how much the result "
    "varies by chance.",
    "Guarantee": "What is stated of the privacy of a result: ε and δ, for which record, and why.",
    "Claimed": "The ε that a paper or a program states.",
    "Proved": "The ε for which a proof holds as this method runs here. It is an upper bound: no "
    "attack can show more.",
    "Attacked": "The ε that an attack has shown. It is a lower bound: the true ε is at least this.",
    "As printed": "The noise that a paper's formulas give, even where they do not prove its claim.",
    "With proof": "As much noise as the proof needs.",
    "Measure": "A number that says how useful a result is, such as its accuracy or its error.",
}


def anchor(term: str) -> str:
    """The name of a term in an address.

    >>> anchor("Privacy budget ε"), anchor("As printed")
    ('privacy-budget', 'as-printed')
    """
    return "-".join(part for part in term.casefold().split() if part.isascii())


def link(term: str, text: str = "") -> str:
    """A link to a term, in Markdown.

    Args:
        term: As the glossary spells it.
        text: What the link says; the term if empty.

    Raises:
        KeyError: The glossary does not have it.
    """
    return here(term, text).replace("](#", "](/learn#")


def here(term: str, text: str = "") -> str:
    """The same for the page that holds the glossary."""
    if term not in TERMS:
        raise KeyError(f"glossary: expected one of {', '.join(TERMS)}, got {term!r}")
    return f"[{text or term.lower()}](#{anchor(term)})"
