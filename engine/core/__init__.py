"""Values that every room uses: parameters, measurements, the replica axis, errors. No torch."""
