"""People made up like those of the 2018 study: with which parameters, and whether these are found again.

The model is the study's own: its exploration is above 0, and is looked for by its logarithm, as length and temperature
are, between exp(-5) and exp(5). Here that is a prior deviation of 100 times the exploration.

Parameters are given to four groups. The first one, each fitted alone, answers how well people like the real ones are
found again: they are drawn from the distribution that is fitted to the real ones under the study's own model. This was
said before any of it was computed; the others stand beside it. Two groups are looked for under the population too,
which is known by then; to fit one anew to everybody who is made up takes longer than all else together.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np
from scipy.stats import norm, rankdata

import corrbandits as cb
from benchmarks.people import MODEL, STUDY
from benchmarks.timing import tell
from corrbandits import choices
from corrbandits._core.checks import Array
from corrbandits._shell.outputs import write_file
from corrbandits.choices import PARAMETERS, Fits, Model, Person, Population, Recovery
from corrbandits.choices.likelihood import Problem
from corrbandits.choices.modes import Law, most_likely
from corrbandits.choices.recovery import MadeUp

POPULATION, SPREAD, OWN, EITHER = "population", "spread", "own", "either"
"""Drawn from the population; spread as people fitted alone are; with the values of each real person; drawn from a
population whose exploration has either sign."""

POOLED = (POPULATION, OWN)
ENDS = {
    "prior_sd": (100 * math.exp(-5), 100 * math.exp(5)),
    "length": (math.exp(-5), math.exp(5)),
    "temperature": (100 * math.exp(-5), 100 * math.exp(5)),
}
"""Where the study looks for its parameters; its rewards are over 100."""

ROUNDS, HORIZON = 8, 40
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@final
@dataclass(frozen=True)
class Group:
    """People who are made up: the law whose model they follow, and the parameters of each."""

    law: Population
    values: list[dict[str, float]]


def parameters(people: Sequence[Person], number: int, folder: Path) -> dict[str, Any]:
    """Return what was given to people of each group, so many if they are drawn, and what was found; as plain data."""
    own = within(lines_of([one.values for one in choices.fit_people(people, STUDY)], STUDY.free), STUDY.free)
    found = law(people, STUDY, folder)
    drawn = norm.ppf(QUANTILES)[:, None] * np.sqrt(found.covariance.diagonal()) + found.mean
    spread = {"real": np.quantile(own, QUANTILES, axis=0), POPULATION: within(drawn, STUDY.free)}
    every = groups(people, own, number, folder)
    return {
        "groups": {name: found_again(name, group, folder) for name, group in every},
        "quantiles": {name: short(each.T) for name, each in spread.items()},
        "law": written(found),
    }


def groups(people: Sequence[Person], own: Array, number: int, folder: Path) -> Iterator[tuple[str, Group]]:
    """Yield the groups by their names."""
    positive = law(people, STUDY, folder)
    yield POPULATION, Group(positive, held(positive.draw(number, [1, 0])))
    yield OWN, Group(positive, values_at(own))
    yield SPREAD, Group(positive, values_at(alike(own, number, seed=[1, 1])))
    either = law(people, MODEL, folder)
    yield EITHER, Group(either, either.draw(number, [1, 0]))


def found_again(name: str, group: Group, folder: Path) -> dict[str, Any]:
    """Return what was given to the people of a group, what was found of each alone, and whose fit has a note."""
    how: Any = {"people": group.values, "horizon": HORIZON, "seed": 1, "folder": folder}
    tell(f"{name}, each alone")
    alone = choices.recover(group.law, surfaces, pooled=False, **how)
    print(alone)
    noted = [bool(one.notes) for one in alone.fits.each] if isinstance(alone.fits, Fits) else []
    places = {"given": alone.given, "alone": alone.found}
    if name in POOLED:
        of = [written(group.law), group.values, np.array(alone.found).tolist()]
        places["pooled"] = from_folder(folder, f"{name} pooled", of, lambda: pooled(group, alone))
    return {"names": alone.names, "noted": noted} | {
        which: short(within(np.array(each), alone.names)) for which, each in places.items()
    }


def pooled(group: Group, alone: Recovery) -> list[list[float]]:
    """Return where everybody most likely is, given their choices and the population, on the lines.

    The population is the one that was fitted to the real people: what is known of others before somebody plays.
    """
    model, spread = group.law.model, Law(group.law.model.free, group.law.mean, group.law.covariance)
    around = [spread.m, *(spread.m + side * 1.5 * way for way in spread.C.T for side in (1, -1))]
    unknown, found = np.zeros_like(spread.V), []
    for k, (values, own) in enumerate(zip(group.values, alone.found, strict=True)):
        person = MadeUp(model, values, tuple(surfaces(k)), HORIZON, 1, (1, 1, k)).person()
        mode = most_likely(Problem(person, model), spread, model.fixed, [own, *around], unknown)
        found.append(mode.z.tolist())
    return found


def law(people: Sequence[Person], model: Model, folder: Path) -> Population:
    """Return the population of people under a model, from the folder if it is there."""

    def fitted() -> dict[str, Any]:
        tell(f"population: {', '.join(model.free)}")
        found = choices.fit_population(people, model, correlated=True)
        print(found)
        return written(found)

    of = [[one.arms.tolist(), one.rewards.tolist()] for person in people for one in person.rounds]
    kept = from_folder(folder, f"law of {' '.join(model.free)}", [repr(model), of], fitted)
    assumed = Population.of_law(model, kept["mean"], kept["covariance"])
    return replace(assumed, correlated=True, notes=tuple(kept["notes"]))


def written(found: Population) -> dict[str, Any]:
    """Return a law as plain data."""
    return {"mean": found.mean.tolist(), "covariance": found.covariance.tolist(), "notes": list(found.notes)}


def from_folder(folder: Path, name: str, of: Any, made: Callable[[], Any]) -> Any:
    """Return what is kept under a name and was made of the same; if nothing is, what is made, and keep it."""
    digest = hashlib.sha256(json.dumps(of).encode()).hexdigest()[:12]
    place = folder / f"{name}, {digest}.json"
    if not place.exists():
        write_file(place, json.dumps(made()).encode())
    return json.loads(place.read_text(encoding="utf-8"))


def alike(own: Array, number: int, seed: Sequence[int]) -> Array:
    """Return so many places on the lines that are spread as those of others are, and correlated as theirs are.

    They are drawn from a normal copula, and lie between the others'.

    >>> alike(np.array([[0.0, 5.0], [1.0, 7.0], [3.0, 6.0]]), 2, seed=[0]).shape
    (2, 2)
    """
    scores = norm.ppf((rankdata(own, axis=0) - 0.5) / len(own))
    rng = np.random.default_rng(seed)
    drawn = rng.multivariate_normal(np.zeros(own.shape[1]), np.corrcoef(scores, rowvar=False), number)
    return np.array([np.quantile(column, shares) for column, shares in zip(own.T, norm.cdf(drawn).T, strict=True)]).T


def held(values: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """Return parameters of the study's model, those beyond its ends at these."""
    return values_at(within(lines_of(values, STUDY.free), STUDY.free))


