"""The Compare page: finished runs on one chart."""
