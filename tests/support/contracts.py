"""What every belief must do, and the witnesses the tests share: arithmetic with 60 digits, and a few priors."""

import math
from collections import Counter
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrbandits.belief import Beta, Correlated, GaussianBelief, Implicit, Independent
from corrbandits.kernels import Exponential, Matern52, RationalQuadratic, SquaredExponential

QUICK = settings(deadline=None, max_examples=25, derandomize=True)
GRID = np.array([[x, y] for x in range(10) for y in range(10)], dtype=float)
FIVE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 3.0], [1.0, 1.5]])

GAUSSIAN_PRIORS = {
    "independent": Independent(mean=[1.0, 2.0, 3.0, 4.0, 5.0], variance=3.0, noise_variance=0.7),
    "uninformative": Independent(mean=7.0, variance=np.inf, noise_variance=10.0, arms=5),
    "mixed": Independent(mean=1.0, variance=[0.0, 0.5, 2.0, np.inf, 1e6], noise_variance=[1.0, 2.0, 0.1, 5.0, 1e-3]),
    "correlated": Correlated(mean=30.0, kernel=10 * Exponential(3.0), coordinates=FIVE, noise_variance=10.0),
    "smooth": Correlated(
        mean=[0.0, 1.0, -1.0, 2.0, 5.0],
        kernel=4 * SquaredExponential(2.0),
        coordinates=FIVE,
        noise_variance=[0.5, 1.0, 2.0, 4.0, 8.0],
    ),
    "rank one": Correlated(mean=0.0, covariance=np.ones((5, 5)), noise_variance=1.0),
    "one known": Correlated(mean=0.0, covariance=np.diag([0.0, 1.0, 2.0, 3.0, 4.0]), noise_variance=1.0),
    "one arm": Correlated(mean=2.0, covariance=[[3.0]], noise_variance=2.0),
}
LINE = np.arange(6.0)
SMALL = np.array([[x, y] for x in range(3) for y in range(2)], dtype=float)
IMPLICIT = {  # what `Implicit` and `Correlated` take alike
    "grid": {"mean": 30.0, "kernel": 10 * Exponential(3.0), "coordinates": SMALL, "noise_variance": 10.0},
    "grid, noise per arm": {
        "mean": [0.0, 1.0, -1.0, 2.0, 5.0, 3.0],
        "kernel": 3 * Matern52((2.0, 1.0)) + 0.5 * Exponential(4.0, distance="cityblock") * RationalQuadratic(1.0),
        "coordinates": SMALL,
        "noise_variance": [0.5, 1.0, 2.0, 4.0, 8.0, 0.1],
    },
    "line, singular to rounding": {"kernel": 4 * SquaredExponential(40.0), "coordinates": LINE, "noise_variance": 1.0},
    "scattered": {
        "mean": [0.0, 1.0, -1.0, 2.0, 5.0],
        "kernel": 4 * SquaredExponential(2.0) + Exponential(1.0),
        "coordinates": FIVE,
        "noise_variance": [0.5, 1.0, 2.0, 4.0, 8.0],
    },
    "one known": {"kernel": lambda x, y: np.minimum(x, y.T), "coordinates": LINE, "noise_variance": 1.0},
    "one shared mean": {
        "kernel": lambda x, y: 5 * np.ones((len(x), len(y))),
        "coordinates": FIVE,
        "noise_variance": 3.0,
    },
    "one arm": {"mean": 2.0, "kernel": 3 * Exponential(1.0), "coordinates": [7.0], "noise_variance": 2.0},
}
IMPLICIT_PRIORS = {name: Implicit(**settings) for name, settings in IMPLICIT.items()}
BETA_PRIORS = {
    "uniform": Beta(arms=5),
    "beta": Beta(successes=[0.5, 1.0, 2.0, 7.0, 30.0], failures=[0.5, 3.0, 1.0, 7.0, 2.0]),
}


