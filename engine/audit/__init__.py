"""Attacks on private methods, and the privacy loss that they prove. It knows no paper."""
