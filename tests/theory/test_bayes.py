"""The Bayesian bound: each inequality of its proof by draws and brute force, information as log det, and simulation."""

import itertools

import numpy as np
import pytest
from benchmarks.optimal import played

import corrbandits as cb
from corrbandits import theory
from corrbandits._core.excess import expected_excess
from corrbandits.policies.gittins import index_in_deviations
from corrbandits.policies.gittins.table import table
from corrbandits.theory import bayes
from corrbandits.theory.bayes import Block

LINE = cb.Correlated(mean=0.0, kernel=cb.Exponential(2.0), coordinates=range(8), noise_variance=1.0)
UNLIKE = cb.Correlated(
    mean=[0.0, 0.5, -0.5], covariance=np.diag([4.0, 1.0, 0.25]) + 0.2, noise_variance=[1.0, 0.3, 2.0]
)
APART = cb.Independent(mean=0.0, variance=2.0, noise_variance=1.0, arms=5)
PRIORS = {"line": LINE, "unlike": UNLIKE, "apart": APART}


def by_draws(belief, policy, t, rng):
    """Return E max_i (f_i - Q_i), from draws, and its standard error."""
    largest = (belief.draws(rng, 4_000) - policy.index(belief, t)[:, None]).max(axis=0)
    return largest.mean(), largest.std() / len(largest) ** 0.5


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_information_is_log_det_and_adds_up_along_any_order(prior):
    counts = np.arange(prior.arms) % 3
    rows = np.repeat(np.arange(prior.arms), counts)
    S, D = prior.covariance_of()[np.ix_(rows, rows)], np.diag(prior.noise_variance[rows])
    direct = (np.linalg.slogdet(S + D)[1] - np.linalg.slogdet(D)[1]) / 2  # of the rewards themselves
    assert theory.information_gain(prior, counts) == pytest.approx(direct, rel=1e-12)
    belief, added = prior, 0.0
    for arm in np.random.default_rng(0).permutation(rows):
        added += np.log1p(belief.variance[arm] / belief.noise_variance[arm]) / 2
        belief = belief.observe(int(arm), 0.0)
    assert added == pytest.approx(direct, rel=1e-10)


def test_no_decisions_tell_more_than_the_bound():
    for T in (1, 3, 5):
        tried = itertools.combinations_with_replacement(range(3), T)
        best = max(theory.information_gain(UNLIKE, np.bincount(arms, minlength=3)) for arms in tried)
        assert best <= theory.most_information(UNLIKE, T) + 1e-12 <= 1.1 * best


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_the_bound_on_information_is_near_what_the_greedy_design_attains(prior):
    belief, counts = prior, np.zeros(prior.arms)
    for _ in range(150):
        arm = int((belief.variance / belief.noise_variance).argmax())
        belief, counts[arm] = belief.observe(arm, 0.0), counts[arm] + 1
    attained = theory.information_gain(prior, counts)
    assert attained <= theory.most_information(prior, 150) <= 1.01 * attained


@pytest.mark.parametrize("kind", [cb.Gittins, cb.HorizonUCL])
@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_the_truth_lies_above_its_limits_by_no_more_than_the_bound_at_any_time(kind, prior):
    T, rng, D = 30, np.random.default_rng(1), prior.noise_variance
    policy, deviations = kind(T), np.sqrt(prior.variance)
    belief, truth = prior, prior.sample(rng)
    for t in range(1, T + 1):
        if t in (1, 10, 24, 29, 30):
            scheduled = float(policy.schedule(np.array([t]), prior.arms)[0])
            bound = bayes._optimism(policy, Block(scheduled, scheduled, 1), deviations, D)
            mean, error = by_draws(belief, policy, t, rng)
            assert mean <= bound + 4 * error
        arm = policy.choose(belief, t)
        belief = belief.observe(arm, truth[arm] + np.sqrt(D[arm]) * rng.standard_normal())


def test_the_first_part_of_the_bound_is_tight_for_one_decision_among_independent_arms():
    many = cb.Independent(mean=0.0, variance=1.0, noise_variance=1.0, arms=50)
    bound = theory.bayes_bound(many, cb.HorizonUCL(1), 1)
    assert bound.exploration == 0
    assert bound.learning_nothing == pytest.approx(2.249, rel=0.02)  # the mean of the largest of 50
    assert 2.249 < bound.optimism < 1.2 * 2.249


def test_the_worst_deviation_of_one_arm_is_found():
    for m in (2, 17, 300):
        s = np.geomspace(1e-4, 1.5, 20_000)
        worst = (s * expected_excess(index_in_deviations(m, s**-2))).max()
        alone = bayes._optimism(cb.Gittins(1_000), Block(m, m, 1), np.array([1.5]), np.ones(1))
        assert worst <= alone <= 1.02 * worst