def same_bits(one, other):
    """Whether two beliefs agree to the last bit in all they say."""
    pairs = [(getattr(one, name), getattr(other, name)) for name in ("mean", "variance", "counts", "sums")]
    if isinstance(one, (Correlated, Implicit)):
        pairs.append((covariance_of(one), covariance_of(other)))
    return all(a.tobytes() == b.tobytes() for a, b in pairs)


def covariance_of(belief):
    return np.array([belief.covariance_with(arm) for arm in range(belief.arms)])


def assert_close(one, other, tolerance):
    """|dS_ij| <= tolerance sqrt(S_ii S_jj) and |dmu_i| <= tolerance max(|mu_i|, s_i)."""
    deviation = np.sqrt(other.variance)
    known = np.isfinite(deviation)
    assert np.array_equal(known, np.isfinite(one.variance))
    if isinstance(one, GaussianBelief):
        both = np.ix_(known, known)
        error = np.abs(covariance_of(one)[both] - covariance_of(other)[both])
        assert (error <= tolerance * np.outer(deviation[known], deviation[known])).all()
    scale = np.maximum(np.abs(other.mean), np.where(known, deviation, 0.0))
    assert (np.abs(one.mean - other.mean) <= tolerance * scale).all()
    assert np.array_equal(one.counts, other.counts)


def histories(prior, most=12):
    """Strategy: arms and rewards that suit a belief: any numbers, or 0 and 1 if it refuses such as -0.5."""
    try:
        prior.checked_reward(-0.5)
    except ValueError:
        reward = st.sampled_from([0.0, 1.0])
    else:
        reward = st.floats(-1e3, 1e3, allow_subnormal=False)
    return st.lists(st.tuples(st.integers(0, prior.arms - 1), reward), max_size=most)


def told(belief, history):
    """The belief after a history, one reward at a time."""
    for arm, reward in history:
        belief = belief.observe(arm, reward)
    return belief


def at_once(belief, history):
    return belief.observe([arm for arm, _ in history], [reward for _, reward in history])


def tallied(belief, history):
    """Counts and sums of a history, the sums rounded once."""
    counts = np.bincount(np.array([arm for arm, _ in history], dtype=int), minlength=belief.arms)
    sums = [math.fsum(r for arm, r in history if arm == k) for k in range(belief.arms)]
    return counts, sums


