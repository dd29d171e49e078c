"""GMLVQ by a quasi-Newton method without privacy."""

from engine.papers.lvq.quasi_newton import QuasiNewton

METHOD = QuasiNewton(matrix=True)
