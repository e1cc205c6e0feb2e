"""Ensembles of runs.

Run k draws from `SeedSequence(seed, spawn_key=(k,))`, with one stream for the environment and one for the policy,
so it is the same whatever runs beside it: other runs, other policies, other threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from corrbandits import checks
from corrbandits.belief import Belief
from corrbandits.blas import one_thread
from corrbandits.checks import Array, Integers
from corrbandits.engines import Run, play_compiled, play_reference, why_not_compiled
from corrbandits.environments import Environment
from corrbandits.policies import Policy
from corrbandits.progress import bar
from corrbandits.trace import Trace

if TYPE_CHECKING:
    import xarray as xr

Engine = Literal["auto", "compiled", "reference"]
Policies = Mapping[str, tuple[Policy, Belief]]


def simulate(
    policies: Policies,
    environment: Environment,
    horizon: int,
    runs: int = 1,
    seed: int = 0,
    *,
    engine: Engine = "auto",
    threads: int | None = None,
    progress: bool | None = None,
) -> Trace:
    """Return the trace of `runs` runs of each policy, each starting from its own belief.

    `engine` is "auto" (compiled where it can be), "compiled" or "reference". `threads` are as many as there are
    cores by default; the result does not depend on it. `progress` shows a bar with the time left; by default when
    the work is long and a person watches.

    >>> from corrbandits import UCL, GaussianBandit, Independent
    >>> bandit = GaussianBandit(means=[0.0, 1.0, 2.0], noise_variance=1.0)
    >>> prior = Independent(noise_variance=1.0, arms=3)
    >>> trace = simulate({"UCL": (UCL(a=1.5), prior)}, bandit, horizon=200, runs=50, seed=0)
    >>> trace.counts.mean("run").values.round(1)
    array([[  3.3,   9.5, 187.2]])
    """
    horizon, runs = checks.integer("horizon", horizon, least=1), checks.integer("runs", runs, least=1)
    seed = checks.integer("seed", seed, least=0)
    threads = os.cpu_count() or 1 if threads is None else checks.integer("threads", threads, least=1)
    players = [(*pair, _engine(pair, environment, engine)) for pair in _checked(policies, environment).values()]

    arms, rewards, steps = _recording(len(players), runs, horizon)
    stopped = threading.Event()

    def play(player: int, run: int) -> None:
        policy, belief, engine_of_player = players[player]
        for_environment, for_policy = np.random.SeedSequence(seed, spawn_key=(run,)).spawn(2)
        noise = environment.noise(np.random.default_rng(for_environment), horizon)
        rng = np.random.default_rng(for_policy)
        where = (player, run)
        engine_of_player(
            Run(policy, belief, environment, noise, rng, arms[where], rewards[where], steps[where], stopped)
        )

    with one_thread():
        _all(play, steps[..., 0], horizon, threads, stopped, progress)
    return Trace(_dataset(policies, environment, arms, rewards, steps[..., 1], seed))


def _recording(players: int, runs: int, horizon: int) -> tuple[Any, Array, Integers]:
    """Return the arrays that runs are recorded in: arms, rewards and progress."""
    try:
        arms = np.empty((players, runs, horizon), dtype=np.int32)
        return arms, np.empty(arms.shape), np.zeros((players, runs, 3), dtype=np.int64)
    except (MemoryError, ValueError):
        size = 12 * players * runs * horizon / 1e9
        raise MemoryError(
            f"{players} policies x {runs:,} runs x {horizon:,} decisions take {size:,.0f} GB to record, which are "
            "not to be had here. Take fewer runs or a shorter horizon."
        ) from None


def _all(
    play: Callable[[int, int], None],
    done: Integers,
    horizon: int,
    threads: int,
    stopped: threading.Event,
    progress: bool | None,
) -> None:
    """Play every run in threads; on Ctrl-C or an error the others stop at their next step."""
    with ThreadPoolExecutor(threads) as pool, bar(done.size * horizon, progress) as show:
        try:
            waiting = {pool.submit(play, *where) for where in np.ndindex(done.shape)}
            while waiting:
                finished, waiting = wait(waiting, timeout=0.1, return_when=FIRST_EXCEPTION)
                for future in finished:
                    future.result()
                show(int(done.sum()))
        except BaseException:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise


def _checked(policies: Any, environment: Any) -> Policies:
    if not isinstance(environment, Environment):
        raise TypeError(f"environment must be an Environment such as GaussianBandit(...), but {environment!r} came.")
    if not isinstance(policies, Mapping) or not policies:
        raise TypeError(f"policies must be a dictionary of name: (policy, belief), but {policies!r} came.")
    for name, pair in policies.items():
        if not isinstance(name, str) or not name or "\0" in name:
            raise TypeError(f"a policy's name must be text, but {name!r} came.")
        right = isinstance(pair, tuple) and len(pair) == 2
        if not (right and isinstance(pair[0], Policy) and isinstance(pair[1], Belief)):
            raise TypeError(f"policy {name!r} must be a pair (policy, belief), but {pair!r} came.")
        if pair[1].arms != environment.arms:
            raise ValueError(
                f"the belief of policy {name!r} has {pair[1].arms} arms, but the environment has {environment.arms}."
            )
    return policies


def _engine(pair: tuple[Policy, Belief], environment: Environment, engine: Any) -> Callable[[Run], None]:
    if engine not in ("auto", "compiled", "reference"):
        raise ValueError(f"engine must be auto, compiled or reference, but {engine!r} came.")
    why_not = why_not_compiled(*pair, environment)
    if engine == "compiled" and why_not:
        raise ValueError(f"the compiled engine cannot play this, since {why_not}; use engine='auto' or 'reference'.")
    return play_reference if engine == "reference" or why_not else play_compiled


def _dataset(
    policies: Policies, environment: Environment, arms: Any, rewards: Any, initialisation: Integers, seed: int
) -> xr.Dataset:
    import xarray as xr

    each = ("policy", "run")
    players, runs, horizon = arms.shape
    numbered = np.arange(players * runs)[:, None] * environment.arms + arms.reshape(players * runs, horizon)
    counts = np.bincount(numbered.ravel(), minlength=players * runs * environment.arms)
    variables: dict[str, Any] = {
        "arms": ((*each, "time"), arms, {"long_name": "arm taken"}),
        "rewards": ((*each, "time"), rewards, {"long_name": "reward"}),
        "counts": ((*each, "arm"), counts.reshape(players, runs, -1), {"long_name": "times taken"}),
        "initialisation": (each, initialisation, {"long_name": "length of initialisation", "units": "steps"}),
        **describe(environment),
    }
    return xr.Dataset(
        variables,
        {"policy": list(policies), "run": np.arange(runs), "time": np.arange(1, horizon + 1)},
        {
            "seed": seed,
            "rules": [repr(policy) for policy, _ in policies.values()],
            "version": version("corrbandits"),
        },
    )


def describe(environment: Environment) -> dict[str, Any]:
    """Return the environment as variables of a data set: true means, noise and coordinates."""
    variables: dict[str, Any] = {
        "means": ("arm", environment.means, {"long_name": "true mean reward"}),
        "noise_variance": ("arm", environment.noise_variance, {"long_name": "variance of a reward"}),
    }
    if environment.coordinates is not None:
        variables["coordinates"] = (("arm", "dimension"), environment.coordinates, {"long_name": "where the arms lie"})
    return variables
