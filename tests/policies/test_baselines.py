import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from corrbandits.belief import Beta, Correlated, Independent
from corrbandits.kernels import SquaredExponential
from corrbandits.policies import UCB1, EpsilonGreedy, KnowledgeGradient, Thompson, Uniform
from corrbandits.policies.baselines import expected_gain
from tests.support.contracts import GAUSSIAN_PRIORS, QUICK


def frequencies(policy, belief, n, **options):
    rng = np.random.default_rng(7)
    chosen = [policy.choose(belief, 5, rng=rng, **options) for _ in range(n)]
    return np.bincount(chosen, minlength=belief.arms) / n


def assert_frequencies(found, expected, n):
    """Five standard errors of a frequency; none where the probability is 0 or 1."""
    expected = np.asarray(expected)
    assert (np.abs(found - expected) <= 5 * np.sqrt(expected * (1 - expected) / n)).all()


# the expected maximum of lines


def integrated_gain(means, slopes):
    """E max_j (m_j + b_j Z) - max m_j by quadrature between all the points where two lines meet."""
    meetings = {
        (means[i] - means[j]) / (slopes[j] - slopes[i])
        for i, j in itertools.combinations(range(len(means)), 2)
        if slopes[i] != slopes[j]
    }
    ends = [-12.0, *sorted(c for c in meetings if -12 < c < 12), 12.0]
    highest = max(means)

    def gain(z):
        return (np.max(np.add(means, np.multiply(slopes, z))) - highest) * stats.norm._pdf(z)

    return math.fsum(quad(gain, *segment, epsabs=1e-13)[0] for segment in itertools.pairwise(ends))


LINES = st.lists(
    st.tuples(st.integers(-3, 3) | st.floats(-3, 3), st.integers(-2, 2) | st.floats(-2, 2)), min_size=1, max_size=6
)


@QUICK
@given(LINES)
def test_the_gain_is_the_integral(lines):
    # whole numbers make equal slopes, equal means, duplicates and zero slopes common
    means, slopes = np.array(lines, dtype=float).T
    assert expected_gain(means, slopes) == pytest.approx(integrated_gain(means, slopes), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("means", "slopes"),
    [
        ([1.0, 1.0, 1.0], [0.0, 0.0, 0.0]),
        ([1.0, 1.0, 0.0], [2.0, 2.0, 2.0]),
        ([3.0], [5.0]),
        ([0.0, -1e9], [0.0, 1.0]),
    ],
    ids=["no slope", "parallel", "one line", "out of reach"],
)
def test_where_no_line_overtakes_another_there_is_no_gain(means, slopes):
    assert expected_gain(np.array(means), np.array(slopes)) == 0.0


def test_duplicates_and_dominated_lines_add_nothing():
    means, slopes = np.array([0.0, 1.0, 0.5]), np.array([-1.0, 0.5, 2.0])
    more = expected_gain(np.r_[means, means, -5.0, 0.0], np.r_[slopes, slopes, 0.5, 0.5])
    assert more == expected_gain(means, slopes)


@pytest.mark.parametrize("seed", range(3))
def test_the_gain_is_the_average_over_draws(seed):
    rng = np.random.default_rng(seed)
    means, slopes = rng.normal(0, 1, 20), rng.normal(0, 1, 20)
    highest = (means + np.outer(rng.standard_normal(100_000), slopes)).max(axis=1)
    error = highest.std() / math.sqrt(highest.size)
    assert abs(highest.mean() - means.max() - expected_gain(means, slopes)) <= 4 * error


@pytest.mark.parametrize("c", [0.0, 0.5, 3.0, 10.0, 30.0, 37.0])
def test_small_gains_keep_their_digits(c):
    # two lines, 0 and Z - c: E (Z - c)+ = phi(c) - c P(Z > c)
    with mpmath.workdps(60):
        exact = mpmath.npdf(c) - c * mpmath.erfc(c / mpmath.sqrt(2)) / 2
        assert abs(expected_gain(np.array([0.0, -c]), np.array([0.0, 1.0])) / exact - 1) <= 1e-10


def test_nearly_parallel_lines_do_not_disturb():
    # such slopes come from kernels that have underflowed
    assert expected_gain(np.array([0.0, 1.0, 3.0]), np.array([0.0, 5e-324, 1.0])) == pytest.approx(
        expected_gain(np.array([1.0, 3.0]), np.array([0.0, 1.0])), rel=1e-12
    )
    assert expected_gain(np.array([3.0, 1.0, 0.0]), np.array([0.0, 1e-300, 2e-300])) == 0.0


# the knowledge gradient


def one_step_ahead(belief, arm):
    """What one reward of an arm adds to the best mean: the belief's own updates, integrated over Gaussian rewards."""
    deviation = math.sqrt(belief.variance[arm] + belief.noise_variance[arm])
    after = [belief.observe(arm, belief.mean[arm] + z * deviation).mean for z in (-3.0, 0.0, 1.0)]
    slopes = after[2] - after[1]
    assert after[0] == pytest.approx(after[1] - 3 * slopes, rel=1e-9, abs=1e-9)  # a line indeed
    return integrated_gain(after[1], slopes)


