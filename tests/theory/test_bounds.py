"""Theorems 1 and 2 against the formulas with 60 digits, the best parameters against grids, and what is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest
from mpmath import mp, mpf

from corrbandits import (
    UCL,
    BayesUCB,
    BernoulliBandit,
    Beta,
    Correlated,
    CorrelatedUCL,
    Exponential,
    GaussianBandit,
    Independent,
    simulate,
    theory,
)
from corrbandits.theory.tails import sum_of_tails
from tests.support.high_precision import (
    DIGITS,
    assert_logs_close,
    beta,
    conditional,
    corrected_extra,
    distance,
    eta,
    exact,
    initialise,
    printed_extra,
    theorem_1,
    vector,
)

K = math.sqrt(2 * math.pi * math.e)
BANDIT = GaussianBandit([1.0, 0.0, 0.5], noise_variance=1.0)
PRIOR = Independent(mean=[2.0, 0.5, 0.0], variance=2.0, noise_variance=1.0)
RELATED = Correlated(mean=[0.5, 0.2, 0.0], covariance=np.eye(3) / 2 + 0.5, noise_variance=1.0)


@pytest.fixture(autouse=True)
def sixty_digits():
    with mp.workdps(DIGITS):
        yield


def assert_bound(bound, arm, wanted_eta, wanted_extra, tolerance=1e-10):
    """Every column of one arm's bound."""
    total = wanted_eta + wanted_extra
    for column, number in (("eta", wanted_eta), ("extra", wanted_extra), ("total", total)):
        assert_logs_close(bound[f"log10_{column}"].values[arm], mp.log10(number), tolerance)
    horizon = bound.attrs["horizon"]
    if total < 1e300:
        assert float(bound["total"][arm]) == pytest.approx(float(total), rel=tolerance * max(1, float(mp.log(total))))
        assert float(bound["eta"][arm]) == pytest.approx(float(wanted_eta), rel=1e-10)
    assert bool(bound["vacuous"][arm]) == (total >= horizon)


# Theorem 1


def extreme_problem(seed):
    """Gaps from 1e-200 to 1e200, noise over 24 decades, prior variances over 12 of them or infinite."""
    rng = np.random.default_rng(seed)
    arms, size = int(rng.integers(2, 6)), 10.0 ** rng.choice([-200, -3, 0, 0, 0, 2, 200])
    noise = 10.0 ** rng.choice([-12, 0, 0, 0, 12]) * rng.uniform(0.5, 2, arms)
    means = rng.normal(size=arms) * size
    ratio = 10.0 ** rng.uniform(-1, 11, arms) if rng.random() < 0.5 else rng.uniform(0.3, 3, arms)
    variance = np.where(rng.random(arms) < 0.15, np.inf, noise * ratio)
    wrong = rng.normal(size=arms) * rng.choice([0.0, 0.1, 1.0, 30.0])
    prior = Independent(mean=means + wrong * min(size, 1e3), variance=variance, noise_variance=noise)
    return GaussianBandit(means, noise), prior, rng


@pytest.mark.parametrize("seed", range(60))
def test_theorem_1_with_sixty_digits(seed):
    bandit, prior, rng = extreme_problem(seed)
    delta = float((prior.noise_variance / prior.variance).max())
    a = 4 / 3 * (1 + delta) * (1 + 10 ** rng.uniform(-2, 1)) if seed % 5 else 1e3
    policy = UCL(K=float(rng.choice([K, 7.0, 1e6])), a=a)
    horizon = int(10 ** rng.uniform(0, 9)) if seed % 7 else 1
    epsilon = float(rng.uniform(0.02, 0.98)) * (1 - 4 * delta / (3 * a - 4))
    bound = theory.uncorrelated_bound(bandit, prior, policy, horizon, epsilon)
    arguments = [vector(x) for x in (bandit.means, prior.mean, prior.noise_variance, prior.variance)]
    numbers = [mpf(x) for x in (policy.K, a, horizon, epsilon)]
    for i in np.flatnonzero(bandit.gaps > 0):
        wanted_eta, wanted_extra, case = theorem_1(*arguments, *numbers, i)
        assert bound["case"].values[i] == case
        assert_bound(bound, i, wanted_eta, wanted_extra)


