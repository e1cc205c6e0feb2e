"""What every policy offers besides its choice: what it must try first, and what it depends on besides the belief."""

import numpy as np
import pytest

from corrbandits import GaussianBandit, Policy, simulate, theory
from corrbandits.belief import Beta, Correlated, Independent
from corrbandits.policies import (
    GPUCB,
    RULES,
    UCB1,
    UCL,
    BayesUCB,
    CorrelatedUCL,
    EpsilonGreedy,
    Greedy,
    IndexPolicy,
    KnowledgeGradient,
    Thompson,
    Uniform,
)
from tests.support.rules import rule_called

LARGEST = np.finfo(np.float64).max
TINY = np.nextafter(0.0, 1.0)


# the threshold of initialisation


@pytest.mark.parametrize("nu", [1.0, 0.5, 1e-8, 1e-10, 1e-300, 1e-308, TINY])
@pytest.mark.parametrize("noise", [1e-300, 1.0, 1e300, LARGEST])
def test_policy_engine_and_theory_agree_on_who_is_initial_even_beyond_the_doubles(nu, noise):
    policy, bandit = CorrelatedUCL(K=1.0001, a=0.05, nu=nu), GaussianBandit(np.zeros(4), 1.0)
    belief = Independent(variance=[np.inf, LARGEST, 1e300, 1e-300], noise_variance=noise)
    threshold = policy.threshold(belief)
    with np.errstate(over="ignore"):
        exact = np.float64(noise) / nu
    assert (threshold == min(exact, LARGEST)).all()
    assert policy.pending(belief).tolist() == [True, *(belief.variance[1:] > exact)]  # an unknown arm always is
    expected = np.flatnonzero(policy.pending(belief)).tolist()  # the variances fall
    assert theory.initialisation(belief, nu) == expected
    for engine in ("compiled", "reference"):
        trace = simulate({"a": (policy, belief)}, bandit, 5, engine=engine)
        assert trace.initialisation.item() == len(expected)
        assert trace.arms.values[0, 0, : len(expected)].tolist() == expected


def test_the_threshold_of_correlated_arms_beyond_the_doubles_leaves_none_initial():
    belief = Correlated(covariance=1e300 * np.eye(3), noise_variance=1e300)
    policy = CorrelatedUCL(nu=1e-9)
    assert (policy.threshold(belief) == LARGEST).all()
    assert not policy.pending(belief).any()
    assert theory.initialisation(belief, 1e-9) == []


@pytest.mark.parametrize("name", RULES)
def test_pending_arms_are_those_above_the_threshold(name):
    policy = rule_called(name, arms=4)
    belief = Independent(variance=[np.inf, LARGEST, 4.0, 0.0], noise_variance=1.0)
    expected = {"CorrelatedUCL": [True, True, True, False], "Uniform": [False] * 4, "Safe": [False] * 4}
    assert policy.pending(belief).tolist() == expected.get(name, [True, False, False, False])
    if name != "Safe":  # which tries none first that may be below its floor
        assert (policy.pending(belief) == (belief.variance > policy.threshold(belief))).all()


def test_a_threshold_per_arm_needs_a_gaussian_belief():
    with pytest.raises(TypeError, match="CorrelatedUCL needs a Gaussian belief, got a Beta"):
        CorrelatedUCL().threshold(Beta(arms=2))


# the schedule


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (UCL(a=2.0), lambda p, t: p.width(t, 7)),
        (CorrelatedUCL(), lambda p, t: p.width(t, 7)),
        (BayesUCB(horizon=50), lambda p, t: p.width(t, 7)),
        (GPUCB(), lambda p, t: p.width(t, 7)),
        (Greedy(), lambda p, t: 0.0),
        (UCB1(scale=2.0), lambda p, t: p.width(t)),
        (KnowledgeGradient(horizon=50), lambda p, t: 50 - t),
        (Thompson(), lambda p, t: 0.0),
        (EpsilonGreedy(), lambda p, t: 0.0),
        (Uniform(), lambda p, t: 0.0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_schedule_is_what_the_rule_depends_on_at_each_time(policy, expected):
    times = np.array([1, 2, 17, 50])
    schedule = policy.schedule(times, 7)
    assert schedule.dtype == np.float64
    assert schedule.tolist() == [float(expected(policy, t)) for t in times.tolist()]


def test_a_schedule_past_its_horizon_names_the_first_time_past_it():
    with pytest.raises(ValueError, match="a horizon of 5, but t = 6 is past it"):
        KnowledgeGradient(horizon=5).schedule(np.arange(1, 100), 3)
    assert KnowledgeGradient(horizon=5).left(5) == 0


# rules of a user's own


class Second(Policy):
    """Only chooses."""

    def _choose(self, belief, t, rng, arms):
        return 1


class Worst(IndexPolicy):
    """Only has an index."""

    def index(self, belief, t):
        return -belief.mean


class Wary(Second):
    """Says itself what is pending."""

    def pending(self, belief):
        return belief.counts < 2


@pytest.mark.parametrize(
    ("policy", "arms", "initial"),
    [(Second(), [0, 1, 2, 1, 1, 1, 1], 3), (Worst(), [0, 1, 2, 0, 0, 0, 0], 3), (Wary(), [0, 1, 2, 0, 1, 2, 1], 6)],
    ids=["choose", "index", "pending"],
)
def test_a_rule_of_ones_own_needs_neither_threshold_nor_schedule(policy, arms, initial):
    bandit = GaussianBandit([0.0, 10.0, 20.0], 1e-6)
    trace = simulate({"own": (policy, Independent(noise_variance=1.0, arms=3))}, bandit, 7)
    assert trace.arms.values[0, 0].tolist() == arms
    assert trace.initialisation.item() == initial


class Undefined(IndexPolicy):
    """Has an index that is no number, of some arms."""

    def __init__(self, *arms):
        self.arms = list(arms)

    def index(self, belief, t):
        index = np.arange(float(belief.arms))
        index[self.arms] = np.nan
        return index


def test_an_index_that_is_no_number_is_never_the_largest():
    prior = Independent(variance=1.0, noise_variance=1.0, arms=3)
    for arms in ((0, 1, 2), (1,)):
        with pytest.raises(ValueError, match=rf"an index must be a number for every arm, got nan for arm {arms[0]}"):
            Undefined(*arms).choose(prior, 1)
        with pytest.raises(ValueError, match="an index must be a number"):
            simulate({"own": (Undefined(*arms), prior)}, GaussianBandit([0.0, 1.0, 2.0], 1.0), 7)
    assert Undefined(1).choose(prior, 1, allowed=[0, 2]) == 2  # of arms that are not asked for nothing is asked
