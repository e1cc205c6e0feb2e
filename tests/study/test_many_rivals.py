"""The best of many arms: only those that may be better are drawn, and what is left out is said."""

import numpy as np
import pytest

from corrbandits import Vague
from corrbandits.study.report import rivals

SIDE = 18
PLACES = np.stack(np.divmod(np.arange(SIDE * SIDE), SIDE), axis=1).astype(float)
LEVEL = np.sin(PLACES[:, 0] / 3) + np.cos(PLACES[:, 1] / 4)


def untold(rewards: int) -> Vague:
    rng = np.random.default_rng(4)
    arms = rng.integers(0, SIDE * SIDE, rewards)
    return Vague(coordinates=PLACES).observe(arms, LEVEL[arms] + 0.2 * rng.standard_normal(rewards))


@pytest.mark.parametrize("rewards", [20, 300])
def test_the_judgement_is_that_of_draws_of_all_arms(rewards):
    belief = untold(rewards)
    leader = int(belief.mean.argmax())
    found = rivals.judged(belief, leader, np.random.default_rng(0))
    draws = belief.draws(np.random.default_rng(1), 20_000)
    loss = draws.max(axis=0) - draws[leader]
    error = loss.std() * np.sqrt(1 / 20_000 + 1 / rivals.DRAWS)
    assert not found.approximate
    assert abs(found.loss - loss.mean()) < 4 * error
    assert abs(found.probability - (loss == 0).mean()) < 4 * np.sqrt(0.25 / rivals.DRAWS)


def test_few_arms_are_drawn_late():
    belief = untold(2_000)
    leader = int(belief.mean.argmax())
    assert rivals.contenders(belief, leader, *belief.rivals(leader)).size < SIDE


def test_where_arms_are_left_out_the_likeliest_are_drawn_and_it_is_said(monkeypatch):
    belief = untold(60)
    leader = int(belief.mean.argmax())
    whole = rivals.judged(belief, leader, np.random.default_rng(0))
    monkeypatch.setattr(rivals, "MOST_MADE", 40)
    found = rivals.judged(belief, leader, np.random.default_rng(0))
    assert found.approximate
    assert not whole.approximate
    errors = 4 * whole.loss_error, 4 * whole.probability_error
    assert 0.5 * whole.loss < found.loss < whole.loss + errors[0]
    assert found.probability > whole.probability - errors[1]


def test_ten_thousand_arms_are_judged():
    side = 100
    places = np.stack(np.divmod(np.arange(side * side), side), axis=1).astype(float)
    rng = np.random.default_rng(4)
    arms = rng.integers(0, side * side, 40)
    belief = Vague(coordinates=places).observe(arms, np.sin(places[arms, 0] / 20) + rng.standard_normal(40))
    found = rivals.judged(belief, int(belief.mean.argmax()), np.random.default_rng(0))
    assert found.approximate
    assert 0 < found.loss < 10