def test_every_case_of_theorem_1():
    for means, case in (([0.0, 1.0], 1), ([0.0, -1.0], 2), ([2.0, 1.0], 3), ([2.0, -1.0], 4), ([1.0, 0.0], 4)):
        prior = Independent(mean=means, variance=2.0, noise_variance=1.0)
        bound = theory.uncorrelated_bound(GaussianBandit([1.0, 0.0], 1.0), prior, UCL(a=4.0), 100, epsilon=0.2)
        assert bound["case"].values[1] == case
        arguments = [vector(x) for x in ([1.0, 0.0], means, [1.0, 1.0], [2.0, 2.0])]
        wanted_eta, wanted_extra, wanted = theorem_1(*arguments, mpf(K), mpf(4), mpf(100), mpf(0.2), 1)
        assert wanted == case
        assert_bound(bound, 1, wanted_eta, wanted_extra)


def test_the_default_epsilon_is_the_best():
    rng = np.random.default_rng(0)
    for _ in range(10):
        bandit = GaussianBandit(rng.normal(size=4), rng.uniform(0.5, 2, 4))
        prior = Independent(
            mean=rng.normal(size=4), variance=rng.uniform(1, 4, 4), noise_variance=bandit.noise_variance
        )
        largest = 1 - 4 * (prior.noise_variance / prior.variance).max() / (3 * 8.0 - 4)
        found = regret(theory.uncorrelated_bound(bandit, prior, UCL(a=8.0), 1_000))
        for epsilon in np.linspace(0, largest, 202)[1:-1]:
            bound = theory.uncorrelated_bound(bandit, prior, UCL(a=8.0), 1_000, float(epsilon))
            assert found <= regret(bound) * (1 + 1e-12)


def regret(bound):
    """sum_i Delta_i total_i."""
    return float((bound["gap"] * bound["total"]).sum())


def test_the_admissible_range_of_theorem_1_is_said():
    with pytest.raises(
        ValueError, match=r"a above \(4/3\)\(1 \+ delta\^2\) = 2, but a is 2|= 2 for this prior, but a is 2\."
    ):
        theory.uncorrelated_bound(BANDIT, PRIOR, UCL(a=2.0), 100)
    # a = 4, delta^2 = 1/2: epsilon < 1 - 2 / 8
    for epsilon in (-0.1, 0.0, 0.75, 0.9, 1.0):
        with pytest.raises(ValueError, match=r"epsilon must lie strictly between 0 and 0\.75"):
            theory.uncorrelated_bound(BANDIT, PRIOR, UCL(a=4.0), 100, epsilon)
    assert theory.uncorrelated_bound(BANDIT, PRIOR, UCL(a=4.0), 100, 0.7499).attrs["epsilon"] == 0.7499


# Theorem 2


def related_problem(seed):
    rng = np.random.default_rng(seed)
    arms = int(rng.integers(1, 6))
    noise = rng.uniform(0.3, 3, arms) * 10.0 ** rng.choice([-12, 0, 12])
    root = rng.normal(size=(arms, arms + 2)) * np.sqrt(noise)[:, None] * 10.0 ** rng.choice([-1, 0, 3])
    means = rng.normal(size=arms) * np.sqrt(noise.mean()) * 10.0 ** rng.uniform(-3, 3)
    wrong = rng.normal(size=arms) * np.sqrt(noise.mean()) * 10.0 ** rng.choice([-2.0, 0.0, 1.0, 5.0])
    prior = Correlated(mean=means + wrong, covariance=root @ root.T, noise_variance=noise)
    return GaussianBandit(means, noise), prior, rng


def tolerance(prior):
    """1e-10, or cond(S0) 1e-14 where that is larger, S0 scaled to variances of 1."""
    rho = prior.covariance / np.sqrt(np.outer(prior.variance, prior.variance))
    return max(1e-10, np.linalg.cond(rho) * 1e-14)


