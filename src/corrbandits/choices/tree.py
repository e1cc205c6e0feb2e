"""What was fitted as an xarray.DataTree, in the groups that ArviZ knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits.choices.fitting import Fit
from corrbandits.choices.likelihood import Problem
from corrbandits.choices.parameters import PARAMETERS
from corrbandits.choices.people import Person, several
from corrbandits.choices.population import Population, Seed
from corrbandits.choices.sharing import Fits

if TYPE_CHECKING:
    import xarray as xr

CHAINS = 4
"""Draws are independent of each other; as chains, tools that look for signs of the contrary find none."""

CHOICE = ("person", "round", "trial")


def to_datatree(found: Fits | Population, people: Sequence[Person], *, draws: int = 100, seed: Seed = 0) -> xr.DataTree:
    """Return fits, or a population, and the choices they were fitted to as an xarray.DataTree.

    Its groups are `estimates` (value and error of each person and parameter), `log_likelihood`, `observed_data` (the
    arm of each choice) and `constant_data` (rewards, what was given, horizons, and where arms lie). Of a population
    there is also `posterior`, a variable for each free parameter with the dimensions chain, draw and person, and one
    for its median over all people: so many `draws` in each of four chains, from the normal laws that were found. The
    log likelihood is then that of each draw; otherwise, and with `draws=0`, that of the estimates. It has one dimension
    for all choices, `observation`, which says whose they are and in which round and trial: so it has no gaps, whatever
    the lengths of rounds, and ArviZ can sum it. In the other groups trials count choices; where a round has fewer than
    others, numbers are nan and arms -1.

    >>> from corrbandits.choices import Model, Round, fit_people
    >>> anna = Person([Round([0, 1, 1, 0, 1], [1.0, 3.0, 2.0, 1.5, 2.0])], arms=2, name="Anna")
    >>> model = Model(prior_mean=1.0, exploration=0.0)
    >>> tree = to_datatree(fit_people([anna], model), [anna])
    >>> dict(tree["log_likelihood"].sizes), tree["observed_data"]["arm"].values[0, 0]
    ({'observation': 5}, array([0, 1, 1, 0, 1]))
    """
    import xarray as xr

    checks.integer("draws", draws, least=0)
    each = found.people if isinstance(found, Population) else found.each
    if [one.person for one in each] != [person.name for person in several(people)]:
        raise ValueError("people must be those who were fitted, in the same order, but their names differ.")
    groups = {"estimates": _estimates(each), "observed_data": _observed(people), "constant_data": _constant(people)}
    if isinstance(found, Population) and draws:
        lines = _draws(found, draws, np.random.default_rng(seed))
        groups["posterior"] = _posterior(found, lines)
        likely: Any = (("chain", "draw", "observation"), _drawn(found, people, lines[0]))
    else:
        likely = ("observation", _of_estimates(each, people))
    names = {"person": [str(person.name) for person in people]}
    groups = {name: group.assign_coords(names) for name, group in groups.items()}
    groups["log_likelihood"] = xr.Dataset({"choice": likely}, _whose(people))
    return xr.DataTree.from_dict(groups)


def _whose(people: Sequence[Person]) -> dict[str, Any]:
    """Return the person, round and trial of each choice, one after the other."""
    every = [
        (str(person.name), r, t) for person in people for r, one in enumerate(person.rounds) for t in range(one.choices)
    ]
    return {name: ("observation", list(part)) for name, part in zip(CHOICE, zip(*every, strict=True), strict=True)}


def _estimates(each: Sequence[Fit]) -> xr.Dataset:
    import xarray as xr

    names = list(each[0].model.free)
    values = [[one.values[name] for name in names] for one in each]
    errors = [[one.errors[name] for name in names] for one in each]
    columns: dict[str, Any] = {"value": (("person", "parameter"), values), "error": (("person", "parameter"), errors)}
    columns |= {
        name: ("person", [getattr(one, name) for one in each]) for name in ("log_likelihood", "share_explained")
    }
    return xr.Dataset(columns, {"parameter": names})


def _observed(people: Sequence[Person]) -> xr.Dataset:
    import xarray as xr

    arms = _padded(people, [np.concatenate([one.arms[one.given :] for one in person.rounds]) for person in people])
    return xr.Dataset({"arm": (CHOICE, np.where(np.isnan(arms), -1, arms).astype(np.int64))})


def _constant(people: Sequence[Person]) -> xr.Dataset:
    import xarray as xr

    rewards = [np.concatenate([one.rewards[one.given :] for one in person.rounds]) for person in people]
    rounds, most = _shape(people)[1], max(one.given for person in people for one in person.rounds)
    arms, shown = np.full((len(people), rounds, most), -1), np.full((len(people), rounds, most), np.nan)
    horizons = np.zeros((len(people), rounds), dtype=np.int64)
    for p, person in enumerate(people):
        for r, one in enumerate(person.rounds):
            arms[p, r, : one.given], shown[p, r, : one.given] = one.arms[: one.given], one.rewards[: one.given]
            horizons[p, r] = one.horizon
    found: dict[str, Any] = {
        "reward": (CHOICE, _padded(people, rewards)),
        "given_arm": (("person", "round", "given"), arms),
        "given_reward": (("person", "round", "given"), shown),
        "horizon": (("person", "round"), horizons),
    }
    where = people[0].coordinates
    same = where is not None and all(np.array_equal(where, person.coordinates) for person in people)
    return xr.Dataset(found | ({"coordinates": (("arm", "axis"), where)} if same else {}))


def _draws(found: Population, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return draws on the lines: of people, (chain, draw, person, parameter), and of the mean over all of them."""
    shape = (CHAINS, draws)
    own = [rng.multivariate_normal(*_law(one), size=shape, method="cholesky") for one in found.people]
    is_known = bool(np.isfinite(found.mean_covariance).all())
    unsure = found.mean_covariance if is_known else np.zeros_like(found.covariance)
    return np.stack(own, axis=2), rng.multivariate_normal(found.mean, unsure, size=shape, method="svd")


