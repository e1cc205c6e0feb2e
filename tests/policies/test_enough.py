"""Good enough, and not too bad: who is chosen among, and how often a floor is broken."""

import math

import numpy as np
import pytest
from scipy import stats

import corrbandits as cb

WHERE = cb.landscapes.grid(4, 4)
KERNEL = 4 * cb.Exponential(3.0)
PRIOR = cb.Correlated(mean=2.0, kernel=KERNEL, coordinates=WHERE, noise_variance=1.0)


# good enough


def test_any_arm_whose_index_is_enough_is_taken_as_often_as_any_other():
    prior = cb.Independent(mean=[0.0, 1.0, 2.0, 3.0, 9.0], variance=1.0, noise_variance=1.0)
    policy, rng = cb.Satisficing(cb.UCL(), M=2.4), np.random.default_rng(0)
    enough = np.flatnonzero(cb.UCL().index(prior, 1) >= 2.4)
    assert enough.tolist() == [2, 3, 4]
    taken = np.bincount([policy.choose(prior, 1, rng=rng) for _ in range(3000)], minlength=5)
    assert taken[:2].tolist() == [0, 0]
    assert stats.chisquare(taken[2:]).pvalue > 1e-3
    some = {policy.choose(prior, 1, rng=rng, allowed=[0, 1, 3, 4]) for _ in range(50)}
    assert some == {3, 4}


def test_where_none_is_enough_the_rule_decides_and_draws_nothing():
    prior = cb.Independent(mean=[0.0, 1.0, 2.0], variance=1.0, noise_variance=1.0)
    policy = cb.Satisficing(cb.UCL(), M=100.0)
    assert policy.choose(prior, 1) == cb.UCL().choose(prior, 1) == 2
    assert policy.choose(prior, 1, allowed=[0, 1]) == 1
    anything, rng = cb.Satisficing(cb.UCL(), M=-math.inf), np.random.default_rng(1)
    assert {anything.choose(prior, 1, rng=rng) for _ in range(40)} == {0, 1, 2}
    with pytest.raises(TypeError, match="Satisficing draws at random"):
        cb.Satisficing(cb.UCL(), M=0.0).choose(prior, 1)
    with pytest.raises(ValueError, match="M must be finite, got nan"):
        cb.Satisficing(cb.UCL(), M=math.nan)


def test_who_is_content_ends_on_arms_that_are_good_enough():
    """The shortfall stops growing where several arms are good enough, whereas the regret does not."""
    bandit, flat = cb.GaussianBandit([0.0, 2.0, 2.5, 3.0], 1.0), cb.Independent(noise_variance=1.0, arms=4)
    trace = cb.simulate({"content": (cb.Satisficing(cb.UCL(), M=1.0), flat)}, bandit, 1_000, 20, seed=3)
    short, regret = (values.mean("run").values[0] for values in (trace.shortfall(1.0), trace.regret))
    assert short[-1] - short[499] < 5
    assert regret[-1] - regret[499] > 100


# not below a floor


@pytest.mark.parametrize("delta", [1e-300, 1e-9, 0.05, 0.5, 0.999])
def test_certified_is_what_is_below_the_floor_with_probability_delta_at_most(delta):
    rng = np.random.default_rng(5)
    mean, deviation = rng.normal(0, 2, 200), rng.uniform(0.1, 2, 200)
    belief = cb.Independent(mean=mean, variance=deviation**2, noise_variance=1.0)
    below = stats.norm.logcdf(-1.0, loc=mean, scale=deviation)
    clear = np.abs(below - math.log(delta)) > 1e-9
    found = cb.Safe(cb.UCL(), floor=-1.0, delta=delta).certified(belief)
    np.testing.assert_array_equal(found[clear], (below <= math.log(delta))[clear])
    assert clear.sum() > 190


