"""GMLVQ by gradient descent without privacy."""

from engine.papers.lvq.descent import Descent

METHOD = Descent(matrix=True, private=False)
