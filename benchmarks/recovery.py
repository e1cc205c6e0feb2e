"""Are the parameters of people found again? A population is fitted to an experiment, drawn from, and fitted anew.

    python -m benchmarks.recovery --data wu2018_exp2_2d.csv --folder kept --figure recovery.png

Everybody who is made up plays eight rounds of 40 choices on an 11 x 11 grid, half of them on rough surfaces (length 1),
half on smooth ones (length 2). There are two models: that of the experiment of 2018, and the same with a preference for
near arms. What is done is kept in the folder, so that the command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import corrbandits as cb
from benchmarks.people import MODEL, measured_people
from corrbandits import choices

MODELS = {"2018": MODEL, "near": replace(MODEL, distance="free")}
ROUNDS, HORIZON = 8, 40


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recovery", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, metavar="CSV", required=True, help="the experiment's own table")
    parser.add_argument("--people", type=int, default=100, help="how many are made up")
    parser.add_argument("--of", type=int, metavar="N", help="fit the first N people of the table only")
    parser.add_argument("--model", choices=list(MODELS), default="near")
    parser.add_argument("--folder", type=Path, help="where what is done is kept")
    parser.add_argument("--figure", type=Path, metavar="PNG", help="where the figure is written")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    population = choices.fit_population(measured_people(options.data)[: options.of], MODELS[options.model])
    print(population)
    for pooled in (True, False):
        found = choices.recover(
            population,
            surfaces,
            people=options.people,
            horizon=HORIZON,
            pooled=pooled,
            seed=options.seed,
            folder=options.folder,
        )
        print(f"\nfitted {'as a population' if pooled else 'one by one'}\n{found}")
        if options.figure and pooled:
            choices.draw_recovery(found).savefig(options.figure, dpi=150)


def surfaces(person: int) -> list[cb.GaussianBandit]:
    """Return the surfaces that a person explores: rough for every other one."""
    where = cb.landscapes.grid(11, 11).astype(float)
    kernel = 400 * cb.SquaredExponential(1.0 if person % 2 else 2.0)
    seeds = range(1000 * person, 1000 * person + ROUNDS)
    return [cb.landscapes.draw(kernel, where, mean=50.0, noise_variance=1.0, seed=seed) for seed in seeds]


if __name__ == "__main__":
    main()
