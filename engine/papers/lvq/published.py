"""What the paper prints: Table 1 and the two studies of Section 4. No torch here."""

BUDGETS = (0.75, 1.5, 2.5)
CURVE = (0.1, 0.2, 0.4, 0.75, 1.0, 1.5, 2.0, 2.5, 4.0, 8.0)
MODELS = ("glvq", "gmlvq")
NAMES = {"mnist": "MNIST", "har": "Motion", "segment": "Segment", "digits": "Digits"}
CLASSES = {"MNIST": 10, "Motion": 6, "Segment": 7, "Digits": 10}
"""How many classes the data have, by the name in the table."""
PUBLISHED: dict[tuple[str, str], tuple[float, ...]] = {
    ("mnist", "glvq"): (0.1893, 0.1871, 0.1871, 0.1857, 0.1853),
    ("mnist", "gmlvq"): (0.2188, 0.1721, 0.1673, 0.1583, 0.1484),
    ("har", "glvq"): (0.1121, 0.1123, 0.1121, 0.1112, 0.1111),
    ("har", "gmlvq"): (0.1116, 0.1048, 0.1038, 0.0914, 0.0897),
    ("segment", "glvq"): (0.4793, 0.1792, 0.1635, 0.1458, 0.1458),
    ("segment", "gmlvq"): (0.2642, 0.1745, 0.1696, 0.0932, 0.0870),
}
SPREADS = {
    ("clip", 0.75): 0.1275, ("clip", 1.0): 0.0412, ("clip", 2.5): 0.0062,
    ("epochs", 0.75): 0.0361, ("epochs", 1.0): 0.0081, ("epochs", 2.5): 0.0060,
    ("sample_rate", 0.75): 0.0899, ("sample_rate", 1.0): 0.0370, ("sample_rate", 2.5): 0.0062,
}  # fmt: skip
"""Standard deviation of the error on Motion over C, E and q (Section 4)."""
PERTURBED = {"mnist": 0.0277, "har": 0.0234}
"""Rise of the error when the relevance matrix is perturbed (Section 4)."""
