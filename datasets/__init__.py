"""Data sets: one module each, with a card (`CARD`) and a loader (`load`)."""
