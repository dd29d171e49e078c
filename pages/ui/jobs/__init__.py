"""Runs on a page: submitting, watching, listing and downloading them."""
