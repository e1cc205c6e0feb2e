"""Those who use Optuna's storage on a database: threads that ask and tell without a pause, with its random sampler.

    python -m benchmarks.load.optunas URL CLIENTS SECONDS

Prints one JSON document: seconds of each call, and how many failed and how.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter


def run(url: str, count: int, seconds: float) -> dict:
    """Return what all threads saw."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    patient = {"connect_args": {"timeout": 60}} if url.startswith("sqlite") else {}
    storage = optuna.storages.RDBStorage(url, engine_kwargs=patient | {"pool_size": count, "max_overflow": count})
    sampler = optuna.samplers.RandomSampler(seed=0)
    optuna.create_study(study_name="load", storage=storage, sampler=sampler, direction="maximize")
    times: dict[str, list[float]] = {"ask": [], "tell": []}
    errors: Counter[str] = Counter()
    until, arms = time.monotonic() + seconds, list(range(100))

    def work() -> None:
        study = optuna.load_study(study_name="load", storage=storage, sampler=sampler)
        while time.monotonic() < until:
            try:
                begun = time.perf_counter()
                trial = study.ask()
                arm = trial.suggest_categorical("arm", arms)
                asked = time.perf_counter()
                study.tell(trial, 30.0 + arm % 10)
                times["ask"].append(asked - begun)
                times["tell"].append(time.perf_counter() - asked)
            except Exception as error:
                errors[type(error).__name__] += 1

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"times": times, "errors": dict(errors)}


if __name__ == "__main__":
    url, count, seconds = sys.argv[1:]
    print(json.dumps(run(url, int(count), float(seconds))))
