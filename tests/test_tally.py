import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import QUICK
from corrbandits.tally import Tally

REWARDS = st.lists(st.floats(-1e307, 1e307), max_size=15)


def tally(rewards, arm=0):
    return Tally.empty(2).plus((arm, 1, r) for r in rewards)


@QUICK
@given(REWARDS)
def test_the_sum_is_correctly_rounded(rewards):
    assert tally(rewards).sum_of(0) == math.fsum(rewards) == float(sum(map(Fraction, rewards)))
    assert tally(rewards).counts.tolist() == [len(rewards), 0]


@QUICK
@given(REWARDS, st.randoms())
def test_no_order_matters(rewards, random):
    shuffled = random.sample(rewards, len(rewards))
    assert tally(rewards).exact == tally(shuffled).exact


@QUICK
@given(REWARDS, st.floats(allow_nan=False, allow_infinity=False))
def test_taking_a_reward_back_is_exact(rewards, extra):
    there = tally(rewards).plus([(0, 1, extra)])
    back = there.plus([(0, -1, -extra)])
    assert back.sum_of(0) == tally(rewards).sum_of(0)
    assert back.counts.tolist() == [len(rewards), 0]


@QUICK
@given(REWARDS, REWARDS)
def test_merging_is_seeing_both(mine, yours):
    merged = tally(mine).merged(tally(yours, arm=1)).merged(tally(yours))
    assert merged.sums.tolist() == [math.fsum(mine + yours), math.fsum(yours)]
    assert merged.counts.tolist() == [len(mine) + len(yours), len(yours)]


def test_small_rewards_are_not_lost_beside_large_ones():
    assert tally([1e300, 1.0, -1e300]).sum_of(0) == 1.0
    assert tally([5e-324] * 3).sum_of(0) == 1.5e-323
    assert tally([0.1] * 10).sum_of(0) == 1.0


def test_a_sum_may_pass_beyond_doubles_and_come_back():
    beyond = tally([1.7e308, 1.7e308])
    with pytest.raises(OverflowError, match=r"arm 0 sum to more than a double can hold; measure them in a larger unit"):
        beyond.sum_of(0)
    with pytest.raises(OverflowError, match="arm 0"):
        _ = beyond.sums
    assert beyond.plus([(0, 1, -1.7e308)]).sum_of(0) == 1.7e308


def test_a_tally_never_changes():
    before = Tally.empty(2)
    after = before.plus([(1, 3, 6.0)])
    assert before.counts.tolist() == [0, 0]
    assert before.exact == {}
    assert (after.counts.tolist(), after.sums.tolist()) == ([0, 3], [0.0, 6.0])
    for array in (after.counts, after.sums):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert after.counts.dtype == np.int64
