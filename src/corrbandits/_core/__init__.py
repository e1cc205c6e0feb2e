"""What the numerical parts share: checks of input, Gaussian inference on arrays, exact sums, BLAS on one thread."""