def within(places: Array, names: Sequence[str]) -> Array:
    """Return places on the lines of the study's parameters, those beyond its ends at these; those of others as is."""
    if tuple(names) != STUDY.free:
        return places
    return np.clip(places, *(np.log([ENDS[name][which] for name in names]) for which in (0, 1)))


def lines_of(values: Sequence[Mapping[str, float]], names: Sequence[str]) -> Array:
    """Return where parameters lie on their lines, (people, parameters)."""
    return np.array([[PARAMETERS[name].line(one[name]) for name in names] for one in values])


def values_at(places: Array) -> list[dict[str, float]]:
    """Return the parameters of the study's model at places on their lines."""
    return [dict(zip(STUDY.free, row, strict=True)) for row in np.exp(places).tolist()]


def short(numbers: Any) -> Any:
    """Return numbers with five digits."""
    return np.vectorize(lambda x: float(f"{x:.5g}"))(numbers).tolist()


def surfaces(person: int) -> list[cb.GaussianBandit]:
    """Return the surfaces that a person explores: rough for every other one."""
    where = cb.landscapes.grid(11, 11).astype(float)
    kernel = 400 * cb.SquaredExponential(1.0 if person % 2 else 2.0)
    seeds = range(1000 * person, 1000 * person + ROUNDS)
    return [cb.landscapes.draw(kernel, where, mean=50.0, noise_variance=1.0, seed=seed) for seed in seeds]