class BeliefContract:
    """What every belief must do; a subclass gives the fixture `prior`."""

    @QUICK
    @given(data=st.data())
    def test_the_order_of_rewards_cannot_matter(self, prior, data):
        history = data.draw(histories(prior))
        shuffled = data.draw(st.permutations(history))
        assert same_bits(at_once(prior, history), at_once(prior, shuffled))

    @QUICK
    @given(data=st.data())
    def test_counts_and_sums_are_all_that_matters(self, prior, data):
        history = data.draw(histories(prior))
        assert same_bits(at_once(prior, history), prior.observe_all(*tallied(prior, history)))

    @QUICK
    @given(data=st.data())
    def test_any_split_gives_the_same_bits(self, prior, data):
        history = data.draw(histories(prior))
        cut = data.draw(st.integers(0, len(history)))
        whole = at_once(prior, history)
        assert same_bits(at_once(at_once(prior, history[:cut]), history[cut:]), whole)
        assert same_bits(at_once(prior, history[:cut]).merge(at_once(prior, history[cut:])), whole)
        assert same_bits(at_once(prior, history[cut:]).merge(at_once(prior, history[:cut])), whole)

    @QUICK
    @given(data=st.data())
    def test_one_by_one_agrees_with_all_at_once(self, prior, data):
        history = data.draw(histories(prior))
        assert_close(told(prior, history), at_once(prior, history), 1e-10)

    @QUICK
    @given(data=st.data())
    def test_counts_and_correctly_rounded_sums_are_kept(self, prior, data):
        history = data.draw(histories(prior))
        counts, sums = tallied(prior, history)
        for belief in (told(prior, history), at_once(prior, history)):
            assert belief.counts.tolist() == counts.tolist()
            assert belief.sums.tolist() == sums

    def test_nothing_seen_changes_nothing(self, prior):
        assert same_bits(prior.observe([], []), prior)
        assert same_bits(prior.observe_all(np.zeros(prior.arms, dtype=int), 0.0), prior)
        assert same_bits(prior.merge(prior), prior)

    def test_beliefs_never_change(self, prior):
        before = [a.tobytes() for a in (prior.mean, prior.variance, prior.counts, prior.sums)]
        belief = prior.observe(0, 1.0)
        belief.observe([0, 0], [1.0, 0.0]).merge(belief)
        assert [a.tobytes() for a in (prior.mean, prior.variance, prior.counts, prior.sums)] == before
        assert belief.counts[0] == 1
        assert type(belief) is type(prior)
        for array in (belief.mean, belief.variance, belief.counts, belief.sums):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1

    def test_draws_have_the_mean_and_the_covariance(self, prior):
        belief = prior.observe(list(range(prior.arms)), [1.0] * prior.arms)
        rng = np.random.default_rng(1)
        n = 4000
        draws = np.array([belief.sample(rng) for _ in range(n)])
        exact = covariance_of(belief) if isinstance(belief, GaussianBelief) else np.diag(belief.variance)
        # five standard errors: of a mean sqrt(S_ii / n); of a covariance of Gaussians sqrt((S_ii S_jj + S_ij^2) / n)
        assert (np.abs(draws.mean(axis=0) - belief.mean) <= 5 * np.sqrt(belief.variance / n) + 1e-15).all()
        error = np.sqrt((np.outer(belief.variance, belief.variance) + exact**2) / n)
        assert (np.abs(np.cov(draws.T).reshape(exact.shape) - exact) <= 5 * error + 1e-15).all()

    @pytest.mark.parametrize("tail", [0.3, 0.02])
    def test_draws_exceed_the_credible_limit_as_often_as_it_says(self, prior, tail):
        belief = prior.observe(list(range(prior.arms)), [1.0] * prior.arms)
        limit, rng, n = belief.credible_limit(math.log(tail)), np.random.default_rng(2), 4000
        above = np.mean([belief.sample(rng) > limit for _ in range(n)], axis=0)
        uncertain = belief.variance > 0
        assert (np.abs(above - tail)[uncertain] <= 5 * math.sqrt(tail * (1 - tail) / n)).all()
        assert (limit[~uncertain] == belief.mean[~uncertain]).all()

    def test_its_text_says_how_much_it_has_seen(self, prior):
        assert f"{prior.arms} arms after 2 rewards" in repr(prior.observe([0, 0], [1.0, 1.0]))


