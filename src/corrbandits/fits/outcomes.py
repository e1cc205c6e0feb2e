"""What is known of people: a file that grows by a line for each person and model, as soon as it is fitted.

Every line has a digest of the person's trials and of the model. A line counts for as long as both are what they were:
of a table that has changed, only those people are fitted anew whose trials have.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from corrbandits._shell import outputs
from corrbandits._shell.appended import append, whole_lines
from corrbandits.choices import Fit, Model, Person, fit, leave_one_round_out, log_likelihood

FORMAT = "corrbandits fit 2"
"""Changes when what is fitted to the same trials changes."""


LAPSE = 0.001
"""The share of choices left to chance where a model that is fitted without lapses foresees others."""


class Outcome(NamedTuple):
    """What was found of one person under one model."""

    person: str
    model: str
    digest: str
    choices: int
    arms: int
    free: tuple[str, ...]
    values: dict[str, float]
    errors: dict[str, float]
    """Of the free parameters; inf where the choices tell nothing."""

    log_likelihood: float
    predicted: tuple[float, ...]
    """The log likelihood of each round under a fit to the others; none where there is one round."""

    notes: tuple[str, ...]

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return 2 * len(self.free) - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """The Bayesian criterion."""
        return math.log(self.choices) * len(self.free) - 2 * self.log_likelihood

    @property
    def foreseen(self) -> float:
        """The log likelihood of all rounds left out; NaN where there is one round."""
        return float(np.sum(self.predicted)) if self.predicted else math.nan

    @property
    def share_explained(self) -> float:
        """McFadden's share of what was left out, or of what was fitted where nothing was: 0 is chance, 1 certainty."""
        value = self.foreseen if self.predicted else self.log_likelihood
        return 1 + value / (self.choices * math.log(self.arms)) if self.arms > 1 else 0.0


def fitted(person: Person, name: str, model: Model, *, leave_out: bool = True) -> Outcome:
    """Return what a model says of a person: the fit and, with `leave_out`, each round foreseen from the others.

    A model that is fitted without lapses foresees with a few: a choice that it holds for impossible would else cost
    more than all others together.

    >>> from corrbandits.choices import Round
    >>> rounds = [Round([0, 1, 1, k, 1], [1.0, 3.0, 2.0, 1.5, 2.0]) for k in (0, 1)]
    >>> found = fitted(Person(rounds, arms=2, name="Anna"), "mean", Model(prior_mean=1.0, exploration=0.0))
    >>> found.person, found.free, len(found.predicted)
    ('Anna', ('temperature',), 2)
    """
    whole = fit(person, model)
    rounds = _foreseen(person, model, whole) if leave_out and len(person.rounds) > 1 else ()
    return _outcome(whole, name, digest(person, model, leave_out=leave_out), rounds)


def _foreseen(person: Person, model: Model, whole: Fit) -> tuple[float, ...]:
    """Return the log likelihood of each round under a fit to the others."""
    found = leave_one_round_out(person, model, whole=whole)
    if model.lapse != 0:
        return tuple(found.rounds.tolist())
    guarded = model.fixing({"lapse": LAPSE})
    fits = zip(found.fits, person.left_out(), strict=True)
    return tuple(log_likelihood(ahead, guarded, {**each.values, "lapse": LAPSE}) for each, (_, ahead) in fits)


def _outcome(whole: Fit, name: str, key: str, predicted: tuple[float, ...]) -> Outcome:
    return Outcome(
        str(whole.person),
        name,
        key,
        whole.choices,
        whole.arms,
        whole.model.free,
        whole.values,
        whole.errors,
        whole.log_likelihood,
        predicted,
        whole.notes,
    )


def digest(person: Person, model: Model, *, leave_out: bool = True) -> str:
    """Return a short text that is another for other trials, other arms or another model."""
    found = hashlib.sha256(f"{FORMAT} {leave_out} {model!r} {person.name} {person.arms}".encode())
    where = [] if person.coordinates is None else [person.coordinates]
    for array in (*where, *(part for each in person.rounds for part in (each.arms, each.rewards))):
        found.update(str(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    found.update(str([(each.given, each.horizon) for each in person.rounds]).encode())
    return found.hexdigest()[:16]


@final
class Outcomes:
    """The outcomes in a file, which is made with the first of them.

    >>> import tempfile
    >>> one = Outcome("Anna", "UCL", "ab12", 9, 2, ("noise",), {"noise": 0.1}, {"noise": math.inf}, -3.0, (), ())
    >>> with tempfile.TemporaryDirectory() as here:
    ...     Outcomes(Path(here) / "fit.jsonl").add(one)
    ...     Outcomes(Path(here) / "fit.jsonl").known() == {"ab12": one}
    True
    """

    def __init__(self, place: Path) -> None:
        self.place = place

    def known(self) -> dict[str, Outcome]:
        """Return every outcome by its digest."""
        lines = enumerate(whole_lines(self.place).splitlines(), 1)
        found = [_read(line, f"{self.place}, line {number}") for number, line in lines]
        return {one.digest: one for one in found}

    def add(self, outcome: Outcome) -> None:
        """Append an outcome; it is there after a kill or a power failure from the moment this returns."""
        try:
            append(self.place, json.dumps(_written(outcome)) + "\n")
        except OSError as error:
            remedy = outputs.REMEDIES.get(error.errno or 0, "Name another directory.")
            raise OSError(f"{self.place} cannot be written: {error.strerror}. {remedy}") from error


def _written(outcome: Outcome) -> dict[str, Any]:
    errors = {name: error if math.isfinite(error) else None for name, error in outcome.errors.items()}
    return {**outcome._asdict(), "errors": errors}


def _read(line: str, where: str) -> Outcome:
    try:
        parts: Mapping[str, Any] = json.loads(line)
        errors = {name: math.inf if error is None else error for name, error in parts["errors"].items()}
        several = {name: tuple(parts[name]) for name in ("free", "predicted", "notes")}
        return Outcome(**{**parts, **several, "errors": errors})
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ValueError(
            f"{where}: expected a fit that this program has written, got {line!r:.60}. Remove it."
        ) from None
