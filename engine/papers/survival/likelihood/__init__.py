"""The discrete-time likelihood: records, links, and its sums and derivatives."""
