"""Speed, ours against the peers, in one run on the same work: `make bench`, or `python -m benchmarks --help`."""
