"""People made up, as tests of fits want them: few, quick to fit, and known."""

import numpy as np

import corrbandits as cb
from corrbandits import choices

PLACES = cb.landscapes.grid(4, 4)
MODEL = choices.Model(kernel=cb.SquaredExponential(1.0), prior_mean=50.0, prior_sd=20.0)
TRUTH = {"length": 1.0, "exploration": 0.5, "temperature": 3.0}


def somebody(name, rounds=3, horizon=8, seed=0):
    """Return a person who generalises over a grid of 16 arms."""
    rng = np.random.default_rng([seed, len(str(name))])
    law = 400 * cb.SquaredExponential(1.5)(PLACES)
    worlds = [
        cb.GaussianBandit(rng.multivariate_normal(np.full(16, 50.0), law, method="cholesky"), 4.0, coordinates=PLACES)
        for _ in range(rounds)
    ]
    return choices.simulate(MODEL, TRUTH, worlds, horizon=horizon, seed=seed, name=name)


def table(people):
    """Return the rows of a long table of people, with a heading."""
    rows = [
        f"{person.name},{number},{trial},{int(PLACES[arm, 0])},{int(PLACES[arm, 1])},{reward:.2f}"
        for person in people
        for number, each in enumerate(person.rounds, 1)
        for trial, (arm, reward) in enumerate(zip(each.arms, each.rewards, strict=True))
    ]
    return ["person,round,trial,x,y,reward", *rows]
