"""How likely rewards are under a Gaussian prior, and which prior makes them most likely; on arrays and kernels."""