class GaussianContract(BeliefContract):
    """What Gaussian beliefs do besides."""

    @QUICK
    @given(data=st.data())
    def test_variance_never_grows(self, prior, data):
        belief = prior
        for arm, reward in data.draw(histories(prior)):
            after = belief.observe(arm, reward)
            assert (after.variance <= belief.variance).all()
            assert (after.variance >= 0).all()
            belief = after

    @QUICK
    @given(data=st.data())
    def test_awaited_rewards_shrink_the_covariance_and_leave_the_mean(self, prior, data):
        history = data.draw(histories(prior))
        awaited = data.draw(histories(prior))
        belief = at_once(prior, history)
        assumed = belief.assume([arm for arm, _ in awaited])
        assert assumed.mean.tobytes() == belief.mean.tobytes()
        as_if = at_once(prior, history + awaited)
        known = np.isfinite(as_if.variance)
        both, deviation = np.ix_(known, known), np.sqrt(as_if.variance[known])
        error = np.abs(covariance_of(assumed)[both] - covariance_of(as_if)[both])
        assert (error <= 1e-10 * np.outer(deviation, deviation)).all()
        assert np.array_equal(assumed.counts, belief.counts)

    @QUICK
    @given(data=st.data())
    def test_rewards_may_come_while_others_are_awaited(self, prior, data):
        history, more = data.draw(histories(prior, 6)), data.draw(histories(prior, 6))
        awaited = [arm for arm, _ in data.draw(histories(prior, 6))]
        waiting = at_once(prior, history).assume(awaited[:2]).assume(awaited[2:])
        left = Counter(awaited) - Counter(arm for arm, _ in more)  # what has come is no longer awaited
        expected = at_once(prior, history + more).assume(sorted(left.elements()))
        for belief in (told(waiting, more), at_once(waiting, more)):
            assert_close(belief, expected, 1e-10)
            assert np.array_equal(belief.sums, expected.sums)

    @QUICK
    @given(data=st.data())
    def test_merging_adds_what_both_await(self, prior, data):
        mine, yours = data.draw(histories(prior, 6)), data.draw(histories(prior, 6))
        one = at_once(prior, mine).assume([0])
        other = at_once(prior, yours).assume([0, prior.arms - 1])
        assert_close(one.merge(other), at_once(prior, mine + yours).assume([0, 0, prior.arms - 1]), 1e-10)

    def test_awaiting_nothing_changes_nothing(self, prior):
        belief = prior.observe([0] * 3, [1.0] * 3)
        assert same_bits(belief.assume([]), belief)

    def test_the_covariance_is_symmetric_and_has_the_variances(self, prior):
        S = covariance_of(prior.observe(0, 1.0))
        if isinstance(prior, Implicit):  # its rows are computed one at a time: symmetric to rounding
            deviation = np.sqrt(S.diagonal())
            assert (np.abs(S - S.T) <= 1e-14 * np.outer(deviation, deviation)).all()
        else:
            assert np.array_equal(S, S.T)
        assert np.array_equal(S.diagonal(), prior.observe(0, 1.0).variance)

    @QUICK
    @given(data=st.data())
    def test_the_spread_lies_between_1_and_sqrt_n(self, prior, data):
        spread = told(prior, data.draw(histories(prior))).spread()
        assert (spread >= 1).all()
        assert (spread <= math.sqrt(prior.arms)).all()


def decimals(array):
    """An array of 60-digit numbers, each exactly the double it came from."""
    return np.array([Decimal(float(x)) for x in np.ravel(array)], dtype=object).reshape(np.shape(array))


def inverse(M):
    """The inverse of a matrix of decimals, by Gauss and Jordan; pivots are taken in order, for covariances."""
    M = M.copy()
    for k in range(len(M)):
        pivot, column = 1 / M[k, k], M[:, k].copy()
        M[:, k], M[k, k] = Decimal(0), Decimal(1)
        M[k] *= pivot
        column[k] = Decimal(0)
        M -= np.multiply.outer(column, M[k])
    return M


def exact_posterior(prior, counts, sums):
    """Mean and covariance by eq. inference-corr-simplified as it is printed, with 60 digits."""
    with localcontext(prec=60):
        L0 = inverse(decimals(prior.covariance))
        P_inverse = np.array([int(n) for n in counts], dtype=object) / decimals(prior.noise_variance)
        S = inverse(L0 + np.diag(P_inverse))
        averages = decimals(sums) / np.array([max(int(n), 1) for n in counts], dtype=object)
        mean = S @ (P_inverse * averages + L0 @ decimals(prior.mean))
        return mean, S


def assert_accurate(belief, mean, S, tolerance):
    """The issue's measure of accuracy, against decimals."""
    with localcontext(prec=60):
        dS, dmu = decimals(covariance_of(belief)) - S, decimals(belief.mean) - mean
        deviation = np.array([x.sqrt() for x in S.diagonal()])
        scale = np.maximum(np.abs(mean), deviation)
        assert max(np.abs(dS / np.multiply.outer(deviation, deviation)).ravel()) <= tolerance
        assert max(np.abs(dmu / scale)) <= tolerance
