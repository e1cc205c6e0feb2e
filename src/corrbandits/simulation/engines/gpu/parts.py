"""What the kernels of all kinds do: take the problem of a run, draw noise, pull an arm, look an index up."""

from __future__ import annotations

import math
from typing import Any

from corrbandits._core.checks import Array
from corrbandits.simulation.engines.gpu import state
from corrbandits.simulation.engines.gpu.compiling import part, pure
from corrbandits.simulation.engines.gpu.counted import NOISE, normals, uniforms
from corrbandits.simulation.engines.gpu.state import Problem, Record, Steps

ARM, INITIALISING, NEXT, REGRET, TOTAL = state.ARM, state.INITIALISING, state.NEXT, state.REGRET, state.TOTAL


@part
def the_one(problem: Problem, steps: Steps, run: int) -> tuple[Problem, Steps]:
    """Return the problem and the schedule that all runs share."""
    return problem, steps


@part
def its_own(problems: Problem, every: Steps, run: int) -> tuple[Problem, Steps]:
    """Return the problem and the schedule of a run, where runs differ."""
    problem = Problem(
        problems.n[run], problems.means[run], problems.deviations[run], problems.gaps[run], problems.noise[run],
        problems.thresholds[run], problems.prior[run], problems.floor[run], problems.S[run], problems.rank[run],
        problems.root[run], problems.seen[run], problems.binary, problems.log_n, problems.g, problems.key0,
        problems.key1, problems.first, problems.height, problems.width,
    )  # fmt: skip
    return problem, Steps(every.values[run], every.doubts[run], every.eps, every.draws, every.times, every.done)


@pure
def two_noises(problem: Problem, run: int, pair: int) -> tuple[float, float]:
    """Return the noise of two steps, 2 pair and 2 pair + 1 from 0, of a run of these."""
    if problem.binary:
        return uniforms(problem.key0, problem.key1, problem.first + run, NOISE, pair)
    return normals(problem.key0, problem.key1, problem.first + run, NOISE, pair)


@pure
def reward_of(problem: Problem, k: int, eps: float) -> float:
    """Return the reward of an arm."""
    mean = problem.means[k]
    if problem.binary:
        return 1.0 if eps < mean else 0.0
    return mean + problem.deviations[k] * eps


@pure
def note(
    problem: Problem, steps: Steps, record: Record, t: int, run: int, k: int, reward: float, at: Any, of_run: Any,
    writes: bool,
) -> None:  # fmt: skip
    """Note an arm and its reward, or the regret if it is time; of the threads that play a run one writes."""
    of_run[REGRET] += problem.gaps[k]
    of_run[TOTAL] += abs(reward)
    if record.arms.shape[0] > 0:
        if writes:
            record.arms[t, run] = k
            record.rewards[t, run] = reward
    elif at[NEXT] < steps.times.size and steps.times[at[NEXT]] == steps.done + t + 1:
        if writes:
            record.regret[at[NEXT], run] = of_run[REGRET]
        at[NEXT] += 1


@pure
def begin(kept: Any, done: int, run: int, at: Any, of_run: Any) -> None:
    """Set the numbers of a run: those of its first step, or as the last launch left them."""
    for entry in range(at.size):
        at[entry] = kept.at[run, entry] if done > 0 else 0
    for entry in range(of_run.size):
        of_run[entry] = kept.of_run[run, entry] if done > 0 else 0.0
    if done == 0:
        at[ARM], at[INITIALISING] = -1, 1


@pure
def end(kept: Any, run: int, at: Any, of_run: Any) -> None:
    """Keep the numbers of a run for the next launch."""
    for entry in range(at.size):
        kept.at[run, entry] = at[entry]
    for entry in range(of_run.size):
        kept.of_run[run, entry] = of_run[entry]


@pure
def beyond(value: float) -> bool:
    """Return whether a number is infinite or none."""
    return value - value != 0.0


@pure
def gittins(mean: float, variance: float, noise: float, log_n: Array, g: Array, place_m: float) -> float:
    """Return mu + s g(m, sigma^2 / s^2); `place_m` is where log m stands in its lattice (`policies.gittins`)."""
    if variance <= 0.0:
        return mean
    last = log_n.size - 1
    place_n = (math.log(noise / variance) - log_n[0]) / (log_n[last] - log_n[0]) * last
    place_n = min(max(place_n, 0.0), 1.0 * last)
    row, column = min(int(place_m), g.shape[0] - 2), min(int(place_n), last - 1)
    down, along = place_m - row, place_n - column
    left = (1.0 - down) * g[row, column] + down * g[row + 1, column]
    right = (1.0 - down) * g[row, column + 1] + down * g[row + 1, column + 1]
    return mean + math.sqrt(variance) * (left + along * (right - left))
