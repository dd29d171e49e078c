"""GLVQ with private first prototypes and private gradient steps."""

from engine.papers.lvq.descent import Descent

METHOD = Descent(matrix=False, private=True)
