"""Every refusal: what was expected, what was given, and nothing else."""

import numpy as np
import pytest

from corrbandits.belief import Beta, Correlated, Independent
from corrbandits.kernels import Exponential, Matern32, Matern52, RationalQuadratic, SquaredExponential
from corrbandits.policies import UCL
from tests.support.contracts import BETA_PRIORS, GAUSSIAN_PRIORS

NAN, INF = float("nan"), float("inf")
KERNELS = [Exponential, SquaredExponential, Matern32, Matern52, RationalQuadratic]
NOT_NUMBERS = ["3", None, 1j, [1.0, "2"], [[1.0], [2.0, 3.0]], {}, {1.0}, object, np.datetime64("2020-01-01"), b"1"]
HUGE = 10**400


def independent(**changes):
    return Independent(**{"mean": 0.0, "variance": 1.0, "noise_variance": 1.0, "arms": 3} | changes)


def correlated(**changes):
    return Correlated(**{"mean": 0.0, "covariance": np.eye(3), "noise_variance": 1.0} | changes)


# beliefs as they are made


@pytest.mark.parametrize("make", [independent, correlated])
@pytest.mark.parametrize("field", ["mean", "noise_variance"])
class TestNumbersPerArm:
    @pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
    def test_not_numbers(self, make, field, value):
        with pytest.raises(TypeError, match=f"{field} must be numbers, got .*"):
            make(**{field: value})

    @pytest.mark.parametrize("value", [NAN, INF, -INF, [1.0, NAN, 1.0]])
    def test_not_finite(self, make, field, value):
        with pytest.raises(ValueError, match=rf"{field} must be finite, got (nan|-?inf).*mend its source"):
            make(**{field: value})

    @pytest.mark.parametrize("value", [[1.0, 2.0], [1.0] * 4, [], np.ones((3, 1)), np.ones((1, 3))])
    def test_wrong_length(self, make, field, value):
        with pytest.raises(ValueError, match=f"{field} must be one number or 3, one per arm, but its shape is"):
            make(**{field: value})

    def test_too_large_for_a_double(self, make, field):
        with pytest.raises(ValueError, match=f"{field} must fit into a double, got 1000"):
            make(**{field: HUGE})
        assert make(**{field: 10**30}).arms == 3  # which no 64 bits hold, but a double does

    def test_masked(self, make, field):
        with pytest.raises(ValueError, match=f"{field} must be there for every entry, but some are masked"):
            make(**{field: np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])})


def test_where_a_number_is_not_finite_is_said():
    with pytest.raises(ValueError, match="got nan at index 2"):
        independent(mean=[0.0, 1.0, NAN])
    with pytest.raises(ValueError, match=r"got inf at index \(0, 1\)"):
        correlated(covariance=[[1.0, INF], [0.0, 1.0]])


@pytest.mark.parametrize("make", [independent, correlated])
@pytest.mark.parametrize("noise", [0.0, -1.0, [1.0, 1.0, 0.0], [1.0, -1e-300, 1.0]])
def test_noise_must_be_above_0(make, noise):
    with pytest.raises(ValueError, match=r"noise_variance must be above 0, got (0|-1|-1e-300).*very small"):
        make(noise_variance=noise)


@pytest.mark.parametrize("variance", [-1.0, NAN, -INF, [1.0, NAN, 1.0]])
def test_variance_must_be_at_least_0(variance):
    with pytest.raises(ValueError, match=r"variance must be at least 0 \(inf for an arm of which nothing is known\)"):
        independent(variance=variance)


@pytest.mark.parametrize("variance", NOT_NUMBERS, ids=repr)
def test_variance_must_be_numbers(variance):
    with pytest.raises(TypeError, match="variance must be numbers"):
        independent(variance=variance)


def test_variance_must_have_the_right_length():
    with pytest.raises(ValueError, match="variance must be one number or 3"):
        independent(variance=[1.0, 2.0])


@pytest.mark.parametrize("arms", [0, -1])
def test_there_must_be_an_arm(arms):
    with pytest.raises(ValueError, match=f"arms must be at least 1, got {arms}"):
        independent(arms=arms)
    with pytest.raises(ValueError, match=f"arms must be at least 1, got {arms}"):
        Beta(arms=arms)


@pytest.mark.parametrize("arms", [2.0, "3", True, [3], 1j])
def test_the_number_of_arms_must_be_whole(arms):
    with pytest.raises(TypeError, match="arms must be a whole number"):
        independent(arms=arms)


def test_the_number_of_arms_must_fit():
    with pytest.raises(ValueError, match="arms must be at most 9223372036854775807, got 1000"):
        independent(arms=HUGE)


