"""One package per paper; the catalogue picks up whatever lies here."""