@pytest.mark.parametrize("kind", [cb.Gittins, cb.HorizonUCL])
@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
def test_what_limits_cost_is_bounded_whatever_is_chosen(kind, prior):
    T, rng = 60, np.random.default_rng(2)
    policy = kind(T)
    bound = theory.bayes_bound(prior, policy, T).exploration
    for choose in (lambda b: int((b.variance / b.noise_variance).argmax()), lambda b: int(rng.integers(b.arms))):
        belief, cost = prior, 0.0
        for t in range(1, T + 1):
            arm = choose(belief)
            cost += policy.index(belief, t)[arm] - belief.mean[arm]
            belief = belief.observe(arm, 0.0)
        assert cost <= bound


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)
@pytest.mark.parametrize("policy", [cb.Gittins(60), cb.HorizonUCL(60), cb.UCL(a=1.0), cb.Gittins()], ids=str)
def test_simulated_regret_is_below_the_bound(prior, policy):
    T, runs = 60, 40
    truth = prior.draws(np.random.default_rng(4), runs).T
    arms, _ = played(policy, prior, truth, T)
    regret = T * truth.max(axis=1) - np.take_along_axis(truth, arms, axis=1).sum(axis=1)
    assert regret.mean() + 2 * regret.std() / runs**0.5 < theory.bayes_bound(prior, policy, T).total


def test_groups_of_times_lose_little_and_never_bound_from_below(monkeypatch):
    policies = (cb.Gittins(100), cb.HorizonUCL(100))
    monkeypatch.setattr(bayes, "SINGLE", 40)
    grouped = [theory.bayes_bound(LINE, policy, 100).total for policy in policies]
    monkeypatch.setattr(bayes, "SINGLE", 100)
    single = [theory.bayes_bound(LINE, policy, 100).total for policy in policies]
    for one, other in zip(single, grouped, strict=True):
        assert one <= other <= 1.03 * one


def test_a_group_knows_rows_of_the_table_that_are_not_in_order():
    ends = np.exp(-np.arange(-800, 1_121) / bayes.CELLS_PER_E)
    for low, high in ((38, 44), (900, 930)):
        least, largest = bayes._widths(cb.Gittins(1_000), Block(low, high, 1), ends)
        for m in range(low, high + 1):
            inside = index_in_deviations(m, np.exp(0.3 * np.log(ends[1:]) + 0.7 * np.log(ends[:-1])) ** -2.0)
            assert (inside >= least - 1e-12).all()
            assert (inside <= largest + 1e-12).all()
    assert table().log_n[0] * 80 == -800


def test_units_change_the_bound_as_they_should():
    larger = cb.Correlated(mean=7.0, covariance=9 * LINE.covariance_of(), noise_variance=9.0)
    plain, scaled = (theory.bayes_bound(prior, cb.Gittins(100), 100) for prior in (LINE, larger))
    assert [scaled.optimism, scaled.exploration] == pytest.approx([3 * plain.optimism, 3 * plain.exploration], rel=1e-3)
    assert scaled.information == pytest.approx(plain.information)


def test_it_grows_slower_than_the_horizon_and_says_when_it_says_nothing():
    bounds = [theory.bayes_bound(LINE, cb.Gittins(T), T) for T in (10, 1_000, 10_000)]
    assert [bound.vacuous for bound in bounds] == [True, False, False]
    assert bounds[0].statement.startswith("vacuous at T = 10: ")
    assert bounds[2].total / bounds[1].total < 5


def test_other_beliefs_and_rules_are_refused():
    with pytest.raises(TypeError, match=r"knows mean, covariance and noise.*got a Vague"):
        theory.bayes_bound(cb.Vague(coordinates=range(5)), cb.Gittins(10), 10)
    with pytest.raises(TypeError, match="got CorrelatedUCL"):
        theory.bayes_bound(LINE, cb.CorrelatedUCL(), 10)
    with pytest.raises(TypeError, match="got Thompson"):
        theory.bayes_bound(LINE, cb.Thompson(), 10)
    with pytest.raises(ValueError, match="proper"):
        theory.bayes_bound(cb.Independent(noise_variance=1.0, arms=3), cb.Gittins(10), 10)
    with pytest.raises(ValueError, match="widths of at least 0"):
        theory.bayes_bound(LINE, cb.BayesUCB(horizon=10, c=0.0), 10)
    with pytest.raises(ValueError, match="counts must be 0 or more, got -1"):
        theory.information_gain(LINE, -1)


def test_a_horizon_beyond_memory_is_refused():
    with pytest.raises(ValueError, match="horizon must be at most 10,000,000, got 1000000000000"):
        theory.bayes_bound(LINE, cb.Gittins(10**12), 10**12)


@pytest.mark.parametrize(("apart", "exact"), [(0.0, 0.398942), (1.0, 0.083315), (1e9, 0.0)])
def test_what_is_lost_if_nothing_is_learnt_is_known_for_two_arms(apart, exact):
    """The difference is N(-apart, 1): E(Z - apart)^+, from tables of the normal loss function."""
    prior = cb.Independent(mean=[0.0, apart], variance=0.5, noise_variance=1.0)
    lost = theory.bayes_bound(prior, cb.Gittins(1), 1).learning_nothing
    assert lost == pytest.approx(exact, rel=0.1, abs=1e-12)


def test_one_arm_leaves_nothing_to_lose():
    bound = theory.bayes_bound(cb.Independent(mean=0.0, variance=1.0, noise_variance=1.0, arms=1), cb.Gittins(9), 9)
    assert bound.vacuous
    assert bound.statement.startswith("vacuous at T = 9: the arm of largest prior mean loses nothing")
