"""Many at once: those who ask and tell over HTTP, and those who use Optuna's storage, each in a process of its own."""