def test_certified_on_beliefs_that_are_not_gaussian():
    beta = cb.Beta(successes=[1.0, 9.0, 30.0, 60.0], failures=[1.0, 3.0, 5.0, 40.0])
    below = stats.beta.cdf(0.5, [1.0, 9.0, 30.0, 60.0], [1.0, 3.0, 5.0, 40.0])
    assert cb.Safe(cb.BayesUCB(50), floor=0.5, delta=0.05).certified(beta).tolist() == (below <= 0.05).tolist()
    vague = cb.Vague(coordinates=range(6), parts=6).observe([0, 2, 5, 3, 0], [4.0, 6.0, 1.0, 5.5, 4.5])
    draws = vague.draws(np.random.default_rng(1), 20_000)
    floor, share = 3.0, (draws < 3.0).mean(axis=1)
    clear = np.abs(share - 0.1) > 0.01
    found = cb.Safe(cb.Gittins(20), floor=floor, delta=0.1).certified(vague)
    assert clear.sum() >= 4
    np.testing.assert_array_equal(found[clear], (share < 0.1)[clear])


def test_an_arm_that_is_known_is_certified_by_its_mean_alone():
    belief = cb.Independent(mean=[1.0, 1.0 - 1e-9, 5.0], variance=[0.0, 0.0, np.inf], noise_variance=1.0)
    policy = cb.Safe(cb.UCL(), floor=1.0)
    assert policy.certified(belief).tolist() == [True, False, False]
    assert policy.pending(belief).tolist() == [False] * 3  # unknown, but not to be tried
    assert policy.choose(belief, 1) == 0


def test_where_none_is_certified_the_least_dangerous_is_taken():
    belief = cb.Independent(mean=[5.0, 1.0, 0.0], variance=[25.0, 0.01, 0.0], noise_variance=1.0)
    policy = cb.Safe(cb.UCL(), floor=3.0, delta=0.05)
    lower = stats.norm.ppf(0.05, [5.0, 1.0, 0.0], [5.0, 0.1, 1e-300])
    assert not policy.certified(belief).any()
    assert policy.choose(belief, 1) == lower.argmax() == 1
    assert policy.choose(belief, 1, allowed=[0, 2]) == 2
    unknown = cb.Independent(noise_variance=1.0, arms=3).observe(0, -9.0)
    assert policy.choose(unknown, 2) == 0  # of the others nothing is known, and they may be worse
    assert policy.choose(unknown, 2, allowed=[1, 2]) == 1


def broken(policy, problems=150, horizon=60, floor=1.0):
    """In which share of the trials with some certified arm the arm taken is below the floor, per problem."""
    certify, shares = cb.Safe(cb.UCL(), floor=floor, delta=0.1), []
    for k in range(problems):
        bandit = cb.landscapes.draw(KERNEL, WHERE, mean=2.0, noise_variance=1.0, seed=1000 + k)
        trace = cb.simulate({"a": (policy, PRIOR)}, bandit, horizon, seed=k)
        belief, below, tried = PRIOR, 0, 0
        for arm, reward in zip(trace.arms.values[0, 0].tolist(), trace.rewards.values[0, 0].tolist(), strict=True):
            if certify.certified(belief).any():
                tried, below = tried + 1, below + (bandit.means[arm] < floor)
            belief = belief.observe(arm, reward)
        shares.append((below, tried))
    return np.array(shares)


@pytest.mark.slow
def test_on_right_priors_the_floor_is_broken_in_a_share_delta_of_the_trials_at_most():
    safe, plain = (broken(policy) for policy in (cb.Safe(cb.UCL(), floor=1.0, delta=0.1), cb.UCL()))
    share = safe[:, 0].sum() / safe[:, 1].sum()
    residuals = safe[:, 0] - 0.1 * safe[:, 1]  # of a problem, its trials being alike
    assert residuals.mean() <= 3 * residuals.std(ddof=1) / math.sqrt(len(residuals))
    assert share < plain[:, 0].sum() / plain[:, 1].sum()  # the floor is one that the rule itself breaks more often
    assert safe[:, 1].sum() > 1000


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, math.nan])
def test_delta_is_a_probability_between(delta):
    with pytest.raises(ValueError, match="delta must be above 0"):
        cb.Safe(cb.UCL(), floor=0.0, delta=delta)
