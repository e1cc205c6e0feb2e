"""How many people and rounds are needed to tell two models apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits.choices.comparing import compare
from corrbandits.choices.confusion import Evidence, Weighed, refuse_shared, weigh
from corrbandits.choices.model import Model
from corrbandits.choices.population import Population
from corrbandits.choices.recovery import Environments, MadeUp, problems_of
from corrbandits.choices.spreading import Folder, answers

if TYPE_CHECKING:
    import xarray as xr


@final
@dataclass(frozen=True, eq=False)
class Power:
    """The share of experiments that find the right one of two models, by how many people and rounds; `power` makes it.

    >>> print(Power((10, 20), (2, 4), np.array([[0.2, 0.5], [0.4, 0.9]]), sure=0.95))
    people  2 rounds  4 rounds
        10      0.20      0.50
        20      0.40      0.90
    """

    people: tuple[int, ...]
    rounds: tuple[int, ...]
    share: Array
    """Of experiments, (people, rounds), in which the right model has a protected exceedance probability of `sure`."""

    sure: float

    def to_dataset(self) -> xr.Dataset:
        """Return the table as an xarray.Dataset."""
        import xarray as xr

        ends = {"people": list(self.people), "rounds": list(self.rounds)}
        return xr.Dataset({"share": (("people", "rounds"), self.share)}, ends, {"sure": self.sure})

    def __str__(self) -> str:
        heads = [f"{rounds} round{'s' if rounds > 1 else ''}" for rounds in self.rounds]
        rows = [
            f"{people:>6}" + "".join(f"  {share:>{len(head)}.2f}" for head, share in zip(heads, row, strict=True))
            for people, row in zip(self.people, self.share, strict=True)
        ]
        return "\n".join(["people" + "".join(f"  {head}" for head in heads), *rows])


def power(
    law: Population,
    rival: Model,
    environments: Environments,
    *,
    people: Sequence[int] = (5, 10, 20, 40),
    rounds: Sequence[int] | None = None,
    pool: int = 100,
    experiments: int = 500,
    sure: float = 0.95,
    horizon: int | Sequence[int] = 40,
    given: int = 1,
    evidence: Evidence = "bic",
    seed: int = 0,
    threads: int | None = None,
    map: Any = None,  # noqa: A002  as in simulate
    folder: Folder = None,
    progress: bool | None = None,
) -> Power:
    """Return how often an experiment finds that people follow the model of a population rather than a rival.

    A `pool` of people is drawn from the population, and both models are fitted to their first rounds: 1, 2, 4 and so
    on up to all of the `environments`, or those in `rounds`. An experiment draws so many `people` of the pool, with
    replacement, and compares the models (`compare`). All else is as in `recover_models`.

    >>> from corrbandits import GaussianBandit
    >>> sticks = Model(prior_mean=1.0, exploration=0.0, temperature=9.0, stickiness="free")
    >>> law, rival = Population.of_law(sticks, [1.0], [[0.01]]), Model(prior_mean=1.0, exploration=0.0)
    >>> arms = [GaussianBandit([0.0, 1.0, 2.0], 1.0)] * 2
    >>> table = power(law, rival, arms, people=[3, 12], rounds=[1, 2], pool=20, experiments=50, horizon=10)
    >>> table.share[0, 0] < table.share[1, 1]
    np.True_
    """
    models, sizes = (law.model, rival), [checks.integer("people", size, least=1) for size in people]
    refuse_shared(models)
    checks.number("sure", sure, least=0, up_to=1)
    checks.integer("experiments", experiments, least=1)
    many = len(problems_of(environments, 0))
    steps = _doublings(many) if rounds is None else [checks.integer("rounds", r, least=1, most=many) for r in rounds]
    drawn = law.draw(checks.integer("pool", pool, least=1), [seed, 0])
    made_up = [
        MadeUp(law.model, one, problems_of(environments, k), horizon, given, (seed, 1, k))
        for k, one in enumerate(drawn)
    ]
    questions = [Weighed(one, models, evidence, step) for step in steps for one in made_up]
    how: Any = {"threads": threads, "map": map, "folder": folder, "progress": progress}
    found = np.array(answers(weigh, questions, label="weighing models", **how)).reshape(len(steps), pool, 2)
    rng = np.random.default_rng([seed, 2])
    groups = [rng.integers(pool, size=(experiments, size)) for size in sizes]
    share = [[_share(table, own, sure) for table in found] for own in groups]
    return Power(tuple(sizes), tuple(steps), np.array(share), sure)


def _doublings(most: int) -> list[int]:
    """Return 1, 2, 4 and so on, and the last.

    >>> _doublings(8), _doublings(5)
    ([1, 2, 4, 8], [1, 2, 4, 5])
    """
    steps = [2**k for k in range(most.bit_length()) if 2**k < most]
    return [*steps, most]


def _share(table: Array, groups: Integers, sure: float) -> float:
    """Return the share of groups of people in which the first model is found."""
    return float(np.mean([compare(table[own]).protected[0] >= sure for own in groups]))
