"""What turns typed specs into private models and streams of events."""

__version__ = "0.1.0"
