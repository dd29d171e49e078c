"""What runs keep, by name, and what of it is released. No torch here."""

from engine.core.kept import Kept

ARRAYS = {
    "prototypes": Kept("Prototypes in the units of the data set", released=True),
    "labels": Kept("Class of each prototype", released=True, public=True),
    "relevance": Kept("Weight of each feature in the metric", released=True, public=True),
    "omega": Kept("The metric's matrix", released=True),
    "eigenvalues": Kept("The metric's eigenvalues", released=True, public=True),
    "eigenvectors": Kept("Its three leading directions", released=True),
    "anchors": Kept("Prototypes in the plane of two directions", released=True),
    "edges": Kept("Edges of the bins", released=True, public=True),
    "points": Kept("Held-out records in the same plane"),
    "classes": Kept("Their classes"),
    "nearest": Kept("Nearest training record of each prototype"),
    "distance": Kept("How far it is"),
    "typical": Kept("Median distance of the class's training records"),
    "members": Kept("Training records of each prototype's class"),
    "histogram": Kept("Training records by the norm of their gradient"),
    "by_group": Kept("Measure and number of records of each group"),
}
RAW = ("square",)