@pytest.mark.parametrize("seed", range(40))
def test_theorem_2_with_sixty_digits(seed):
    bandit, prior, rng = related_problem(seed)
    a, nu = float(4 / 3 * (1 + 10 ** rng.uniform(-2, 2.5))), float(rng.uniform(0.1, 1))
    horizon, c1 = int(10 ** rng.uniform(0, 9)), float(rng.uniform(4 / (3 * a) + 1e-3, 0.999))
    k = float(rng.choice([K, 1e6]))
    S, noise = exact(prior.covariance), vector(prior.noise_variance)
    d = [u - m for u, m in zip(vector(prior.mean), vector(bandit.means), strict=True)]
    delta = [s / v for s, v in zip(noise, conditional(S), strict=True)]
    once = [int(j in initialise(S, noise, mpf(nu))) for j in range(prior.arms)]
    never, star, betas = [0] * prior.arms, int(bandit.means.argmax()), beta(S, d, noise, mpf(nu))
    plain, printed, ucl = CorrelatedUCL(k, a, nu, factor=False), CorrelatedUCL(k, a, nu), UCL(k, a)
    bounds = {
        (name, version): theory.correlated_bound(bandit, prior, policy, horizon, version, c1)
        for name, policy in (("plain", plain), ("factor", printed), ("UCL", ucl))
        for version in ("printed", "corrected", "summed")
        if (name, version) != ("UCL", "printed")
    }
    limit = tolerance(prior)
    for i in np.flatnonzero(bandit.gaps > 0):
        gap = mpf(float(bandit.means.max())) - mpf(float(bandit.means[i]))
        arguments = (gap, noise[i], mpf(k), mpf(a), mpf(horizon))
        first = eta(*arguments, mpf(nu))
        wanted = printed_extra(betas[star], delta[star], betas[i], mpf(nu), mpf(a), mpf(c1))
        assert_bound(bounds["plain", "printed"], i, first, wanted, limit)
        assert_bound(bounds["factor", "printed"], i, first, wanted, limit)
        needed = 4 * noise[i] / gap**2 * (2 * mp.log(mpf(k)) + 2 * mpf(a) * mp.log(mpf(horizon)))
        x = factor_root(needed, delta[i] - noise[i] / S[i, i], prior.arms)
        etas = {
            "plain": first,
            "factor": max(mpf(1), mp.ceil(x - mpf(nu))),
            "UCL": eta(*arguments, noise[i] / S[i, i]),
        }
        for name, counts in (("plain", once), ("factor", once), ("UCL", never)):
            b = distance(S, d, noise, counts)
            assert_bound(bounds[name, "corrected"], i, etas[name], corrected_extra(b, mpf(a), mpf(c1)), limit)
            summed = mpf(sum_of_tails(k, a, float(b), horizon))  # itself against sixty digits in test_theory
            assert_bound(bounds[name, "summed"], i, etas[name], summed, limit)
            assert bounds[name, "summed"].total[i] <= bounds[name, "corrected"].total[i] * (1 + 1e-9)
            assert bounds[name, "corrected"].attrs["b"] == pytest.approx(float(b), rel=limit)


def factor_root(B, D, N):
    """X_i; it solves the quadratic, and obeys both of the errata's bounds."""
    D, rounding = max(D, mpf(0)), 1 + mpf(10) ** (10 - DIGITS)
    X = (B - D + mp.sqrt((B - D) ** 2 + 4 * N * B * D)) / 2
    assert abs(X**2 + (D - B) * X - N * B * D) <= mpf(10) ** (15 - DIGITS) * max(X, B, D) ** 2 * N
    assert B / rounding <= X <= rounding * min(N * B, B + (N - 1) * D)
    return X


