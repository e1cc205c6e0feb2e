"""What fitting people costs: likelihood, gradient, fit, and the same fit as it is usually done.

    python -m benchmarks.people [--people 3] [--data wu2018_exp2_2d.csv] [--quick]

The people are made up on an 11 x 11 grid, 8 rounds of 40 choices, or with --data those of the experiment of 2018. The
usual way is that study's: differential evolution over logarithms of the parameters, with a Gaussian process computed
anew at every trial, by NumPy. Both minimise the same function; its least value under each is printed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import differential_evolution

import corrbandits as cb
from benchmarks.timing import load, machine
from corrbandits import choices
from corrbandits.choices.likelihood import Problem

MODEL = choices.Model(kernel=cb.SquaredExponential(1.0), prior_mean=50.0, prior_sd=100.0, noise=0.01)
KNOWN = {"length": 0.8, "exploration": 0.5, "temperature": 9.0}
FITS = 80 * 4 * 8
"""Fits of 80 people, four models, each round left out once."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.people", description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=3, help="how many are fitted the usual way too")
    parser.add_argument("--data", type=Path, metavar="CSV", help="the experiment's own table")
    parser.add_argument("--quick", action="store_true", help="few generations, to see that everything works")
    options = parser.parse_args()
    people = measured_people(options.data) if options.data else [made_up(seed) for seed in range(options.people)]
    print(f"{machine()['processor']}, load {load()}")
    for name, seconds, target in costs(people[0]):
        print(f"{name:<28} {seconds * 1e3:9.3f} ms   {target}")
    for person in people[: options.people]:
        print(beside(person, generations=2 if options.quick else 100))


def made_up(seed: int) -> choices.Person:
    """Return a person who explores eight smooth surfaces."""
    where = cb.landscapes.grid(11, 11).astype(float)
    surfaces = [
        cb.landscapes.draw(400 * cb.SquaredExponential(2.0), where, mean=50.0, noise_variance=1.0, seed=100 * seed + k)
        for k in range(8)
    ]
    return choices.simulate(MODEL, KNOWN, surfaces, horizon=40, seed=seed, name=f"made up {seed}")


def measured_people(path: Path) -> list[choices.Person]:
    """Return the people of experiment 2."""
    return choices.read_csv(path, person="id", arm=["x", "y"], reward="z", horizon="horizon", given=1)


def costs(person: choices.Person) -> list[tuple[str, float, str]]:
    """Return the fastest of many evaluations, and what they may take."""
    problem, values = Problem(person, MODEL), MODEL.complete(KNOWN)
    likelihood = fastest(lambda: problem.each(values), 200)
    gradient = fastest(lambda: problem.gradient(values), 200)
    one = fastest(lambda: choices.fit(person, MODEL), 5)
    return [
        (f"likelihood, {person.choices} choices", likelihood, "at most 1 ms"),
        ("with all derivatives", gradient, f"{gradient / likelihood:.2f} times that, at most 3"),
        ("fit", one, f"{FITS:,} of them: {one * FITS / 60:.1f} min on one core"),
    ]


def fastest(call: Callable[[], Any], turns: int) -> float:
    call()
    times = []
    for _ in range(turns):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return min(times)


def beside(person: choices.Person, *, generations: int) -> str:
    """Return how long a fit takes here and the usual way, and how low both get."""
    begun = time.perf_counter()
    here = choices.fit(person, MODEL)
    ours = time.perf_counter() - begun
    begun = time.perf_counter()
    least = usual(person, generations)
    theirs = time.perf_counter() - begun
    return (
        f"{person.name}: {ours:.2f} s to {-here.log_likelihood:.3f} here, {theirs:.1f} s to {least:.3f} the usual way: "
        f"{theirs / ours:,.0f} times as long"
    )


def usual(person: choices.Person, generations: int) -> float:
    """Return the least minus log likelihood by differential evolution from exp(-5) to exp(5), population 10 each."""
    squares = np.square(person.coordinates[:, None] - person.coordinates).sum(axis=2)

    def down(logs: Any) -> float:
        return plain(person, squares, *np.exp(logs))

    found = differential_evolution(
        down, [(-5, 5)] * 3, maxiter=generations, popsize=10, polish=False, tol=0.0, seed=0, init="random"
    )
    return float(found.fun)


def plain(person: choices.Person, squares: Any, length: float, exploration: float, temperature: float) -> float:
    """Return minus the log likelihood, a Gaussian process anew at every trial; rewards are (points - 50) / 100."""
    K, total = np.exp(-0.5 * squares / length**2), 0.0
    for played in person.rounds:
        y = (played.rewards - 50.0) / 100.0
        for t in range(played.given, played.arms.size):
            seen = played.arms[:t]
            inverse = np.linalg.inv(K[np.ix_(seen, seen)] + 1e-4 * np.eye(t))
            mean = K[:, seen] @ (inverse @ y[:t])
            variance = 1.0 - np.einsum("ij,jk,ik->i", K[:, seen], inverse, K[:, seen])
            u = (mean + exploration * np.sqrt(np.abs(variance))) / (temperature / 100.0)
            total -= u[played.arms[t]] - u.max() - np.log(np.exp(u - u.max()).sum())
    return total


if __name__ == "__main__":
    main()
