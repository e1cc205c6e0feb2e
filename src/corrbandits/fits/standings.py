"""Models over all people: how well each explains them, who follows which, and the tables of it."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits._shell.numbers import NUMBER
from corrbandits.choices import PARAMETERS, compare
from corrbandits.fits.outcomes import Outcome
from corrbandits.study.exchange import FORMULA

FORESEEN, FITTED = "rounds left out", "BIC"
"""What models are compared by: rounds foreseen by fits to the others, or minus half of BIC where somebody has none."""


class Standing(NamedTuple):
    """How well one model explains all people."""

    model: str
    people: int
    parameters: int
    log_likelihood: float
    aic: float
    bic: float
    foreseen: float
    share_explained: float
    """The median over people."""

    best_for: int
    """Of how many people it explains the choices best."""

    share: float
    exceedance: float
    protected: float


@final
@dataclass(frozen=True, eq=False)
class Standings:
    """What was found of all people under all models: `standings` makes it."""

    outcomes: dict[str, list[Outcome]]
    """By model, in the order of people."""

    rows: list[Standing]
    """Of the models, the one that explains most people's choices best first."""

    chance: float
    """The probability that all models are followed by as many people (the Bayesian omnibus risk)."""

    by: str
    evidence: Array
    """Of each person (rows) and model (columns, in the order of `rows`)."""

    not_foreseen: tuple[str, ...] = ()
    """The people with no round to leave out, where others have some: because of them all are compared by BIC."""

    @property
    def best(self) -> Standing:
        """The first of the models."""
        return self.rows[0]


def standings(outcomes: Iterable[Outcome]) -> Standings:
    """Return how models stand; every person must have been fitted by every model."""
    every = [*outcomes]
    alone = tuple(dict.fromkeys(one.person for one in every if not one.predicted))
    some = any(one.predicted for one in every)
    left_out, found = not alone, _by_model(every, left_out=not alone)
    evidence = np.array([[_evidence(one, left_out=left_out) for one in each] for each in found.values()]).T
    total = np.argsort(-evidence.sum(axis=0), kind="stable")
    names = [[*found][k] for k in total.tolist()]
    evidence = evidence[:, total]
    compared = compare(evidence)
    best = np.bincount(evidence.argmax(axis=1), minlength=len(names)).tolist()
    parts = zip(names, best, compared.shares, compared.exceedance, compared.protected, strict=True)
    rows = [_standing(found[name], int(first), *map(float, rest)) for name, first, *rest in parts]
    by = FORESEEN if left_out else FITTED
    return Standings({name: found[name] for name in names}, rows, compared.chance, by, evidence, alone if some else ())


def _by_model(every: Iterable[Outcome], *, left_out: bool) -> dict[str, list[Outcome]]:
    """Return outcomes by model, without rounds left out where not everybody has some: no number is of both kinds."""
    found: dict[str, list[Outcome]] = {}
    for one in every:
        found.setdefault(one.model, []).append(one if left_out else one._replace(predicted=()))
    return found


def _evidence(one: Outcome, *, left_out: bool) -> float:
    return one.foreseen if left_out else -one.bic / 2


def _standing(each: Sequence[Outcome], best_for: int, share: float, exceedance: float, protected: float) -> Standing:
    return Standing(
        model=each[0].model,
        people=len(each),
        parameters=len(each[0].free),
        log_likelihood=math.fsum(one.log_likelihood for one in each),
        aic=math.fsum(one.aic for one in each),
        bic=math.fsum(one.bic for one in each),
        foreseen=math.fsum(one.foreseen for one in each),
        share_explained=float(np.median([one.share_explained for one in each])),
        best_for=best_for,
        share=share,
        exceedance=exceedance,
        protected=protected,
    )


def models_csv(found: Standings) -> str:
    """Return the comparison as CSV, a row per model."""
    return _csv(Standing._fields, ([_cell(value) for value in row] for row in found.rows))


def people_csv(found: Standings) -> str:
    """Return everything that was found of people as CSV, a row per person and model.

    The parameters are those that any model fits; their errors are left empty where the choices tell nothing.
    """
    names = [name for name in PARAMETERS if any(name in each[0].free for each in found.outcomes.values())]
    heads = ("person", "model", "choices", "log_likelihood", "aic", "bic", "foreseen", "share_explained")
    columns = [column for name in names for column in (name, f"{name}_error")]
    rows = (
        [
            *(_cell(getattr(one, head)) for head in heads),
            *(_cell(part.get(name, math.nan)) for name in names for part in (one.values, one.errors)),
            " ".join(one.notes),
        ]
        for each in found.outcomes.values()
        for one in each
    )
    return _csv((*heads, *columns, "notes"), rows)


def _csv(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    return text.getvalue()


def _cell(value: float | int | str) -> str:
    """Return a value as text, nothing for a number that is not known, a ' before what looks like a formula."""
    if isinstance(value, str) and value.startswith(FORMULA) and not NUMBER.fullmatch(value):
        return f"'{value}"
    return "" if isinstance(value, float) and not math.isfinite(value) else str(value)