@pytest.mark.parametrize(
    ("b", "a", "horizon"), [(1e6, 10.0, 10**9), (1e4, 1e3, 5), (1e200, 2.0, 10), (3.0, 1e3, 10**9)]
)
def test_theorem_2_far_from_the_truth(b, a, horizon):
    # one prior variance of 1 and d = b: so b is b; the logarithms to base 10 run to 1e11
    bandit, prior = GaussianBandit([0.0, -1.0], 1.0), Independent(mean=[b, -1.0], variance=1.0, noise_variance=1.0)
    c1 = 0.5 + 2 / (3 * a)
    bound = theory.correlated_bound(bandit, prior, UCL(a=a), horizon, c1=c1)
    assert bound.attrs["b"] == pytest.approx(b, rel=1e-15)
    extra = corrected_extra(mpf(b), mpf(a), mpf(c1)) if b < 1e100 else mpf(10) ** 400
    log = mp.log10(extra) if b < 1e100 else extra
    assert_logs_close(bound["log10_extra"].values[1], log)
    assert bound["vacuous"].values[1] == (extra >= horizon)
    summed = theory.correlated_bound(bandit, prior, UCL(a=a), horizon, "summed")
    assert float(summed.total[1]) == pytest.approx(float(summed.eta[1]) + sum_of_tails(K, a, b, horizon), rel=1e-12)


def counterexample():
    """The errata's: arm 0 alone and best, arm 1 among 20 bad ones of correlation 0.999."""
    covariance = np.full((22, 22), 0.999)
    covariance[0] = covariance[:, 0] = 0.0
    np.fill_diagonal(covariance, 1.0)
    means = np.array([1.0, 0.0] + [-50.0] * 20)
    return GaussianBandit(means, 1.0), Correlated(mean=means, covariance=covariance, noise_variance=1.0)


def test_the_bounds_of_the_counterexample():
    bandit, prior = counterexample()
    printed = theory.correlated_bound(bandit, prior, CorrelatedUCL(a=1.5), 20_000, "printed", c1=0.99)
    # ceil(4 (2 log K + 3 log 20000) - 1) = 130, and 1 + 1 + 3ac1 / (3ac1 - 4) as b = beta = 0
    assert float(printed.eta[1]) == 130
    assert float(printed.total[1]) == pytest.approx(132 + 4.455 / 0.455, rel=1e-12)
    assert round(float(printed.total[1]), 1) == 141.8
    corrected = theory.correlated_bound(bandit, prior, CorrelatedUCL(a=1.5), 20_000, c1=0.99)
    assert 1_000 < float(corrected.total[1]) < 22 * 131 + 11
    assert float(corrected.total[1]) > 331  # what the simulation gives
    plain = theory.correlated_bound(bandit, prior, CorrelatedUCL(a=1.5, factor=False), 20_000, c1=0.99)
    assert plain.eta[1] == printed.eta[1]


def test_the_default_c1_is_the_best():
    for seed in range(12):
        bandit, prior, rng = related_problem(seed)
        a = float(rng.uniform(1.4, 9))
        for version in ("corrected", "printed"):
            found = theory.correlated_bound(bandit, prior, CorrelatedUCL(a=a), 10_000, version)
            logs = [
                theory.correlated_bound(bandit, prior, CorrelatedUCL(a=a), 10_000, version, float(c1))["log10_total"]
                for c1 in np.linspace(4 / (3 * a), 1, 102)[1:-1]
            ]
            gaps = np.log10(np.where(bandit.gaps > 0, bandit.gaps, np.nan))
            scores = [np.nanmax(gaps + log.values, initial=-np.inf) for log in [found["log10_total"], *logs]]
            sums = [
                score + math.log10(np.nansum(10 ** (gaps + log.values - score))) if score > -np.inf else 0.0
                for score, log in zip(scores, [found["log10_total"], *logs], strict=True)
            ]
            assert sums[0] <= min(sums[1:]) + 1e-11 * max(1, abs(sums[0]))


def test_the_range_of_c1_is_said():
    for c1 in (0.0, 2 / 3, 0.5, 1.0, 1.5):
        with pytest.raises(ValueError, match=r"c1 must lie strictly between 0\.666667 and 1"):
            theory.correlated_bound(BANDIT, RELATED, CorrelatedUCL(a=2.0), 100, c1=c1)
    with pytest.raises(ValueError, match=r"a above 4 / \(3 c1\), that is above 4/3, but a is 1\.3"):
        theory.correlated_bound(BANDIT, RELATED, CorrelatedUCL(a=1.3), 100)
    assert np.isfinite(theory.correlated_bound(BANDIT, RELATED, CorrelatedUCL(a=1.3), 100, "summed").total[1])


