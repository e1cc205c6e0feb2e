"""Rules on a belief told nothing where mean rewards change: they play, and look ahead as far as knowledge lasts."""

import math

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.policies import RULES
from corrbandits.policies.gittins import index_in_deviations
from tests.policies.test_on_vague import NEED_A_GAUSSIAN, TRUTH, WHERE, rule

ALL = {"mean": 20.0, "sd": 2.0, "noise_sd": 0.8, "length": 1.7, "kernel": "exponential", "site": 0.0, "parts": 1}
SEEN = [(1, 3, 22.3), (2, 0, 19.1), (3, 5, 18.0), (4, 2, 21.0)]


def told(drift, days=1.0, **said):
    belief = cb.Vague(coordinates=WHERE, drift=drift, **ALL | said)
    for t, arm, reward in SEEN:
        belief = belief.after(days * t).observe(arm, reward)
    return belief


@pytest.mark.parametrize("name", sorted(RULES.keys() - NEED_A_GAUSSIAN))
def test_it_plays_from_the_first_decision_on_and_among_those_allowed(name):
    policy, belief, rng = rule(name), cb.Vague(coordinates=WHERE, parts=6, drift=True), np.random.default_rng(2)
    for t in range(1, 13):
        belief = belief.after(t)
        assert policy.choose(belief, t, rng=rng, allowed=[1, 4]) in (1, 4)
        assert policy.choose(belief.assume([2, 5]), t, rng=rng) in range(7)
        arm = policy.choose(belief, t, rng=rng)
        belief = belief.observe(arm, TRUTH[arm] + rng.standard_normal())


@pytest.mark.parametrize(("scale", "m"), [(12.0, 12), (1e-3, 1), (math.inf, 200), (1e9, 200)])
def test_gittins_looks_ahead_as_far_as_what_is_learnt_lasts(scale, m):
    """Told all: one normal law per arm, so that its index is that of the table, at so many decisions."""
    belief = told(scale)
    g = index_in_deviations(m, 0.64 / belief.variance)
    np.testing.assert_allclose(cb.Gittins(203).index(belief, 4), belief.mean + belief.deviation * g, rtol=1e-9)


def test_how_long_it_lasts_is_counted_in_decisions_whatever_the_unit_of_time():
    one, other = told((5.0, 60.0), parts=5), told((10.0, 120.0), days=2.0, parts=5)
    np.testing.assert_allclose(other.part_lasting, one.part_lasting, rtol=1e-9)
    np.testing.assert_allclose(cb.Gittins(90).index(other, 5), cb.Gittins(90).index(one, 5), rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-3, 2.4, 12.0, 1e9, math.inf])
@pytest.mark.parametrize("days", [0.5, 1.0, 3.0])
def test_it_looks_as_far_ahead_on_a_drifting_belief_as_on_one_told_all(scale, days):
    law = cb.Correlated(mean=20.0, kernel=4 * cb.Exponential(1.7), coordinates=WHERE, noise_variance=0.64)
    drifting, vague = cb.Drifting(prior=law, scale=scale), told(scale, days)
    for t, arm, reward in SEEN:
        drifting = drifting.after(1 + days * t).observe(arm, reward)
    np.testing.assert_allclose(drifting.part_lasting, vague.part_lasting, rtol=1e-9)
    np.testing.assert_allclose(cb.Gittins(90).index(drifting, 5), cb.Gittins(90).index(vague, 5), rtol=1e-9)


def test_rewards_told_at_once_count_as_many_decisions_as_they_are():
    law = cb.Independent(variance=1.0, noise_variance=1.0, arms=2)
    once = cb.Drifting(prior=law, scale=30.0).observe([0, 0, 1], [1.0, 2.0, 3.0]).after(4).observe([0, 0], [1.0, 2.0])
    each = cb.Drifting(prior=law, scale=30.0)
    for time, arm, reward in [(1, 0, 1.0), (1, 0, 2.0), (1, 1, 3.0), (4, 0, 1.0), (4, 0, 2.0)]:
        each = each.after(time).observe(arm, reward)
    assert once.part_lasting == each.part_lasting == pytest.approx(30 * 4 / 3)


def test_where_nothing_changes_it_is_the_rule_it_was():
    never, still = told(math.inf, mean=None, parts=5), cb.Vague(coordinates=WHERE, **ALL | {"mean": None, "parts": 5})
    still = still.observe([arm for _, arm, _ in SEEN], [reward for _, _, reward in SEEN])
    np.testing.assert_allclose(cb.Gittins(50).index(never, 5), cb.Gittins(50).index(still, 5), rtol=1e-11)


def test_the_recommended_rule_says_that_it_minds_the_change():
    prior = cb.Vague(coordinates=WHERE, drift=True)
    assert cb.recommend(prior, 40).policy == cb.Gittins(40)
    assert "for as long as what was learnt lasts" in cb.recommend(prior, 40).reason
    assert "for as long as what was learnt lasts" in cb.recommend(prior).reason
    law = cb.Independent(variance=1.0, noise_variance=1.0, arms=2)
    for other in (cb.Vague(coordinates=WHERE), cb.Drifting(prior=law, scale=9.0)):  # there it looks to the end
        assert "lasts" not in cb.recommend(other, 40).reason
