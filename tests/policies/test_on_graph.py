"""Walks on a graph: shortest ways, sampling on them, and block UCL where every arm is next to every other."""

import itertools

import numpy as np
import pytest

import corrbandits as cb

SIDE = 4
WHERE = cb.landscapes.grid(SIDE, SIDE)
BANDIT = cb.landscapes.draw(4 * cb.Exponential(2.0), WHERE, noise_variance=1.0, seed=4)
PRIOR = cb.Correlated(kernel=4 * cb.Exponential(2.0), coordinates=WHERE, noise_variance=1.0)
NEXT_TO = [(i, j) for i, j in itertools.combinations(range(16), 2) if np.abs(WHERE[i] - WHERE[j]).sum() == 1]
LINE = cb.Independent(mean=[0.0, 1.0, 2.0, 9.0], variance=1.0, noise_variance=1.0)


@pytest.mark.parametrize("length", [None, 1, 5])
@pytest.mark.parametrize("rule", [cb.UCL(), cb.Thompson(), cb.Gittins(80)], ids=str)
def test_where_every_arm_is_next_to_every_other_it_is_the_rule_in_blocks(rule, length):
    complete = [*itertools.combinations(range(16), 2)]
    players = {"graph": (cb.OnGraph(rule, complete, length), PRIOR), "blocks": (cb.Blocked(rule, length), PRIOR)}
    trace = cb.simulate(players, BANDIT, 80, 3, engine="reference")
    np.testing.assert_array_equal(trace.arms.sel(policy="graph"), trace.arms.sel(policy="blocks"))


@pytest.mark.parametrize("length", [None, 1, 6])
def test_every_step_is_to_a_neighbour(length):
    trace = cb.simulate({"walk": (cb.OnGraph(cb.UCL(), NEXT_TO, length), PRIOR)}, BANDIT, 200, 2)
    steps = np.abs(np.diff(WHERE[trace.arms.values[0]], axis=1)).sum(axis=2)
    assert steps.max() == 1
    assert (steps == 1).sum() > 20


def test_a_run_is_ways_and_stays_one_after_the_other():
    """Replayed: at the end of each plan the rule within names an arm, by all that was seen on the way."""
    rule = cb.OnGraph(cb.UCL(), NEXT_TO)
    trace = cb.simulate({"walk": (rule, PRIOR)}, BANDIT, 150)
    arms, rewards = trace.arms.values[0, 0].tolist(), trace.rewards.values[0, 0].tolist()
    t, last, belief, ways = 1, None, PRIOR, 0
    while t <= 150:
        goal = cb.UCL().choose(belief, t)
        hops = 1 if last is None else max(1, int(np.abs(WHERE[goal] - WHERE[last]).sum()))
        frame = len(f"{t:b}")
        planned = hops - 1 + min(frame, 2**frame - t)
        done = arms[t - 1 : t - 1 + planned]
        assert all(arm == goal for arm in done[hops - 1 :])
        for arm, reward in zip(done, rewards[t - 1 : t - 1 + planned], strict=True):
            belief = belief.observe(arm, reward)
        t, last, ways = t + planned, done[-1], ways + (hops > 1)
    assert ways > 5


def test_choose_is_the_first_of_the_plan_and_arms_out_of_reach_are_passed():
    walk = cb.OnGraph(cb.UCL(), [(0, 1), (1, 2), (2, 3)], length=2)
    assert walk.plan(LINE, 1, last=0) == (1, 2, 3, 3)
    assert walk.choose(LINE, 1, last=0) == 1
    assert walk.plan(LINE, 1) == (3, 3)  # nobody is anywhere yet
    assert walk.plan(LINE, 1, last=3) == (3, 3)
    assert walk.plan(LINE, 1, last=0, allowed=[0, 2, 3]) == (2, 3, 3)
    assert walk.plan(LINE, 1, last=0, allowed=[0, 1]) == (1, 1)
    assert walk.choose(LINE, 1, last=3, allowed=[0, 1]) == 1


def test_lengths_of_edges_decide_which_way_is_the_shortest():
    ring = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 2.5)]
    assert cb.OnGraph(cb.UCL(), ring, length=1).plan(LINE, 1, last=0) == (3,)
    ring[-1] = (3, 0, 3.5)
    assert cb.OnGraph(cb.UCL(), ring, length=1).plan(LINE, 1, last=0) == (1, 2, 3)


def test_a_graph_of_other_arms_is_refused():
    walk = cb.OnGraph(cb.UCL(), [(0, 1), (1, 2)])
    with pytest.raises(ValueError, match="OnGraph needs a graph of the 4 arms there are, but this one has 3"):
        walk.choose(LINE, 1, last=0)
    with pytest.raises(ValueError, match="must lead from every arm to every other"):
        cb.OnGraph(cb.UCL(), [(0, 1), (2, 3)]).choose(LINE, 1, last=0)
    with pytest.raises(ValueError, match="an arm must be an index from 0 to 2, got 7"):
        walk.choose(cb.Independent(variance=1.0, noise_variance=1.0, arms=3), 1, last=7)
