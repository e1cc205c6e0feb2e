"""Models over all people: sums, who is best for whom, the tables, and what is said."""

import csv
import io
import math

import numpy as np
import pytest

from corrbandits import SquaredExponential
from corrbandits.choices import Model, compare
from corrbandits.fits.outcomes import Outcome, fitted
from corrbandits.fits.sentences import sentences
from corrbandits.fits.standings import FITTED, FORESEEN, models_csv, people_csv, standings
from tests.support import choosers

SMOOTH = SquaredExponential(1.0)
IN_TWENTIES = Model(kernel=SMOOTH, prior_sd=20.0)


def outcomes(people=30, lead=3.0, rounds=2, seed=0):
    """People whom nobody met: `wide` explains them better than `narrow`, by about `lead`."""
    rng = np.random.default_rng(seed)
    found = []
    for model, free, better in (("narrow", ("temperature",), 0.0), ("wide", ("length", "temperature"), lead)):
        for person in range(people):
            base = -60 + np.random.default_rng([seed, person]).normal(0, 5)
            foreseen = base + better + rng.normal(0, 1)
            values = {"length": float(np.exp(rng.normal())), "temperature": float(np.exp(rng.normal()))}
            errors = dict.fromkeys(free, math.inf if person == 0 else 0.1)
            notes = ("length runs to its lower end, 0.1: no arm tells of another.",) if person == 0 else ()
            own = {name: values[name] for name in free}
            parts = tuple([foreseen / rounds] * rounds) if rounds > 1 else ()
            key = f"{model}{person}"
            found.append(Outcome(f"p{person}", model, key, 40, 10, free, own, errors, base + 1, parts, notes))
    return found


def test_sums_and_shares_are_those_of_the_outcomes():
    every = outcomes()
    found = standings(every)
    assert [row.model for row in found.rows] == ["wide", "narrow"]
    assert found.by == FORESEEN
    for row in found.rows:
        own = [one for one in every if one.model == row.model]
        assert row.foreseen == pytest.approx(sum(sum(one.predicted) for one in own))
        assert row.aic == pytest.approx(sum(2 * len(one.free) - 2 * one.log_likelihood for one in own))
        assert row.bic == pytest.approx(sum(math.log(40) * len(one.free) - 2 * one.log_likelihood for one in own))
    assert sum(row.best_for for row in found.rows) == 30
    assert found.best.best_for == int((found.evidence[:, 0] > found.evidence[:, 1]).sum())
    expected = compare(found.evidence)
    assert [row.protected for row in found.rows] == pytest.approx(expected.protected.tolist())


def test_one_round_is_compared_by_bic():
    found = standings(outcomes(rounds=1))
    assert found.by == FITTED
    own = found.outcomes[found.best.model]
    assert found.evidence[:, 0] == pytest.approx([-one.bic / 2 for one in own])
    assert found.best.model == "narrow"  # the likelihoods are alike, and it has a parameter less
    assert any("BIC" in sentence for sentence in sentences(found))


def test_the_tables_have_every_number():
    found = standings(outcomes())
    people = list(csv.DictReader(io.StringIO(people_csv(found))))
    assert len(people) == 60
    by_key = {(one.person, one.model): one for each in found.outcomes.values() for one in each}
    for row in people:
        one = by_key[row["person"], row["model"]]
        assert float(row["temperature"]) == one.values["temperature"]
        assert float(row["foreseen"]) == one.foreseen
        assert (row["length"] == "") == ("length" not in one.free)
        assert (row["temperature_error"] == "") == math.isinf(one.errors["temperature"])
        assert row["notes"] == " ".join(one.notes)
    models = list(csv.DictReader(io.StringIO(models_csv(found))))
    assert [row["model"] for row in models] == ["wide", "narrow"]
    assert float(models[0]["share"]) + float(models[1]["share"]) == pytest.approx(1.0)


def test_the_first_sentence_says_whether_a_model_stands_out():
    sure = sentences(standings(outcomes(lead=6.0)))
    assert sure[0].startswith("wide is what most of 30 people follow")
    assert "better than narrow for 30 of 30" in sure[1]
    unsure = sentences(standings(outcomes(people=4, lead=0.05)))
    assert unsure[0].startswith("No model is surely followed by more of 4 people than any other")
    alone = sentences(standings([one for one in outcomes() if one.model == "wide"]))
    assert alone[0] == "wide was fitted to the choices of 30 people."


def test_kinds_are_spoken_of_where_there_are_people_enough():
    assert any("spread about one centre" in sentence for sentence in sentences(standings(outcomes(people=60))))
    assert not any("kinds" in sentence for sentence in sentences(standings(outcomes(people=8))))


def test_fits_with_a_note_are_counted():
    said = sentences(standings(outcomes()))
    assert any(sentence.startswith("Of 1 fit of 30 there is something to note") for sentence in said)


@pytest.mark.parametrize(
    ("unit", "words"), [(1.0, "An exploration is in units of reward"), (20.0, "An exploration of 1 is worth 20")]
)
def test_an_exploration_is_said_in_what_it_counts(unit, words):
    values = {"exploration": 0.5, "temperature": 1.0, "prior_sd": unit}
    free, errors = ("exploration", "temperature"), {"exploration": 0.1, "temperature": 0.1}
    one = Outcome("p", "wide", "k", 40, 10, free, values, errors, -60.0, (-30.0, -31.0), ())
    assert any(sentence.startswith(words) for sentence in sentences(standings([one])))
    assert not any("exploration" in sentence for sentence in sentences(standings(outcomes(people=4))))


def test_an_exploration_in_another_unit_is_the_same_bonus():
    """What the sentence promises: 20 times the unit, a twentieth of the number, the same likelihood."""
    anna = choosers.somebody("Anna")
    plain, other = (fitted(anna, "one", model, leave_out=False) for model in (Model(kernel=SMOOTH), IN_TWENTIES))
    assert other.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-8)
    assert 20 * other.values["exploration"] == pytest.approx(plain.values["exploration"], rel=1e-4)
