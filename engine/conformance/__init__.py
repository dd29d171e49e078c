"""What every private method must keep, run against each of them: `pytest engine/conformance`."""