def test_the_number_of_arms_must_be_known():
    with pytest.raises(TypeError, match=r"say how many arms there are: arms=..., or one value per arm in mean or"):
        Independent(noise_variance=1.0)
    with pytest.raises(TypeError, match="say how many arms there are"):
        Beta()
    with pytest.raises(ValueError, match="the length of mean must be at least 1"):
        Independent(mean=[], noise_variance=1.0)
    with pytest.raises(ValueError, match="variance must be one number or 2"):
        Independent(mean=[0.0, 1.0], variance=[1.0, 2.0, 3.0], noise_variance=1.0)


@pytest.mark.parametrize("S", [1.0, [1.0, 2.0], [[1.0, 0.0]], np.ones((2, 2, 2)), np.ones((0, 0)), [[]]], ids=repr)
def test_a_covariance_must_be_square(S):
    with pytest.raises(ValueError, match="covariance must be a square matrix, one row per arm, but its shape is"):
        correlated(covariance=S)


@pytest.mark.parametrize("S", [x for x in NOT_NUMBERS if x is not None], ids=repr)
def test_a_covariance_must_be_numbers(S):
    with pytest.raises(TypeError, match="covariance must be numbers"):
        correlated(covariance=S)


@pytest.mark.parametrize("value", [NAN, INF])
def test_a_covariance_must_be_finite(value):
    with pytest.raises(ValueError, match=rf"covariance must be finite, got {value} at index \(1, 1\)"):
        correlated(covariance=np.diag([1.0, value, 1.0]))


def test_a_covariance_must_be_symmetric():
    with pytest.raises(ValueError, match=r"its entry \(0, 1\) is 0.5 and \(1, 0\) is 0.4.*\(S \+ S.T\) / 2"):
        correlated(covariance=[[1.0, 0.5], [0.4, 1.0]])


def test_a_negative_variance_names_its_arm():
    with pytest.raises(ValueError, match="variances must be at least 0, but the covariance has -2 for arm 1"):
        correlated(covariance=np.diag([1.0, -2.0, 1.0]))


def test_an_indefinite_covariance_names_the_eigenvalue():
    # the eigenvalues of [[1, 2], [2, 1]] are 3 and -1
    with pytest.raises(ValueError, match=r"no negative eigenvalue, but its smallest is -1 \(largest 3\).*kernel"):
        correlated(covariance=[[1.0, 2.0], [2.0, 1.0]])
    # paper, remark on clusters (THEORY, mistake 17): 11' + eps E, E of zero diagonal; for two arms 1 - (1 + eps)
    with pytest.raises(ValueError, match=r"smallest is -0.01 \(largest 2.01\)"):
        correlated(covariance=np.ones((2, 2)) + 0.01 * (np.ones((2, 2)) - np.eye(2)))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"covariance": np.eye(2), "kernel": Exponential(1.0)},
        {"covariance": np.eye(2), "coordinates": [0.0, 1.0]},
        {"kernel": Exponential(1.0)},
        {"coordinates": [0.0, 1.0]},
        {"kernel": "exponential", "coordinates": [0.0, 1.0]},
        {"kernel": np.eye(2), "coordinates": [0.0, 1.0]},
    ],
    ids=lambda given: "+".join(given) or "nothing",
)
def test_a_correlated_prior_takes_a_matrix_or_a_kernel(given):
    with pytest.raises(TypeError, match=r"give either covariance=matrix, or kernel=.* and coordinates="):
        Correlated(noise_variance=1.0, **given)


@pytest.mark.parametrize(
    ("kernel", "error", "match"),
    [
        (lambda x, y: np.ones(2), ValueError, r"2 points .*\(2,\)"),
        (lambda x, y: np.full((2, 2), NAN), ValueError, "kernel's covariance must be finite, got nan"),
        (lambda x, y: [["a", "b"], ["c", "d"]], TypeError, "kernel's covariance must be numbers"),
        (lambda x, y: np.array([[1.0, 3.0], [3.0, 1.0]]), ValueError, "smallest is -2"),
        (lambda x, y: x - y.T, ValueError, "symmetric"),
    ],
)
def test_what_a_kernel_returns_is_checked_like_a_matrix(kernel, error, match):
    with pytest.raises(error, match=match):
        Correlated(kernel=kernel, coordinates=[0.0, 1.0], noise_variance=1.0)


