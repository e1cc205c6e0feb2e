import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrbandits import Independent
from corrbandits._core.tally import Tally
from tests.support.contracts import QUICK

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


@QUICK
@given(st.lists(st.tuples(st.integers(0, 1), st.floats(-1e300, 1e300)), max_size=100), st.integers(0, 100))
def test_rewards_one_by_one_are_those_at_once(rewards, look):
    one = Tally.empty(2)
    for n, (arm, reward) in enumerate(rewards):
        one = one.seen(arm, reward)
        if n == look:
            _ = one.counts
    at_once = Tally.empty(2).plus((arm, 1, reward) for arm, reward in rewards)
    assert one.exact == at_once.exact
    assert one.counts.tolist() == at_once.counts.tolist()
    assert one.sums.tolist() == at_once.sums.tolist()
    assert one.counts.dtype == np.int64
    assert not one.counts.flags.writeable
    again = pickle.loads(pickle.dumps(one))
    assert again.exact == one.exact
    assert not again.counts.flags.writeable


def test_a_tally_that_has_seen_more_leaves_those_before_alone():
    tallies = [Tally.empty(1)]
    for n in range(100):
        tallies.append(tallies[-1].seen(0, float(n)))
    other = tallies[50].seen(0, 7.0)
    assert [t.counts[0] for t in tallies] == list(range(101))
    assert [t.sum_of(0) for t in tallies] == [n * (n - 1) / 2 for n in range(101)]
    assert (other.counts[0], other.sum_of(0)) == (51, 50 * 49 / 2 + 7)


@pytest.mark.parametrize(
    "before", [Tally.seen, lambda t, arm, r: t.plus([(arm, 1, r)]), lambda t, arm, r: t.merged(tally([r], arm))]
)
def test_one_reward_more_is_refused_when_the_sum_leaves_the_doubles(before):
    full = before(Tally.empty(2), 1, 1.7e308)
    for there in (full, pickle.loads(pickle.dumps(full))):
        with pytest.raises(OverflowError, match="the rewards of arm 1 sum to more than a double can hold"):
            there.seen(1, 1.7e308)
        assert there.seen(0, 1.7e308).sum_of(0) == 1.7e308
        assert there.seen(1, -1.7e308).sum_of(1) == 0.0


def test_a_long_history_is_not_kept_reward_by_reward():
    one = Tally.empty(3)
    for n in range(1000):
        one = one.seen(n % 3, 1.0)
        assert len(one._state[-1]) <= 33
    assert one.counts.tolist() == [334, 333, 333]


def test_more_rewards_than_a_double_can_count_are_refused():
    belief = Independent(noise_variance=1.0, arms=2).observe_all([2**53, 1], [0.0, 1.0])
    with pytest.raises(OverflowError, match=r"at most 2\^53, but arm 0"):
        belief.merge(belief)
    with pytest.raises(OverflowError, match=r"at most 2\^53"):
        belief.observe_all([1, 0], [0.0, 0.0])


def test_a_wider_tally_has_seen_the_same():
    tally = Tally.empty(2).plus([(1, 2, 0.1), (0, 1, 1e300)])
    wider = tally.widened(4).plus([(3, 1, 2.0)])
    assert wider.counts.tolist() == [1, 2, 0, 1]
    assert wider.sums.tolist() == [1e300, 0.1, 0.0, 2.0]
    assert tally.counts.tolist() == [1, 2]
