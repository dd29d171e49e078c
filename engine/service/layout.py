"""How the store's file is laid out, which version that is, and what came later."""

import sqlite3

SCHEMA = 1
"""Number of the layout below; a change of the layout is a new number."""

LAYOUT = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE jobs (
        id TEXT PRIMARY KEY, paper TEXT NOT NULL, method TEXT NOT NULL, dataset TEXT NOT NULL,
        text TEXT NOT NULL, focus TEXT NOT NULL, state TEXT NOT NULL,
        created REAL NOT NULL, started REAL, finished REAL,
        pid INTEGER, born TEXT, beat REAL, stop REAL, attempt INTEGER NOT NULL DEFAULT 1,
        done INTEGER NOT NULL DEFAULT 0, total INTEGER NOT NULL DEFAULT 0,
        seq INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '',
        diverged TEXT NOT NULL DEFAULT '[]')""",
    "CREATE INDEX jobs_by_state ON jobs (state, created)",
    """CREATE TABLE events (
        run TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE, seq INTEGER NOT NULL,
        at REAL NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run, seq)) WITHOUT ROWID""",
    """CREATE TABLE artifacts (
        run TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE, name TEXT NOT NULL,
        digest TEXT NOT NULL, PRIMARY KEY (run, name)) WITHOUT ROWID""",
    "CREATE INDEX artifacts_by_digest ON artifacts (digest)",
    """CREATE TABLE workers (
        device TEXT PRIMARY KEY, pid INTEGER NOT NULL, born TEXT NOT NULL, beat REAL NOT NULL)""",
    """CREATE TABLE apps (
        pid INTEGER NOT NULL, born TEXT NOT NULL, beat REAL NOT NULL, PRIMARY KEY (pid, born))""",
    f"INSERT INTO meta VALUES ('schema', '{SCHEMA}')",
)

ADDED = {
    ("jobs", "worked"): "REAL NOT NULL DEFAULT 0",
    ("jobs", "sources"): "TEXT NOT NULL DEFAULT ''",
    ("jobs", "crc"): "INTEGER",
    ("jobs", "kept"): "INTEGER",
    ("jobs", "owner"): "TEXT NOT NULL DEFAULT ''",
    ("jobs", "passing"): "INTEGER NOT NULL DEFAULT 0",
    ("jobs", "viewed"): "INTEGER NOT NULL DEFAULT 1",
    ("jobs", "lost"): "INTEGER NOT NULL DEFAULT 0",
    ("events", "crc"): "INTEGER",
    ("prices", "sources"): "TEXT NOT NULL DEFAULT ''",
    ("prices", "crc"): "INTEGER",
}
"""Columns that came later, by table and name; older programs do not miss them."""

LATER = (
    """CREATE TABLE IF NOT EXISTS answers (
        question TEXT NOT NULL, option INTEGER NOT NULL, times INTEGER NOT NULL,
        PRIMARY KEY (question, option)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS looking (
        run TEXT NOT NULL, session TEXT NOT NULL, person TEXT NOT NULL, seen REAL NOT NULL,
        stage INTEGER NOT NULL, place INTEGER NOT NULL, since REAL NOT NULL,
        PRIMARY KEY (run, session)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS questions (
        text TEXT PRIMARY KEY, asked REAL NOT NULL, urgent INTEGER NOT NULL)""",
    "CREATE TABLE IF NOT EXISTS prices (code TEXT PRIMARY KEY, value REAL NOT NULL)",
)
"""Tables that came later; older programs do not miss them."""

LOOSE = (
    "PRAGMA temp_store = MEMORY",
    "CREATE TEMP TABLE loose (digest TEXT NOT NULL)",
    """CREATE TEMP TRIGGER loosened AFTER DELETE ON main.artifacts
        BEGIN INSERT INTO loose VALUES (old.digest); END""",
)
"""What each connection keeps for itself: the digests of arrays whose row it has removed."""


def widen(connection: sqlite3.Connection) -> None:
    """Adds the columns and tables that a file from before them lacks."""
    for statement in LATER:
        connection.execute(statement)
    if _lacking(connection):
        connection.execute("BEGIN IMMEDIATE")
        for table, name in _lacking(connection):  # nobody else was quicker
            kind = ADDED[table, name]
            connection.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind}")
        connection.execute("COMMIT")


def _lacking(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    there = {
        (table, row["name"])
        for table in {table for table, _ in ADDED}
        for row in connection.execute(f"PRAGMA table_info({table})")
    }
    return [column for column in ADDED if column not in there]


def version(connection: sqlite3.Connection) -> int | None:
    """The version of the layout: None of an empty file, 0 of one that does not say."""
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    if not tables:
        return None
    if "meta" not in tables:
        return 0
    row = connection.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    return int(row[0]) if row and str(row[0]).isdigit() else 0