@pytest.mark.parametrize("points", [[], [[]], 3.0, np.ones((2, 2, 2))], ids=repr)
def test_coordinates_must_be_rows_of_points(points):
    with pytest.raises(ValueError, match="coordinates must be a matrix with one row per point, but its shape is"):
        Correlated(kernel=Exponential(1.0), coordinates=points, noise_variance=1.0)


@pytest.mark.parametrize("field", ["successes", "failures"])
@pytest.mark.parametrize("value", [0.0, -1.0])
def test_a_beta_prior_must_be_proper(field, value):
    with pytest.raises(ValueError, match="of a Beta prior must be above 0; 1 and 1 is the uniform prior"):
        Beta(**{field: value}, arms=2)


@pytest.mark.parametrize("field", ["successes", "failures"])
def test_a_beta_prior_must_be_finite_numbers(field):
    with pytest.raises(ValueError, match=f"{field} must be finite"):
        Beta(**{field: NAN}, arms=2)
    with pytest.raises(TypeError, match=f"{field} must be numbers"):
        Beta(**{field: "1"}, arms=2)
    with pytest.raises(ValueError, match=f"{field} must be one number or 2"):
        Beta(**{field: [1.0, 2.0, 3.0]}, arms=2)


# beliefs as they are used

BELIEFS = [GAUSSIAN_PRIORS["independent"], GAUSSIAN_PRIORS["correlated"], BETA_PRIORS["uniform"]]
GAUSSIAN = BELIEFS[:2]


@pytest.mark.parametrize("belief", BELIEFS, ids=repr)
class TestObserving:
    @pytest.mark.parametrize("arm", [5, 10**9, HUGE, np.int64(5)], ids=lambda arm: str(arm)[:12])
    def test_no_such_arm(self, belief, arm):
        with pytest.raises(ValueError, match=r"an arm must be (an index from 0 to 4|at most 9223372036854775807), got"):
            belief.observe(arm, 1.0)

    @pytest.mark.parametrize("arm", [-1, np.int64(-5), -HUGE], ids=lambda arm: str(arm)[:12])
    def test_arms_do_not_count_from_the_end(self, belief, arm):
        with pytest.raises(ValueError, match="an arm must be at least 0"):
            belief.observe(arm, 1.0)

    @pytest.mark.parametrize(
        "arm", [True, np.True_, 1.0, "1", None, 1j, object, [0.0], [True], ["0"], [[0], [1, 2]], [HUGE]]
    )
    def test_an_arm_is_a_whole_number(self, belief, arm):
        with pytest.raises(TypeError, match=r"arms? must be (a )?whole number"):
            belief.observe(arm, [1.0] if isinstance(arm, list) else 1.0)

    @pytest.mark.parametrize("arms", [[0, 5], [-1], np.array([2**63], dtype=np.uint64)], ids=repr)
    def test_no_such_arm_among_many(self, belief, arms):
        with pytest.raises(ValueError, match=r"arms must be indices from 0 to 4, got (5|-1|9223372036854775808)"):
            belief.observe(arms, [1.0] * len(arms))

    @pytest.mark.parametrize("arms", [[[0, 1]], np.array(1), [[], []]], ids=repr)
    def test_arms_are_a_list(self, belief, arms):
        with pytest.raises(ValueError, match="arms must be a list of indices, got an array of shape"):
            belief.observe(arms, [1.0, 1.0])

    @pytest.mark.parametrize("reward", [NAN, INF, -INF])
    def test_a_reward_is_finite(self, belief, reward):
        with pytest.raises(ValueError, match=f"a reward must be finite, got {reward}"):
            belief.observe(0, reward)
        with pytest.raises(ValueError, match=f"rewards must be finite, got {reward} at index 1"):
            belief.observe([0, 1], [1.0, reward])

    @pytest.mark.parametrize("reward", ["1", None, 1j, object, [1.0, "a"]], ids=repr)
    def test_a_reward_is_a_number(self, belief, reward):
        with pytest.raises(TypeError, match="a reward must be numbers"):
            belief.observe(0, reward)
        with pytest.raises(TypeError, match="rewards must be numbers"):
            belief.observe([0, 1], reward)

    def test_a_reward_is_one_number(self, belief):
        with pytest.raises(TypeError, match=r"a reward must be one number, got an array of shape \(1,\)"):
            belief.observe(0, [1.0])

    @pytest.mark.parametrize("rewards", [[1.0], [1.0] * 3, 1.0, [], [[1.0], [1.0]], [[1.0, 1.0]]], ids=repr)
    def test_as_many_rewards_as_arms(self, belief, rewards):
        with pytest.raises(ValueError, match="as many rewards as arms are needed, got 2 arms and rewards of shape"):
            belief.observe([0, 1], rewards)

    @pytest.mark.parametrize(
        "counts",
        [
            [1] * 4,
            [1] * 6,
            1,
            [1.0] * 5,
            [True] * 5,
            ["1"] * 5,
            [[1], [2, 3], 1, 1, 1],
            [-1, 0, 0, 0, 0],
            [2**53 + 1, 0, 0, 0, 0],
            [HUGE, 0, 0, 0, 0],
            np.full(5, 2**63, dtype=np.uint64),
            None,
            [[1] * 5],
            [],
        ],
        ids=lambda counts: repr(counts)[:40],
    )
    def test_counts_are_whole_numbers_one_per_arm(self, belief, counts):
        with pytest.raises(ValueError, match=r"counts must be 5 whole numbers from 0 to 2\^53, one per arm, got"):
            belief.observe_all(counts, 0.0)

    def test_sums_are_finite_numbers_one_per_arm(self, belief):
        counts = [1] * 5
        with pytest.raises(ValueError, match="sums must be finite, got nan at index 4"):
            belief.observe_all(counts, [1.0, 1.0, 1.0, 1.0, NAN])
        with pytest.raises(TypeError, match="sums must be numbers"):
            belief.observe_all(counts, ["1"] * 5)
        with pytest.raises(ValueError, match="sums must be one number or 5"):
            belief.observe_all(counts, [1.0] * 4)

    @pytest.mark.parametrize("other", [None, 3, "belief", Independent(noise_variance=1.0, arms=9)], ids=repr)
    def test_only_a_belief_over_the_same_prior_merges(self, belief, other):
        with pytest.raises(ValueError, match="only beliefs that started from the same prior can be merged"):
            belief.merge(other)

    @pytest.mark.parametrize("rng", [None, 0, np.random.RandomState(0), np.random], ids=str)
    def test_draws_need_a_generator(self, belief, rng):
        with pytest.raises(TypeError, match=r"draws at random: pass rng=numpy.random.default_rng\(seed\)"):
            belief.sample(rng)

    @pytest.mark.parametrize("log_tail", [0.025, 1e-300, NAN, INF, -INF])
    def test_a_tail_is_given_by_its_logarithm(self, belief, log_tail):
        with pytest.raises(ValueError, match=r"log_tail must be (at least -200 and )?at most 0( and finite)?, got"):
            belief.credible_limit(log_tail)

    def test_a_width_is_one_number_or_one_per_arm(self, belief):
        with pytest.raises(ValueError, match="width must be one number or 5"):
            belief.limit([1.0, 2.0])
        with pytest.raises(TypeError, match="width must be numbers"):
            belief.limit("2")