@pytest.mark.parametrize("kind", ["independent", "correlated", "smooth", "rank one", "one known", "one arm"])
def test_the_knowledge_gradient_is_the_value_of_one_more_reward(kind):
    prior = GAUSSIAN_PRIORS[kind]
    belief = prior.observe([0, prior.arms - 1], [3.0, 2.0])
    ahead = np.array([one_step_ahead(belief, arm) for arm in range(belief.arms)])
    assert KnowledgeGradient(horizon=11).index(belief, 1) == pytest.approx(belief.mean + 10 * ahead, rel=1e-9, abs=1e-8)


def test_the_knowledge_gradient_of_independent_arms_has_a_closed_form():
    belief = Independent(mean=[1.0, 0.2, -1.0], variance=[1.0, 2.0, 3.0], noise_variance=[0.5, 1.0, 2.0])
    # s~ = s^2 / sqrt(s^2 + s2); distance to the best other arm over s~; s~ (phi(d) - d P(Z > d))
    change = belief.variance / np.sqrt(belief.variance + belief.noise_variance)
    d = np.array([0.8, 0.8, 2.0]) / change
    expected = belief.mean + 7 * change * (stats.norm.pdf(d) - d * stats.norm.sf(d))
    assert KnowledgeGradient(horizon=10).index(belief, 3) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_the_knowledge_gradient_chooses_the_largest_index_though_it_computes_few(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 25))
    root = rng.standard_normal((n, n)) * rng.choice([0.1, 1.0, 3.0], n)[:, None]
    belief = Correlated(mean=rng.normal(0, 2, n), covariance=root @ root.T, noise_variance=rng.uniform(0.1, 3, n))
    if seed % 3 == 0:
        belief = Independent(
            mean=rng.integers(0, 2, n).astype(float), variance=rng.integers(0, 3, n), noise_variance=1.0
        )
    for t in (1, 7, 10):
        rule = KnowledgeGradient(horizon=10)
        index, allowed = rule.index(belief, t), np.flatnonzero(rng.random(n) < 0.5)
        assert rule.choose(belief, t) == index.argmax()
        if allowed.size:
            assert rule.choose(belief, t, allowed=allowed) == allowed[index[allowed].argmax()]


def test_the_knowledge_gradient_ends_greedy():
    belief = GAUSSIAN_PRIORS["smooth"]
    assert np.array_equal(KnowledgeGradient(horizon=10).index(belief, 10), belief.mean)
    with pytest.raises(ValueError, match="horizon of 10, but t = 11 is past it"):
        KnowledgeGradient(horizon=10).index(belief, 11)


def test_the_knowledge_gradient_survives_kernels_that_underflow():
    # exp(-r^2 / 2) is a subnormal number near r = 38
    belief = Correlated(
        mean=np.sin(np.arange(60.0)), kernel=SquaredExponential(1.0), coordinates=np.arange(60.0), noise_variance=1.0
    )
    index = KnowledgeGradient(horizon=10).index(belief, 1)
    assert np.isfinite(index).all()
    assert (index >= belief.mean).all()


def test_the_knowledge_gradient_of_an_unknown_arm_is_infinite():
    belief = Independent(mean=0.0, variance=[np.inf, 1.0], noise_variance=1.0)
    assert KnowledgeGradient(horizon=5).index(belief, 1)[0] == np.inf
    assert KnowledgeGradient(horizon=5).index(belief, 5).tolist() == [np.inf, 0.0]


# rules that draw


def test_thompson_takes_an_arm_as_often_as_it_is_best():
    S = np.array([[2.0, 1.5], [1.5, 3.0]])
    belief = Correlated(mean=[0.0, 0.4], covariance=S, noise_variance=1.0)
    # arm 1 is best when a Gaussian of mean 0.4 and variance 2 + 3 - 3 is above 0
    p = stats.norm.cdf(0.4 / math.sqrt(2))
    assert_frequencies(frequencies(Thompson(), belief, 4000), [1 - p, p], 4000)


def test_thompson_on_beta_beliefs():
    belief = Beta(successes=[3.0, 1.0], failures=[1.0, 1.0])
    # P(x > y) for x ~ Beta(3, 1), y uniform, is E x = 3/4
    assert_frequencies(frequencies(Thompson(), belief, 4000), [0.75, 0.25], 4000)


def test_thompson_knows_that_twins_are_twins():
    belief = Correlated(mean=[0.1, 0.0], covariance=np.ones((2, 2)), noise_variance=1.0)
    assert frequencies(Thompson(), belief, 200).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_epsilon_greedy_explores_with_probability_epsilon(epsilon):
    belief = Independent(mean=[0.0, 5.0, 1.0, 2.0], variance=1.0, noise_variance=1.0)
    rare = epsilon / 4
    assert_frequencies(frequencies(EpsilonGreedy(epsilon), belief, 4000), [rare, 1 - 3 * rare, rare, rare], 4000)


