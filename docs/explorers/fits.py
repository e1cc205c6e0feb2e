"""The people of the 2018 study, fitted: all rounds, and those of short and of long horizons apart."""

import csv
import math

import corrbandits as cb
from corrbandits import choices
from corrbandits.fits.campaign import run
from corrbandits.fits.models import named
from corrbandits.fits.outcomes import Outcome, Outcomes

FILES = {"on a line": "wu2018_exp1_1d.csv", "on a grid": "wu2018_exp2_2d.csv"}
COLUMNS = {"person": "id", "arm": ["x", "y"], "reward": "z", "horizon": "horizon", "given": 1}
FUNCTION, TRACKER = "function learning", "mean tracker"
OF_THE_STUDY = {
    FUNCTION: choices.Model(kernel=cb.SquaredExponential(1.0), prior_mean=50.0, prior_sd=100.0, noise=0.01),
    TRACKER: choices.Model(prior_mean=50.0, prior_sd=100 * 5**0.5, noise="free"),
}
PLAIN, PRINTED, HORIZON = "CorrelatedUCL-plain", "CorrelatedUCL", "HorizonUCL"
OF_THE_PAPER = named([HORIZON, PLAIN, PRINTED])
MODELS = {**OF_THE_STUDY, **OF_THE_PAPER}
APART = {FUNCTION: OF_THE_STUDY[FUNCTION], **OF_THE_PAPER}
"""The models that are also fitted to the rounds of each horizon apart."""

PARTS = ("all", "short", "long")
DIGITS = 5


def fitted(path, kept, threads):
    """Return what is found of the people of a file as plain data; each round is foreseen from the others."""
    people = choices.read_csv(path, **COLUMNS)
    kept.mkdir(parents=True, exist_ok=True)
    place = Outcomes(kept / f"{path.stem}.jsonl")
    found = {"all": run(people, MODELS, place, threads=threads)}
    for part, horizon in zip(PARTS[1:], horizons(people), strict=True):
        some = [one.only([k for k, each in enumerate(one.rounds) if each.horizon == horizon]) for one in people]
        found[part] = run(some, APART, place, threads=threads)
    return {"surfaces": surfaces(path), "horizons": horizons(people)} | {
        part: kept_numbers(each) for part, each in found.items()
    }


def horizons(people):
    """Return the short and the long horizon of an experiment."""
    return sorted({each.horizon for person in people for each in person.rounds})


def surfaces(path):
    """Return how smooth the surfaces were that each person met, 0 or 1, in the order of people."""
    with path.open(encoding="utf-8", newline="") as file:
        return [kind for _, kind in sorted({(int(row["id"]), int(row["kernel"])) for row in csv.DictReader(file)})]


def kept_numbers(outcomes):
    """Return what the page shows of outcomes as plain data."""
    return [
        [
            one.person,
            one.model,
            one.choices,
            one.arms,
            _short(one.log_likelihood),
            _short(one.foreseen),
            {name: _short(one.values[name]) for name in one.free},
            [name for name in one.free if math.isinf(one.errors[name])],
        ]
        for one in outcomes
    ]


def _short(value):
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def read(rows):
    """Return outcomes from plain data, by model."""
    found = {}
    for person, model, made, arms, value, foreseen, values, ends in rows:
        errors = {name: math.inf if name in ends else 0.0 for name in values}
        one = Outcome(person, model, "", made, arms, tuple(values), values, errors, value, (foreseen,), ())
        found.setdefault(model, []).append(one)
    return found
