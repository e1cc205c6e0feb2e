"""Many people: fitted one by one or with parameters that they share, and asked for what was not fitted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits.choices.fitting import Fit, fit
from corrbandits.choices.likelihood import log_likelihood
from corrbandits.choices.model import Model
from corrbandits.choices.people import Person, several
from corrbandits.choices.sharing import Fits, shared_fits
from corrbandits.choices.spreading import spread


@final
@dataclass(frozen=True, eq=False)
class Prediction:
    """How well the choices of a person are foreseen by fits that have not seen them; `leave_one_round_out` makes it.

    >>> round(Prediction("Anna", np.array([-3.0, -4.0]), choices=10, arms=4, fits=()).share_explained, 3)
    0.495
    """

    person: Any
    rounds: Array
    """The log likelihood of each round that was left out."""

    choices: int
    arms: int
    fits: tuple[Fit, ...]

    @property
    def log_likelihood(self) -> float:
        """That of all of them."""
        return float(self.rounds.sum())

    @property
    def share_explained(self) -> float:
        """McFadden's share: 0 for choices at random, 1 for choices foreseen, below 0 for worse than at random."""
        return 1 + self.log_likelihood / (self.choices * math.log(self.arms)) if self.arms > 1 else 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        """What went wrong in any of the fits, each once."""
        return tuple(dict.fromkeys(note for each in self.fits for note in each.notes))


def fit_people(
    people: Sequence[Person],
    model: Model,
    *,
    threads: int | None = None,
    map: Any = None,  # noqa: A002  as in simulate
) -> Fits:
    """Return the fits of several people; what the model says is shared has one value for all of them.

    People are fitted side by side in `threads` of this process (by default one), or by `map`: a function like the
    built-in one, a pool or an executor. The results are the same to the last bit.

    >>> from corrbandits.choices import Round
    >>> anna = Person([Round([0, 1, 1, 0, 1], [1.0, 3.0, 2.0, 1.5, 2.0])], arms=2, name="Anna")
    >>> ben = Person([Round([0, 1, 0, 1, 1], [1.0, 3.0, 2.0, 1.5, 2.0])], arms=2, name="Ben")
    >>> both = fit_people([anna, ben], Model(prior_mean=1.0, exploration=0.0, temperature="shared"))
    >>> both[0].values["temperature"] == both[1].values["temperature"]
    True
    """
    side_by_side = spread(threads, map)
    if not model.shared:
        return Fits(model, tuple(side_by_side(partial(fit, model=model), several(people))))
    return shared_fits(several(people), model, side_by_side)


def leave_one_round_out(person: Person, model: Model, *, whole: Fit | None = None) -> Prediction:
    """Return how likely each round is under the parameters fitted to the others.

    `whole` is the fit to all rounds, where the searches begin; without one it is made.

    >>> from corrbandits.choices import Round
    >>> rounds = [Round([0, 1, 1, k, 1], [1.0, 3.0, 2.0, 1.5, 2.0]) for k in (0, 1)]
    >>> leave_one_round_out(Person(rounds, arms=2), Model(prior_mean=1.0, exploration=0.0)).rounds.size
    2
    """
    if sum(each.choices > 0 for each in person.rounds) < 2:
        raise ValueError(f"person {person.name!r} must have two rounds with choices or more, to leave one out.")
    return _predicted(person, model, list(person.left_out()), whole)


def leave_future_out(person: Person, model: Model, *, first: int = 1) -> Prediction:
    """Return how likely each round, from the one after the `first` ones, is under a fit to those before it.

    >>> from corrbandits.choices import Round
    >>> rounds = [Round([0, 1, 1, 0, 1], [1.0, 3.0, 2.0, 1.5, 2.0])] * 3
    >>> leave_future_out(Person(rounds, arms=2), Model(prior_mean=1.0, exploration=0.0)).rounds.size
    2
    """
    checks.integer("first", first, least=1, most=max(len(person.rounds) - 1, 1))
    ends = range(first, len(person.rounds))
    return _predicted(person, model, [(person.only(range(end)), person.only([end])) for end in ends])


def predict_people(
    people: Sequence[Person],
    model: Model,
    *,
    threads: int | None = None,
    map: Any = None,  # noqa: A002  as in simulate
) -> list[Prediction]:
    """Return `leave_one_round_out` of several people, side by side as in `fit_people`.

    >>> from corrbandits.choices import Round
    >>> rounds = [Round([0, 1, 1, k, 1], [1.0, 3.0, 2.0, 1.5, 2.0]) for k in (0, 1)]
    >>> people = [Person(rounds, arms=2, name=name) for name in ("Anna", "Ben")]
    >>> [each.person for each in predict_people(people, Model(prior_mean=1.0, exploration=0.0), threads=2)]
    ['Anna', 'Ben']
    """
    if model.shared:
        raise ValueError(
            f"{', '.join(model.shared)} must be free or fixed here: what is shared would have to be refitted."
        )
    return spread(threads, map)(partial(leave_one_round_out, model=model), several(people))


def _predicted(
    person: Person, model: Model, splits: list[tuple[Person, Person]], whole: Fit | None = None
) -> Prediction:
    whole = fit(person, model) if whole is None else whole
    fits = tuple(fit(seen, model, start=whole.values) for seen, _ in splits)
    rounds = [log_likelihood(ahead, model, each.values) for each, (_, ahead) in zip(fits, splits, strict=True)]
    choices = sum(ahead.choices for _, ahead in splits)
    return Prediction(person.name, np.array(rounds), choices, person.arms, fits)