def _law(one: Fit) -> tuple[Array, Array]:
    return np.array([PARAMETERS[name].line(one.values[name]) for name in one.model.free]), one.covariance


def _posterior(found: Population, lines: tuple[Array, Array]) -> xr.Dataset:
    import xarray as xr

    columns: dict[str, Any] = {}
    for k, name in enumerate(found.model.free):
        value = np.vectorize(PARAMETERS[name].value, otypes=[np.float64])
        columns[name] = (("chain", "draw", "person"), value(lines[0][..., k]))
        columns[f"median_{name}"] = (("chain", "draw"), value(lines[1][..., k]))
    return xr.Dataset(columns)


def _drawn(found: Population, people: Sequence[Person], lines: Array) -> Array:
    """Return the log likelihood of each choice under each draw."""
    into = np.empty((*lines.shape[:2], sum(person.choices for person in people)))
    problems = [Problem(person, one.model) for person, one in zip(people, found.people, strict=True)]
    for chain, draw in np.ndindex(*lines.shape[:2]):
        values = [
            one.values | {name: PARAMETERS[name].value(z) for name, z in zip(one.model.free, row, strict=True)}
            for one, row in zip(found.people, lines[chain, draw].tolist(), strict=True)
        ]
        into[chain, draw] = np.concatenate([p.each(own) for p, own in zip(problems, values, strict=True)])
    return into


def _of_estimates(each: Sequence[Fit], people: Sequence[Person]) -> Array:
    own = [Problem(person, one.model).each(one.values) for person, one in zip(people, each, strict=True)]
    return np.concatenate(own)


def _shape(people: Sequence[Person]) -> tuple[int, int, int]:
    rounds = max(len(person.rounds) for person in people)
    return len(people), rounds, max(one.choices for person in people for one in person.rounds)


def _padded(people: Sequence[Person], each: Sequence[Array]) -> Array:
    """Return a number for each choice as an array of people, rounds and trials, nan where there is none."""
    into = np.full(_shape(people), np.nan)
    for p, (person, numbers) in enumerate(zip(people, each, strict=True)):
        ends = np.cumsum([one.choices for one in person.rounds])
        for r, own in enumerate(np.split(np.asarray(numbers), ends[:-1])):
            into[p, r, : own.size] = own
    return into
