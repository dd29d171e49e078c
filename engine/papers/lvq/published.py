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
DEVIATIONS: dict[tuple[str, str], tuple[float, ...]] = {
    ("mnist", "glvq"): (0.0042, 0.0020, 0.0020, 0.0022, 0.0018),
    ("mnist", "gmlvq"): (0.0162, 0.0067, 0.0033, 0.0031, 0.0021),
    ("har", "glvq"): (0.0061, 0.0063, 0.0058, 0.0062, 0.0062),
    ("har", "gmlvq"): (0.0074, 0.0080, 0.0057, 0.0068, 0.0066),
    ("segment", "glvq"): (0.0779, 0.0152, 0.0124, 0.0133, 0.0132),
    ("segment", "gmlvq"): (0.0432, 0.0205, 0.0233, 0.0108, 0.0109),
}
"""Standard deviations over folds, printed in Table 1 behind each of the numbers above."""
SPREADS = {
    ("clip", 0.75): 0.1275, ("clip", 1.0): 0.0412, ("clip", 2.5): 0.0062,
    ("epochs", 0.75): 0.0361, ("epochs", 1.0): 0.0081, ("epochs", 2.5): 0.0060,
    ("sample_rate", 0.75): 0.0899, ("sample_rate", 1.0): 0.0370, ("sample_rate", 2.5): 0.0062,
}  # fmt: skip
"""Standard deviation of the error on Motion over C, E and q (Section 4)."""
PERTURBED = {"mnist": 0.0277, "har": 0.0234}
"""Rise of the error when the relevance matrix is perturbed (Section 4)."""
