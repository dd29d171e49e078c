"""Processes and storage: the store, the worker, the scheduler, the client."""
