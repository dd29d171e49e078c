"""Private training of networks: sampling, ghost clipping, noise, steps; replicas lead."""
