"""Addresses and readers know methods by their labels: each stands for the method that it names."""

from engine.catalog import catalog

LABELS = {
    "enadpp": {
        "enadpp": "EnADPP", "adppl": "ADPPL", "appdl": "APPDL", "psgd": "pSGD",
        "non_private": "No privacy", "dpsgd": "DP-SGD today", "dp_ftrl": "DP-FTRL",
    },
    "lvq": {
        "glvq_dp": "GLVQ, private", "gmlvq_dp": "GMLVQ, private", "glvq_sgd": "GLVQ, SGD",
        "gmlvq_sgd": "GMLVQ, SGD", "glvq_bfgs": "GLVQ, BFGS", "gmlvq_bfgs": "GMLVQ, BFGS",
    },
    "mean": {
        "laplace": "Laplace", "gaussian": "Gaussian", "exact": "No privacy, still clipped",
    },
    "pcdbn": {
        "pcdbn": "pCDBN", "pcdbn_te": "pCDBN, Taylor", "pcdbn_pw": "pCDBN, line", "psgd": "pSGD",
        "tcdbn": "TCDBN", "cdbn": "CDBN",
    },
    "survival": {
        "out_pert": "Output perturbation", "obj_pert": "Objective perturbation",
        "psgld": "Sanitised posterior, pSGLD", "exact": "Sanitised posterior, corrected",
        "dp_gd": "Private gradient descent", "dp_newton": "Private Newton",
        "cox_dp": "Private Cox regression", "km_dp": "Private Kaplan–Meier curve",
        "out_pert_gauss": "Output perturbation, Gaussian",
        "obj_pert_gauss": "Objective perturbation, Gaussian", "non_private": "Without privacy",
        "unregularised": "Without privacy or regularisation", "cox": "Cox regression",
        "oracle": "Oracle, for comparison only",
    },
    "yesiwell": {
        "pcdbn": "pCDBN", "pcdbn_te": "pCDBN, Taylor", "pcdbn_pw": "pCDBN, line", "dpah": "dPAH",
        "dpsgd": "DP-SGD", "tcdbn": "TCDBN", "cdbn": "CDBN", "sctrbm": "SctRBM",
    },
}  # fmt: skip
"""A label that changes takes shared links along: old ones then open another method."""


def test_a_label_stands_for_the_method_that_it_names():
    known = catalog()
    assert {
        slug: {name: known[slug].entry(name).label for name in methods}
        for slug, methods in LABELS.items()
    } == LABELS