# both


@pytest.mark.parametrize("horizon", [1, 2, 10**9])
def test_optimal_arms_hold_nothing(horizon):
    bandit = GaussianBandit([1.0, 0.0, 1.0, 1.0], 1.0)
    prior = Independent(mean=0.5, variance=2.0, noise_variance=1.0, arms=4)
    policy, versions = CorrelatedUCL(a=4.0), ("printed", "corrected", "summed")
    for bound in (
        theory.uncorrelated_bound(bandit, prior, UCL(a=4.0), horizon),
        *(theory.correlated_bound(bandit, prior, policy, horizon, version) for version in versions),
    ):
        for column in ("eta", "log10_eta", "log10_extra", "total", "log10_total", "case", "vacuous"):
            assert np.isnan(bound[column].values).tolist() == [True, False, True, True]
        assert "of 1 suboptimal arm at" in bound.statement or "the 1 suboptimal arm at" in bound.statement


def test_when_every_arm_is_optimal_there_is_nothing_to_bound():
    for arms in (1, 3):
        bandit = GaussianBandit([2.0] * arms, 1.0)
        prior = Independent(mean=0.0, variance=2.0, noise_variance=1.0, arms=arms)
        related = Correlated(mean=0.0, covariance=np.eye(arms) + 1, noise_variance=1.0)
        policy, versions = CorrelatedUCL(a=4.0), ("printed", "corrected", "summed")
        for bound in (
            theory.uncorrelated_bound(bandit, prior, UCL(a=4.0), 10),
            *(theory.correlated_bound(bandit, related, policy, 10, version) for version in versions),
        ):
            assert np.isnan(bound.total.values).all()
            assert bound.statement == "every arm is optimal: there is nothing to bound"


@pytest.mark.parametrize("factor", [True, False])
@pytest.mark.parametrize(("gaps", "a", "horizon"), [([0.0, 1.0, 0.3], 1.5, 1_000), ([0.0, 0.01, 2.0], 3.3, 10**6)])
def test_eta_of_theorem_2_reduces_to_that_of_theorem_1_for_an_uninformative_prior(factor, gaps, a, horizon):
    """The remark on Theorem 2: with nu = 1, each arm is taken once first, and that one is not counted after."""
    bandit = GaussianBandit(-np.array(gaps), noise_variance=1.0)
    flat = Independent(variance=np.inf, noise_variance=1.0, arms=3)
    first = theory.uncorrelated_bound(bandit, flat, UCL(a=a), horizon)
    policy = CorrelatedUCL(a=a, nu=1.0, factor=factor)
    assert sorted(theory.initialisation(flat, 1.0)) == [0, 1, 2]
    second = theory.correlated_bound(bandit, flat, policy, horizon)
    assert (1 + second.eta.values[1:]).tolist() == first.eta.values[1:].tolist()
    wide = Correlated(covariance=1e12 * np.eye(3), noise_variance=1.0)  # the limit, from priors that are proper
    assert (
        theory.correlated_bound(bandit, wide, policy, horizon).eta.values[1:].tolist() == second.eta.values[1:].tolist()
    )


def test_a_singular_prior_that_errs_within_its_range_has_a_bound():
    # all arms share one mean reward beside what is known of them: the prior has that wrong by 2 deviations
    shifted = Correlated(mean=BANDIT.means + 2.0, covariance=np.ones((3, 3)), noise_variance=1.0)
    plain = CorrelatedUCL(a=2.0, factor=False)
    bound = theory.correlated_bound(BANDIT, shifted, plain, 10**6, c1=0.9)
    assert bound.attrs["b"] == pytest.approx(2.0, rel=1e-12)
    assert np.isfinite(bound.total.values[1:]).all()
    assert "singular" not in bound.statement
    printed = theory.correlated_bound(BANDIT, shifted, CorrelatedUCL(a=2.0), 10**6, "printed", c1=0.9)
    assert np.isinf(printed.total.values[1:]).all()
    # the mean counts of simulation stay below
    trace = simulate({"plain": (plain, shifted)}, BANDIT, 2_000, 20, seed=0, progress=False)
    bound = theory.correlated_bound(BANDIT, shifted, plain, 2_000, "summed")
    assert (trace.counts.values[0].mean(axis=0)[1:] <= bound.total.values[1:]).all()


