"""A private synthetic table: its public columns, its releases, and what follows from them."""
