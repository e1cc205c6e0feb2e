"""One thread for everyone: libraries read these when they load, so they are set before any of them is."""

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "NPROC": "1",  # the size of XLA's pool of threads, which the flag alone leaves at all cores
    "JAX_PLATFORMS": "cpu",
}
