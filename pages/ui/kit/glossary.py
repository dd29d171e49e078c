"""The field's terms, in one or two sentences each, and links from texts that use them."""

import re

from pages.ui.kit.root import rooted

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
    "Proved under an assumption": "The proof needs something that nobody has checked, such "
    "as a chain that has converged. The card says what.",
    "Heuristic": "There is an argument for privacy, but no proof. Do not rely on it for real data.",
    "Not private": "Computed without noise, for comparison only.",
    "Attacked": "The ε that an attack has shown. It is a lower bound: the true ε is at least "
    "this, if the noise is of the declared kind.",
    "As printed": "The noise that a paper's formulas give, even where they do not prove its claim.",
    "With proof": "As much noise as the proof needs.",
    "Measure": "A number that says how useful a result is, such as its accuracy or its error.",
}


MENTIONS: dict[str, str] = {
    "Privacy budget ε": r"privacy budgets?(?: ε)?|budgets?",
    "Failure probability δ": r"failure probability(?: δ)?",
    "Record": r"records?",
    "Clipping": r"clip(?:s|ped|ping)?",
    "Batch": r"batch(?:es)?",
    "Training step": r"training steps?",
    "Repetition": r"repetitions?",
    "Guarantee": r"guarantees?",
    "Claimed": r"claim(?:s|ed)?",
    "Attacked": r"attack(?:s|ed)?",
    "Measure": r"measures?",
    "Mechanism": r"mechanisms?",
}
"""How texts mention terms, where not as the glossary spells them alone."""
ASIDE = re.compile(r"\[[^]]*\]\([^)]*\)|\$\$?[^$]*\$\$?|`[^`]*`|:material/\w+:|https?://\S+")
"""What holds no mentions: links, formulas, code and icons."""
_SAID = {f"t{i}": term for i, term in enumerate(sorted(TERMS, key=len, reverse=True))}
_MENTION = re.compile(
    "|".join(rf"(?P<{key}>\b(?:{MENTIONS.get(term, term)})\b)" for key, term in _SAID.items()),
    re.IGNORECASE,
)


def linked(text: str) -> str:
    """A text in Markdown whose first mention of each term leads to the glossary.

    >>> linked("Noise hides a record; more noise hides `noise` better.")
    '[Noise](/learn#noise) hides a [record](/learn#record); more noise hides `noise` better.'
    """
    page = rooted("/learn")
    known = {term for term in TERMS if f"{page}#{anchor(term)})" in text}

    def lead(found: re.Match[str]) -> str:
        term = _SAID[str(found.lastgroup)]
        if term in known:
            return found[0]
        known.add(term)
        return f"[{found[0]}]({page}#{anchor(term)})"

    made, end = "", 0
    for aside in ASIDE.finditer(text):
        made += _MENTION.sub(lead, text[end : aside.start()]) + aside[0]
        end = aside.end()
    return made + _MENTION.sub(lead, text[end:])


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
    return here(term, text).replace("](#", f"]({rooted('/learn')}#")


def here(term: str, text: str = "") -> str:
    """The same for the page that holds the glossary."""
    if term not in TERMS:
        raise KeyError(f"glossary: expected one of {', '.join(TERMS)}, got {term!r}")
    return f"[{text or term.lower()}](#{anchor(term)})"