def test_a_singular_prior_makes_the_bound_vacuous_and_says_so():
    wrong = Correlated(mean=0.0, covariance=np.ones((3, 3)), noise_variance=1.0)
    for version, log in (("printed", np.inf), ("corrected", np.inf), ("summed", 2.0)):
        bound = theory.correlated_bound(BANDIT, wrong, CorrelatedUCL(a=2.0), 100, version)
        assert "singular to rounding: vacuous for 2 of 2 suboptimal arms at T = 100" in bound.statement
        assert bound["vacuous"].values[1:].tolist() == [1.0, 1.0]
        assert bound["log10_extra"].values[1:] == pytest.approx([log, log])
    right = Correlated(mean=BANDIT.means, covariance=np.ones((3, 3)), noise_variance=1.0)
    bound = theory.correlated_bound(BANDIT, right, CorrelatedUCL(a=2.0), 10**4, c1=0.9)
    # D' is infinite: X = N B
    needed = 3 * 4 * (2 * math.log(K) + 4 * math.log(10**4))
    assert float(bound.eta[1]) == math.ceil(needed - 1)
    assert bound.statement.startswith("informative for all 2")


def test_a_bound_beyond_a_double_is_infinite_and_its_logarithm_is_not():
    far = Independent(mean=[-1e3, 0.0, 0.0], variance=2.0, noise_variance=1.0)
    bound = theory.uncorrelated_bound(BANDIT, far, UCL(a=4.0), 100)
    assert bound.total.values[1] == np.inf
    assert 1e4 < bound["log10_total"].values[1] < 1e6
    assert (
        f"vacuous for 2 of 2 suboptimal arms at T = 100 (log10 = {bound['log10_total'].values[1]:.3g})"
        in bound.statement
    )


def test_the_order_of_arms_does_not_matter():
    rng = np.random.default_rng(5)
    means, order = rng.normal(size=5), rng.permutation(5)
    root = rng.normal(size=(5, 6))
    S = root @ root.T
    for version in ("printed", "corrected", "summed"):
        one = theory.correlated_bound(
            GaussianBandit(means, 1.0), Correlated(covariance=S, noise_variance=1.0), CorrelatedUCL(a=3.0), 100, version
        )
        other = theory.correlated_bound(
            GaussianBandit(means[order], 1.0),
            Correlated(covariance=S[np.ix_(order, order)], noise_variance=1.0),
            CorrelatedUCL(a=3.0),
            100,
            version,
        )
        assert other["log10_total"].values == pytest.approx(one["log10_total"].values[order], rel=1e-8, nan_ok=True)


# the best parameters


def problems():
    rng = np.random.default_rng(2)
    for arms, horizon in ((2, 1_000), (3, 20), (5, 100_000)):
        bandit = GaussianBandit(rng.normal(size=arms), 1.0)
        means = bandit.means + rng.normal(size=arms) * 0.7
        where = rng.uniform(0, 3, (arms, 2))
        related = Correlated(mean=means, kernel=2 * Exponential(1.0), coordinates=where, noise_variance=1.0)
        yield bandit, Independent(mean=means, variance=2.0, noise_variance=1.0), related, horizon