def test_uniform_takes_every_arm_alike():
    belief = Independent(mean=[0.0, 5.0, 1.0, 2.0], variance=np.inf, noise_variance=1.0)
    assert_frequencies(frequencies(Uniform(), belief, 4000), [0.25] * 4, 4000)
    assert_frequencies(frequencies(Uniform(), belief, 4000, allowed=[3, 1]), [0, 0.5, 0, 0.5], 4000)


@pytest.mark.parametrize("allowed", [None, [1, 3, 4]])
@pytest.mark.parametrize("epsilon", [0.0, 1e-3, 0.3, 1.0])
def test_a_choice_takes_one_uniform_number(epsilon, allowed):
    belief = Independent(mean=[0.0, 5.0, 1.0, 2.0, 1.0], variance=1.0, noise_variance=1.0)
    mine, yours, arms = np.random.default_rng(3), np.random.default_rng(3), allowed or range(5)
    for u in yours.random(500).tolist():
        explored = arms[math.floor(u / epsilon * len(arms))] if u < epsilon else 1
        assert EpsilonGreedy(epsilon).choose(belief, 1, rng=mine, allowed=allowed) == explored
    assert mine.random() == yours.random()
    for u in yours.random(500).tolist():
        assert Uniform().choose(belief, 1, rng=mine, allowed=allowed) == arms[math.floor(u * len(arms))]


def test_a_number_next_to_epsilon_explores_the_last_arm():
    class Next(np.random.Generator):
        def random(self):
            return np.nextafter(0.3, 0)

    belief = Independent(mean=0.0, variance=1.0, noise_variance=1.0, arms=10**6 + 3)
    assert EpsilonGreedy(0.3).choose(belief, 1, rng=Next(np.random.PCG64(0))) == 10**6 + 2


@pytest.mark.parametrize("policy", [Thompson(), EpsilonGreedy(), Uniform()], ids=repr)
def test_rules_that_draw_repeat_with_the_seed_and_refuse_to_go_without(policy):
    belief = GAUSSIAN_PRIORS["correlated"]
    one, other = (frequencies(policy, belief, 20) for _ in range(2))
    assert np.array_equal(one, other)
    for rng in (None, 0, np.random.RandomState(0)):
        with pytest.raises(TypeError, match=rf"{type(policy).__name__} draws at random: pass rng=numpy.random"):
            policy.choose(belief, 1, rng=rng)


# UCB1


def test_ucb1_is_the_average_and_a_confidence_width():
    belief = GAUSSIAN_PRIORS["correlated"].observe([0, 0, 1, 2, 2, 2], [1.0, 3.0, 5.0, 0.0, 0.0, 6.0])
    # averages 2, 5, 2; widths 3 sqrt(2 log 10 / n) at t = 11
    widths = [3 * math.sqrt(2 * math.log(10) / n) for n in (2, 1, 3)]
    expected = [2 + widths[0], 5 + widths[1], 2 + widths[2], np.inf, np.inf]
    assert UCB1(scale=3.0).index(belief, 11) == pytest.approx(expected, rel=1e-14)


def test_ucb1_takes_every_arm_once_and_ignores_the_prior():
    for kind in ("independent", "uninformative", "correlated", "smooth"):
        belief, taken = GAUSSIAN_PRIORS[kind], []
        for t in range(1, 6):
            taken.append(UCB1().choose(belief, t))
            belief = belief.observe(taken[-1], float(t))
        assert taken == [0, 1, 2, 3, 4]
        assert UCB1().choose(belief, 6) == 4


def test_the_widths_of_ucb1_at_many_times_are_those_of_each():
    policy, t = UCB1(scale=3.0), np.array([1, 2, 3, 11, 10**9])
    assert policy.width(t).tolist() == [policy.width(int(k)) for k in t]
    assert policy.width(11) == pytest.approx(3 * math.sqrt(2 * math.log(10)), rel=1e-15)
    assert policy.width(1) == policy.width(2) == 0


def test_ucb1_takes_an_arm_whose_reward_is_awaited_for_taken():
    prior = Independent(mean=7.0, variance=np.inf, noise_variance=1.0, arms=3).observe(0, 1.0)
    taken = []
    for t in range(2, 6):
        taken.append(UCB1().choose(prior.assume(taken) if taken else prior, t))
    assert sorted(taken[:2]) == [1, 2]
    index = UCB1(scale=2.0).index(prior.assume([1, 1, 0]), 4)
    width = 2.0 * math.sqrt(2 * math.log(3))
    assert index == pytest.approx([1.0 + width / math.sqrt(2), 7.0 + width / math.sqrt(2), math.inf])
