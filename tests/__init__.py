"""Tests; a package, so that no installed one of this name is found instead."""