def test_no_grid_beats_the_best_of_theorem_1():
    for bandit, prior, _, horizon in problems():
        best = theory.best_uncorrelated(bandit, prior, horizon)
        same = theory.uncorrelated_bound(bandit, prior, UCL(a=best.a), horizon, best.weight)
        assert 10**best.log10_regret == pytest.approx(regret(same), rel=1e-12)
        for a in 2.0 + np.geomspace(1e-2, 1e2, 30):
            largest = 1 - 2 / (3 * a - 4)
            for epsilon in np.linspace(0, largest, 12)[1:-1]:
                bound = theory.uncorrelated_bound(bandit, prior, UCL(a=float(a)), horizon, float(epsilon))
                assert regret(same) <= regret(bound) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("policy", "version"),
    [
        (UCL(), "corrected"),
        (UCL(), "summed"),
        *((CorrelatedUCL(nu=0.5), version) for version in ("printed", "corrected", "summed")),
        *((CorrelatedUCL(factor=False), version) for version in ("printed", "corrected", "summed")),
    ],
)
def test_no_grid_beats_the_best_of_theorem_2(policy, version):
    for bandit, _, related, horizon in problems():
        best = theory.best_correlated(bandit, related, policy, horizon, version)
        c1 = None if version == "summed" else best.weight
        same = theory.correlated_bound(bandit, related, replace(policy, a=best.a), horizon, version, c1)
        assert best.log10_regret == pytest.approx(math.log10(regret(same)), rel=1e-12)
        for a in (0.0 if version == "summed" else 4 / 3) + np.geomspace(1e-2, 1e2, 20):
            grid = [None] if version == "summed" else np.linspace(4 / (3 * a), 1, 8)[1:-1].tolist()
            for weight in grid:
                bound = theory.correlated_bound(bandit, related, replace(policy, a=float(a)), horizon, version, weight)
                assert math.log10(regret(same)) <= math.log10(regret(bound)) + 1e-12


def test_the_best_parameters_of_a_prior_far_from_the_truth():
    bandit = GaussianBandit([0.0, -1.0], 1.0)
    prior = Independent(mean=[-1e4, 0.0], variance=1.0, noise_variance=1.0)
    best = theory.best_correlated(bandit, prior, UCL(), 1_000)
    for a in np.geomspace(1.4, 1e12, 60):
        bound = theory.correlated_bound(bandit, prior, UCL(a=float(a)), 1_000)
        assert best.log10_regret <= float(bound["log10_total"][1]) + 1e-12
    assert best.a > 1e6  # the extra term wants a of the order of b^2


