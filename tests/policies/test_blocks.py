"""Blocks: when they begin, what is held, and how seldom block UCL moves."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import corrbandits as cb

FLAT = cb.Independent(noise_variance=1.0, arms=4)
BANDIT = cb.GaussianBandit([0.0, 0.4, 0.8, 1.2], 1.0)


def as_printed(frames):
    """The beginning and the length of every block, frame by frame, as the literature defines them."""
    for k in range(1, frames + 1):
        for r in range(1, math.ceil(2 ** (k - 1) / k) + 1):
            tau = 2 ** (k - 1) + (r - 1) * k
            yield tau, min(k, 2**k - tau)


def test_blocks_are_those_of_the_literature():
    rule, blocks = cb.Blocked(cb.UCL()), [*as_printed(14)]
    for (tau, length), (after, _) in itertools.pairwise(blocks):
        assert tau + length == after  # they leave no time out
        assert rule.lasting(tau) == length
    begins = rule.begins(np.arange(1, 2**14))
    assert (np.flatnonzero(begins) + 1).tolist() == [tau for tau, _ in blocks]
    assert [t for t in range(1, 2**10) if rule.begins(t)] == [tau for tau, _ in as_printed(10)]


@pytest.mark.parametrize("t", [10**9, 2**29, 2**29 + 30, 2**52 + 53 * 7, 2**62, 2**62 + 63])
def test_late_times_have_blocks_too(t):
    k = len(f"{t:b}")
    rule = cb.Blocked(cb.UCL())
    assert rule.begins(t) == ((t - 2 ** (k - 1)) % k == 0)
    if t < 2**53:
        assert rule.begins(np.array([t])).tolist() == [rule.begins(t)]
    assert 1 <= rule.lasting(t) <= k
    assert rule.choose(FLAT.observe([0, 1, 2, 3], [0.0, 1.0, 2.0, 9.0]), t, last=1) == (3 if rule.begins(t) else 1)


@pytest.mark.parametrize("length", [None, 2, 7, 1_000_000])
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_an_arm_is_left_only_when_a_block_begins(length, engine):
    rule = cb.Blocked(cb.Thompson(), length=length)
    arms = cb.simulate({"a": (rule, FLAT)}, BANDIT, 400, 3, engine=engine).arms.values[0]
    left = np.flatnonzero((np.diff(arms, axis=1) != 0).any(axis=0)) + 2
    assert all(rule.begins(int(t)) for t in left)
    if length != 1_000_000:
        assert left.size > 5


def test_in_a_block_only_an_arm_that_is_allowed_is_held():
    rule, belief = cb.Blocked(cb.UCL(), length=10), FLAT.observe([0, 1, 2, 3], [0.0, 1.0, 2.0, 9.0])
    assert rule.choose(belief, 5, last=1) == 1
    assert rule.choose(belief, 5, last=1, allowed=[1, 2]) == 1
    assert rule.choose(belief, 5, last=1, allowed=[False, False, True, False]) == 2
    assert rule.choose(belief, 5) == 3  # nothing to hold
    assert rule.choose(belief, 11, last=1) == 3
    with pytest.raises(ValueError, match="an arm must be an index from 0 to 3, got 4"):
        rule.choose(belief, 5, last=4)
    with pytest.raises(ValueError, match="t must be at least 1, got 0"):
        rule.choose(belief, 0)


@pytest.mark.parametrize(("length", "words"), [(0, "length must be at least 1"), (2.5, "length must be a whole")])
def test_a_block_has_a_whole_number_of_decisions(length, words):
    with pytest.raises((ValueError, TypeError), match=words):
        cb.Blocked(cb.UCL(), length=length)


def test_where_nothing_is_compiled_the_reason_is_said():
    with pytest.raises(ValueError, match="because InformationDirected compares many draws"):
        cb.simulate({"a": (cb.Blocked(cb.InformationDirected()), FLAT)}, BANDIT, 9, engine="compiled")
    safe, untold = cb.Safe(cb.Gittins(9), floor=0.0), cb.Vague(arms=FLAT.arms)
    with pytest.raises(ValueError, match="because Safe asks for a quantile of a mixture"):
        cb.simulate({"a": (cb.Blocked(safe), untold)}, BANDIT, 9, engine="compiled")


@pytest.mark.slow
def test_block_ucl_moves_more_and_more_seldom_and_its_regret_stays_logarithmic():
    """Reverdy, Srivastava and Leonard 2014: moves grow like log log T. Each decade has fewer than the one before."""
    times = [100, 1_000, 10_000, 100_000]
    players = {"UCL": (cb.UCL(), FLAT), "block UCL": (cb.Blocked(cb.UCL()), FLAT)}
    moves = cb.Moves(per_move=1.0)
    trace = cb.simulate(players, BANDIT, times[-1], 200, seed=5, moves=moves, record="summary", times=times)
    in_decades = trace.moves.diff("time")
    fewer = -in_decades.sel(policy="block UCL").diff("time").values  # from a decade to the next, run by run
    low = fewer.mean(axis=0) - stats.t.isf(0.005, 199) * fewer.std(axis=0, ddof=1) / math.sqrt(200)
    assert (low > 0).all()
    by_decade = trace.regret.diff("time").sel(policy="block UCL").mean("run").values
    assert by_decade[2] < 1.25 * by_decade[1]  # as much again in each decade, and no more
    last = trace.moves.isel(time=-1).mean("run")
    assert last.sel(policy="block UCL") < last.sel(policy="UCL") / 3