@pytest.mark.parametrize("belief", GAUSSIAN, ids=repr)
def test_an_arm_without_rewards_sums_to_0(belief):
    with pytest.raises(ValueError, match="an arm without rewards sums to 0, got 7 for arm 3"):
        belief.observe_all([1, 1, 1, 0, 0], [1.0, 1.0, 1.0, 7.0, 0.0])


@pytest.mark.parametrize("belief", GAUSSIAN, ids=repr)
@pytest.mark.parametrize("arm", [5, -1])
def test_no_such_arm_elsewhere(belief, arm):
    with pytest.raises(ValueError, match="an arm must be"):
        belief.covariance_with(arm)
    with pytest.raises(ValueError, match="arms must be indices from 0 to 4"):
        belief.assume([arm])
    with pytest.raises(ValueError, match="arms must be a list of indices"):
        belief.assume(0)
    with pytest.raises(TypeError, match="arms must be whole numbers"):
        belief.assume([1.0])


def test_an_unknown_arm_has_no_draws():
    with pytest.raises(ValueError, match="infinite variance has no draws; observe each such arm once first"):
        GAUSSIAN_PRIORS["uninformative"].sample(np.random.default_rng(0))


@pytest.mark.parametrize("reward", [0.5, 2.0, -1.0, 1 + 1e-15])
def test_a_beta_belief_takes_0_or_1(reward):
    belief = BETA_PRIORS["uniform"]
    with pytest.raises(ValueError, match="a reward must be 0 or 1, got"):
        belief.observe(0, reward)
    with pytest.raises(ValueError, match="a reward must be 0 or 1, got"):
        belief.observe([0, 1], [1.0, reward])
    with pytest.raises(ValueError, match="sums must be whole numbers from 0 to counts for a Beta belief"):
        belief.observe_all([1, 0, 0, 0, 0], [reward, 0, 0, 0, 0])


