"""The rule that minds the way: what it weighs, its limits, and what it saves."""

import math

import numpy as np
import pytest
from scipy import stats

import corrbandits as cb

WHERE = cb.landscapes.grid(5, 5)
KERNEL = 9 * cb.Exponential(3.0)
PRIOR = cb.Correlated(mean=2.0, kernel=KERNEL, coordinates=WHERE, noise_variance=4.0)
TOLD = PRIOR.observe([0, 12, 24, 12], [1.0, 4.0, 6.0, 3.0])


@pytest.mark.parametrize("rule", [cb.UCL(), cb.Gittins(60), cb.GPUCB()], ids=str)
@pytest.mark.parametrize("t", [5, 40, 60])
def test_an_arm_is_worth_its_index_less_the_way_shared_by_the_decisions_one_stays(rule, t):
    moves, left = cb.Moves(per_move=3.0, per_distance=0.7, coordinates=WHERE), 60 - t + 1
    for last in (0, 7, 24):
        worth = []
        for arm in range(25):
            chance = stats.norm.sf(TOLD.mean.max(), TOLD.mean[arm], math.sqrt(TOLD.variance[arm]))
            stay = max(1.0, min(chance * left, math.sqrt(left)))
            way = 0.0 if arm == last else 3.0 + 0.7 * math.dist(WHERE[arm], WHERE[last])
            worth.append(rule.index(TOLD, t)[arm] - way / stay)
        chosen = cb.Travelling(rule, moves, horizon=60).choose(TOLD, t, last=last)
        assert chosen == np.argmax(worth)
        few = [1, 7, 20, 23]
        assert cb.Travelling(rule, moves, horizon=60).choose(TOLD, t, last=last, allowed=few) == max(
            few, key=lambda arm: worth[arm]
        )


def test_where_arms_lie_is_asked_of_the_belief_where_moves_do_not_say():
    told, untold = cb.Moves(per_distance=2.0, coordinates=WHERE), cb.Moves(per_distance=2.0)
    for last in range(25):
        one, other = (cb.Travelling(cb.UCL(), moves, horizon=60).choose(TOLD, 9, last=last) for moves in (told, untold))
        assert one == other
    flat = cb.Independent(variance=1.0, noise_variance=1.0, arms=3)
    with pytest.raises(ValueError, match="per_distance must go with places, got 2 and arms that lie nowhere"):
        cb.Travelling(cb.UCL(), untold).choose(flat, 1, last=0)


def test_dear_moves_are_not_made_and_at_the_end_none():
    rule = cb.Travelling(cb.UCL(), cb.Moves(per_move=1e6), horizon=60)
    assert all(rule.choose(TOLD, t, last=3) == 3 for t in (1, 30, 60, 10**9))
    rule = cb.Travelling(cb.Gittins(60), cb.Moves(per_move=2.5), horizon=60)
    assert rule.choose(TOLD, 5, last=0) == rule.rule.choose(TOLD, 5)
    assert rule.choose(TOLD, 60, last=18) == 18  # one decision is left, and the best mean is not 2.5 better


def test_of_unknown_arms_the_nearest_is_tried_first():
    flat = cb.Independent(noise_variance=1.0, arms=6)
    moves = cb.Moves(per_distance=1.0, coordinates=[0.0, 9.0, 1.0, 8.0, 2.5, 7.5])
    trace = cb.simulate({"a": (cb.Travelling(cb.UCL(), moves), flat)}, cb.GaussianBandit(np.zeros(6), 1.0), 6)
    assert trace.arms.values[0, 0].tolist() == [0, 2, 4, 5, 3, 1]
    assert cb.Travelling(cb.UCL(), moves).choose(flat, 2, last=0, allowed=[1, 3]) == 3


@pytest.mark.parametrize("belief", [cb.Beta(arms=4), cb.Vague(arms=4), cb.Vague(coordinates=range(4), parts=6)])
def test_it_plays_on_every_belief(belief):
    rule = cb.Travelling(cb.Gittins(30) if isinstance(belief, cb.Vague) else cb.BayesUCB(30), cb.Moves(0.1))
    for t in range(1, 31):
        arm = rule.choose(belief, t, last=None if t == 1 else t % 4)
        belief = belief.observe(arm, float(arm > t % 3))
    assert belief.counts.sum() == 30


@pytest.mark.parametrize(
    "belief",
    [
        cb.Independent(mean=[0.0, 1e300, -1e300], variance=[1e300, 1.0, 1e-300], noise_variance=1e-9),
        cb.Independent(mean=[0.0, 1.0, 2.0], variance=[0.0, np.inf, 1e-300], noise_variance=1e300),
        cb.Independent(mean=[1.0, 1.0, 1.0], variance=0.0, noise_variance=1.0),
        cb.Correlated(covariance=np.ones((3, 3)), noise_variance=1.0),
    ],
    ids=["far apart", "known and unknown", "all known", "rank one"],
)
@pytest.mark.parametrize("t", [1, 10**9])
@pytest.mark.filterwarnings("error")
def test_extremes_are_decided(belief, t):
    for moves in (cb.Moves(5e-324), cb.Moves(1.0), cb.Moves(1e300)):
        for horizon in (None, 1, 10**9):
            assert cb.Travelling(cb.UCL(), moves, horizon).choose(belief, t, last=2) in range(3)
    assert (
        cb.Travelling(cb.UCL(), cb.Moves(1.0)).choose(
            cb.Independent(variance=1.0, noise_variance=1.0, arms=1), t, last=0
        )
        == 0
    )


def test_it_goes_around_others_and_none_that_compare_indices_around_it():
    rule = cb.Travelling(cb.UCL(), cb.Moves(1.0))
    assert cb.Blocked(rule, length=2).choose(TOLD, 2, last=5) == 5
    with pytest.raises(TypeError, match=r"Softmax compares indices, but Travelling minds more.*Travelling\(Softmax"):
        cb.Softmax(rule)
    with pytest.raises(TypeError, match=r"Travelling needs what moves cost, such as Moves\(per_move=2.0\), got 3"):
        cb.Travelling(cb.UCL(), 3)
    with pytest.raises(ValueError, match="horizon must be at least 1, got 0"):
        cb.Travelling(cb.UCL(), cb.Moves(1.0), horizon=0)
    with pytest.raises(ValueError, match="between the 25 arms there are, but they are between 2"):
        cb.Travelling(cb.UCL(), cb.Moves(per_distance=1.0, coordinates=[0.0, 1.0])).choose(TOLD, 1, last=0)


@pytest.mark.slow
@pytest.mark.parametrize("price", [(5.0, 0.0), (0.0, 2.0), (10.0, 2.0)])
def test_it_costs_less_in_all_than_the_rule_itself_and_in_blocks(price):
    moves, horizon, saved = cb.Moves(*price, coordinates=WHERE), 150, []
    players = {
        "travelling": (cb.Travelling(cb.UCL(), moves, horizon), PRIOR),
        "itself": (cb.UCL(), PRIOR),
        "in blocks": (cb.Blocked(cb.UCL()), PRIOR),
    }
    for seed in range(30):
        bandit = cb.landscapes.draw(KERNEL, WHERE, mean=2.0, noise_variance=4.0, seed=500 + seed)
        cost = cb.simulate(players, bandit, horizon, seed=seed, moves=moves).total_cost.isel(time=-1, run=0)
        saved.append([float(cost.sel(policy=other) - cost.sel(policy="travelling")) for other in list(players)[1:]])
    low = np.mean(saved, axis=0) - stats.t.isf(0.005, 29) * np.std(saved, axis=0, ddof=1) / math.sqrt(30)
    assert (low > 0).all()
