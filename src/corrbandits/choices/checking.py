"""Whether people made up by a model behave as people do: what they earn, how far they go, what they take again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits.choices.fitting import Fit
from corrbandits.choices.people import Person, Round, several
from corrbandits.choices.population import Population
from corrbandits.choices.recovery import Environments, problems_of
from corrbandits.choices.sharing import Fits
from corrbandits.choices.simulating import simulate
from corrbandits.choices.spreading import Folder, answers

if TYPE_CHECKING:
    import xarray as xr

Behaviour = Callable[[Person, Round], Array]


def rewards(person: Person, one: Round) -> Array:
    """Return the reward of each choice of a round: its mean over people is the learning curve."""
    return np.asarray(one.rewards[one.given :])


def distances(person: Person, one: Round) -> Array:
    """Return how far each choice of a round is from the trial before; nan for a first one."""
    arms = one.arms.tolist()
    return np.array([person.distances[arms[t - 1], arms[t]] if t else np.nan for t in range(one.given, len(arms))])


def revisits(person: Person, one: Round) -> Array:
    """Return 1 for each choice of an arm that was taken or given before in the round, 0 for others."""
    arms = one.arms.tolist()
    return np.array([float(arms[t] in arms[:t]) for t in range(one.given, len(arms))])


BEHAVIOURS: dict[str, Behaviour] = {"reward": rewards, "distance": distances, "revisit": revisits}


def behaviour(people: Sequence[Person]) -> xr.Dataset:
    """Return what people do at each trial: reward, distance from the last arm, and the share of arms taken again.

    The dimensions are person and trial, from 1; numbers are means over rounds, nan where there is no choice.

    >>> anna = Person([Round([0, 1, 1, 2], [1.0, 3.0, 2.0, 1.0], given=1)], coordinates=[0.0, 1.0, 5.0], name="Anna")
    >>> seen = behaviour([anna])
    >>> seen["distance"].values.tolist(), seen["revisit"].values.tolist()
    ([[1.0, 0.0, 4.0]], [[0.0, 1.0, 0.0]])
    """
    import xarray as xr

    trials = max((one.choices for person in several(people) for one in person.rounds), default=0)
    columns = {
        name: (("person", "trial"), np.array([_of_person(person, of_round, trials) for person in people]))
        for name, of_round in BEHAVIOURS.items()
    }
    return xr.Dataset(columns, {"person": [str(person.name) for person in people], "trial": np.arange(1, trials + 1)})


def _of_person(person: Person, of_round: Behaviour, trials: int) -> Array:
    table = np.full((len(person.rounds), trials), np.nan)
    for row, one in zip(table, person.rounds, strict=True):
        row[: one.choices] = of_round(person, one)
    return _mean(table, axis=0)


def predictive_check(
    found: Fits | Population,
    people: Sequence[Person],
    environments: Environments,
    *,
    copies: int = 20,
    seed: int = 0,
    threads: int | None = None,
    map: Any = None,  # noqa: A002  as in simulate
    folder: Folder = None,
    progress: bool | None = None,
) -> xr.Dataset:
    """Return what people do at each trial beside what people do who are made up with their parameters.

    Everybody is made up `copies` times, with as many rounds and choices, on the `environments`: those that the person
    played, or others like them. The variables are those of `behaviour`; along the dimension `source` are "observed",
    the mean over people, "simulated", the mean over copies too, and "low" and "high", the ends of a band in which the
    mean of such people lies in 95 % of copies.

    >>> from corrbandits import GaussianBandit
    >>> from corrbandits.choices import Model, fit_people
    >>> arms, model = [GaussianBandit([0.0, 1.0, 2.0], 1.0)] * 3, Model(prior_mean=1.0, exploration=0.0)
    >>> people = [simulate(model, {"temperature": 0.5}, arms, horizon=8, seed=k, name=k) for k in range(4)]
    >>> seen = predictive_check(fit_people(people, model), people, arms, copies=10)
    >>> dict(seen.sizes)
    {'source': 4, 'trial': 8}
    """
    import xarray as xr

    checks.integer("copies", copies, least=2)
    each = found.people if isinstance(found, Population) else found.each
    questions = [
        _Copied(one, tuple(person.rounds), problems_of(environments, k), (seed, k, copy))
        for copy in range(copies)
        for k, (one, person) in enumerate(zip(each, people, strict=True))
    ]
    how: Any = {"threads": threads, "map": map, "folder": folder, "progress": progress}
    flat = np.array(answers(_copied, questions, label="making people up", **how), dtype=np.float64)
    table = flat.reshape(copies, len(people), len(BEHAVIOURS), -1)
    means = np.moveaxis(_mean(table, axis=1), 1, 0)
    observed = behaviour(people)
    columns = {
        name: (("source", "trial"), np.array([_mean(observed[name].values, axis=0), *_band(own)]))
        for name, own in zip(BEHAVIOURS, means, strict=True)
    }
    ends = {"source": ["observed", "simulated", "low", "high"], "trial": observed["trial"].values}
    return xr.Dataset(columns, ends)


@final
@dataclass(frozen=True)
class _Copied:
    """A person to be made up with the parameters and the rounds of another."""

    fit: Fit
    rounds: tuple[Round, ...]
    environments: Sequence[Any]
    seed: tuple[int, ...]


def _copied(asked: _Copied) -> list[list[float]]:
    """Return what the person does, each behaviour at each trial."""
    if len(asked.environments) < len(asked.rounds):
        raise ValueError(
            f"environments must be one for each round, {len(asked.rounds)}, got {len(asked.environments)}."
        )
    lengths, one = [each.choices for each in asked.rounds], asked.fit
    fitted = {name: one.values[name] for name in one.model.free}
    played = asked.environments[: len(lengths)]
    person = simulate(one.model, fitted, played, horizon=lengths, given=asked.rounds[0].given, seed=asked.seed)
    return [_of_person(person, of_round, max(lengths)).tolist() for of_round in BEHAVIOURS.values()]


def _mean(table: Array, axis: int) -> Array:
    """Return the mean of what is there; nan where nothing is."""
    seen = ~np.isnan(table)
    number = seen.sum(axis=axis)
    total = np.where(seen, table, 0.0).sum(axis=axis)
    return np.asarray(np.divide(total, number, out=np.full(number.shape, np.nan), where=number > 0))


def _band(copies: Array) -> tuple[Array, Array, Array]:
    """Return the mean over copies, and the ends of the middle 95 %."""
    return _mean(copies, axis=0), np.quantile(copies, 0.025, axis=0), np.quantile(copies, 0.975, axis=0)