def test_a_beta_belief_has_no_limits_of_tails_it_cannot_compute():
    with pytest.raises(ValueError, match="log_tail must be at least -200 and at most 0, got -1037"):
        UCL(a=50.0).index(BETA_PRIORS["uniform"], 10**9)


# kernels


@pytest.mark.parametrize("kernel", KERNELS)
class TestKernels:
    @pytest.mark.parametrize("length", [0.0, -1.0, [1.0, 0.0], [], [[1.0]]], ids=repr)
    def test_lengths_are_above_0(self, kernel, length):
        with pytest.raises(ValueError, match="length must be one number above 0, or one per dimension, got"):
            kernel(length)

    @pytest.mark.parametrize("length", [NAN, INF, [1.0, NAN]])
    def test_lengths_are_finite(self, kernel, length):
        with pytest.raises(ValueError, match="length must be finite"):
            kernel(length)

    @pytest.mark.parametrize("length", NOT_NUMBERS, ids=repr)
    def test_lengths_are_numbers(self, kernel, length):
        with pytest.raises(TypeError, match="length must be numbers"):
            kernel(length)

    def test_lengths_are_as_many_as_dimensions(self, kernel):
        with pytest.raises(ValueError, match="length has 2 entries but the points have 3 coordinates"):
            kernel([1.0, 2.0])(np.ones((4, 3)))

    def test_lengths_are_not_too_small_for_the_points(self, kernel):
        with pytest.raises(ValueError, match="length 1e-200 is too small for these points"):
            kernel(1e-200)([1e200, 2e200])

    @pytest.mark.parametrize("distance", ["manhattan", "", None, 3, ["euclidean"]], ids=repr)
    def test_distances_are_known(self, kernel, distance):
        with pytest.raises(ValueError, match="distance must be euclidean, cityblock, great_circle or chordal, got"):
            kernel(1.0, distance)

    def test_the_globe_has_one_length(self, kernel):
        with pytest.raises(ValueError, match="a chordal distance takes one length, in km, got 2"):
            kernel([1.0, 2.0], "chordal")

    @pytest.mark.parametrize("points", [[[91.0, 0.0]], [[0.0, 0.0], [-90.1, 0.0]], [[1.0, 2.0, 3.0]], [1.0, 2.0]])
    def test_the_globe_has_latitude_and_longitude(self, kernel, points):
        with pytest.raises(ValueError, match=r"latitude \(-90 to 90\) and longitude in degrees, in this order, got"):
            kernel(100.0, "chordal")(points)

    def test_points_have_as_many_coordinates_as_the_others(self, kernel):
        with pytest.raises(ValueError, match="points have 2 coordinates but others have 1"):
            kernel(1.0)([[0.0, 1.0]], [[0.0]])

    def test_points_are_finite_numbers(self, kernel):
        with pytest.raises(ValueError, match=r"points must be finite, got nan at index \(0, 1\)"):
            kernel(1.0)([[0.0, NAN]])
        with pytest.raises(TypeError, match="others must be numbers"):
            kernel(1.0)([0.0], ["a"])
        with pytest.raises(ValueError, match="points must be a matrix with one row per point"):
            kernel(1.0)([])

    @pytest.mark.parametrize("variance", [0.0, -1.0, NAN, INF])
    def test_a_scale_is_above_0(self, kernel, variance):
        with pytest.raises(ValueError, match=r"a kernel's variance must be above 0( and finite)?, got"):
            variance * kernel(1.0)

    @pytest.mark.parametrize("variance", ["2", None, 1j, [[1.0], [2.0, 3.0]]], ids=repr)
    def test_a_scale_is_a_number(self, kernel, variance):
        with pytest.raises(TypeError, match="a kernel's variance must be numbers"):
            kernel(1.0) * variance

    def test_a_scale_is_one_number(self, kernel):
        with pytest.raises(TypeError, match=r"a kernel's variance must be one number, got an array of shape \(2,\)"):
            kernel(1.0) * [1.0, 2.0]

    @pytest.mark.parametrize("other", [1.0, "a", None], ids=repr)
    def test_only_kernels_add_to_kernels(self, kernel, other):
        with pytest.raises(TypeError, match=f"a kernel must be called with two sets of points, .* got {other!r}"):
            kernel(1.0) + other
        with pytest.raises(TypeError, match=f"a kernel must be called with two sets of points, .* got {other!r}"):
            other + kernel(1.0)


@pytest.mark.parametrize("alpha", [0.0, -1.0, NAN, INF])
def test_alpha_is_above_0(alpha):
    with pytest.raises(ValueError, match="alpha must be above 0"):
        RationalQuadratic(1.0, alpha=alpha)