# bad input


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: theory.uncorrelated_bound(BANDIT, RELATED, UCL(a=4.0), 10), TypeError, "got UCL on Correlated"),
        (lambda: theory.uncorrelated_bound(BANDIT, PRIOR, CorrelatedUCL(), 10), TypeError, "CorrelatedUCL on Indep"),
        (lambda: theory.uncorrelated_bound(BANDIT, Beta(arms=3), UCL(), 10), TypeError, "got UCL on Beta"),
        (lambda: theory.correlated_bound(BANDIT, Beta(arms=3), UCL(a=2.0), 10), TypeError, "Gaussian beliefs"),
        (lambda: theory.correlated_bound(BANDIT, RELATED, BayesUCB(10), 10), TypeError, "got BayesUCB"),
        (lambda: theory.correlated_bound(BANDIT, RELATED, UCL(a=2.0), 10, "printed"), TypeError, "as printed is for"),
        (lambda: theory.correlated_bound(BANDIT, RELATED, UCL(a=2.0), 10, "exact"), ValueError, "got 'exact'"),
        (lambda: theory.correlated_bound(BANDIT, RELATED, UCL(a=2.0), 0), ValueError, "horizon must be at least 1"),
        (lambda: theory.uncorrelated_bound(BANDIT, PRIOR, UCL(a=4.0), 1.5), TypeError, "must be a whole number"),
        (lambda: theory.uncorrelated_bound(BANDIT, PRIOR, UCL(a=4.0), 9, math.nan), ValueError, "epsilon must be"),
        (lambda: theory.correlated_bound(BANDIT, RELATED, UCL(a=4.0), 9, c1=math.nan), ValueError, "c1 must be"),
        (lambda: theory.correlated_bound(BANDIT, RELATED, UCL(K=4.0, a=4.0), 9), ValueError, r"K at least.*4\.13273"),
        (lambda: theory.correlated_bound(BANDIT, RELATED, UCL(K=1.0), 9, "summed"), ValueError, "K above 1"),
        (lambda: theory.correlated_bound("bandit", RELATED, UCL(a=2.0), 9), TypeError, "a GaussianBandit, got 'ban"),
        (
            lambda: theory.correlated_bound(BernoulliBandit([0.1, 0.2, 0.3]), RELATED, UCL(a=2.0), 9),
            TypeError,
            "a GaussianBandit, got <BernoulliBandit",
        ),
        (
            lambda: theory.correlated_bound(GaussianBandit([1.0, 2.0], 1.0), RELATED, UCL(a=2.0), 9),
            ValueError,
            "the belief has 3 arms, but the environment has 2",
        ),
        (
            lambda: theory.correlated_bound(GaussianBandit([1.0, 2.0, 3.0], [1.0, 1.0, 2.0]), RELATED, UCL(a=2.0), 9),
            ValueError,
            "for arm 2 the belief has 1 and the environment 2",
        ),
        (
            lambda: theory.uncorrelated_bound(
                BANDIT, Independent(variance=[1.0, 0.0, 1.0], noise_variance=1.0), UCL(a=4.0), 9
            ),
            ValueError,
            "arm 1 is known",
        ),
        (
            lambda: theory.correlated_bound(GaussianBandit([1e308, -1e308, 0.0], 1.0), RELATED, UCL(a=4.0), 9),
            OverflowError,
            "measure them in a larger unit",
        ),
    ],
)
def test_nonsense_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_every_theorem_that_speaks_of_a_policy_is_offered():
    bandit = GaussianBandit([0.5, 0.2], noise_variance=1.0)
    prior = Independent(mean=0.0, variance=1.0, noise_variance=1.0, arms=2)
    assert list(theory.bounds_for(bandit, UCL(a=3.0), prior)) == ["Theorem 1", "Theorem 2", "Theorem 2, summed"]
    assert list(theory.bounds_for(bandit, UCL(a=2.0), prior)) == ["Theorem 2", "Theorem 2, summed"]
    assert list(theory.bounds_for(bandit, UCL(a=1.0), prior)) == ["Theorem 2, summed"]
    assert theory.bounds_for(BernoulliBandit([0.5, 0.2]), UCL(a=3.0), prior) == {}


def test_a_prior_too_sure_for_doubles_is_refused():
    bandit = GaussianBandit([1.0, 0.0], noise_variance=1.0)
    prior = Independent(mean=[1.0, 0.0], variance=1e-309, noise_variance=1.0)
    with pytest.raises(ValueError, match="prior variances of at least 1e-300"):
        theory.correlated_bound(bandit, prior, CorrelatedUCL(a=3.0), 1_000)


def test_the_best_of_nothing_is_refused():
    equal = GaussianBandit([1.0, 1.0], noise_variance=1.0)
    with pytest.raises(ValueError, match="every arm is optimal"):
        theory.best_correlated(equal, Correlated(covariance=np.eye(2), noise_variance=1.0), UCL(), 100)
    wrong = Correlated(mean=[5.0, -5.0], covariance=np.ones((2, 2)), noise_variance=1.0)
    with pytest.raises(ValueError, match="no a makes the bound finite"):
        theory.best_correlated(GaussianBandit([1.0, 0.0], noise_variance=1.0), wrong, UCL(), 100)


def test_a_bound_on_the_regret_later_bounds_it_now():
    bandit = GaussianBandit([1.0, 0.0], noise_variance=1.0)
    prior = Independent(mean=[0.0, 1.0], variance=2.0, noise_variance=1.0)
    bound = theory.bounds_for(bandit, UCL(a=3.0), prior)["Theorem 1"]
    curve = theory.regret_curve(bandit, UCL(a=3.0), prior, bound, 10**6)
    assert np.all(np.diff(curve.values[~np.isnan(curve.values)]) >= 0)
    assert float(curve[-1]) == pytest.approx(float(bound(10**6).total[1]))
