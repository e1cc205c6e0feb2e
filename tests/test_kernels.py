import dataclasses
import functools
import itertools
import math
import operator
import pickle

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.gaussian_process import kernels as sk

import corrbandits.kernels
from corrbandits.belief import Correlated, Implicit, Refitting
from corrbandits.kernels import (
    KERNELS,
    KINDS,
    Exponential,
    Kernel,
    Matern32,
    Matern52,
    RationalQuadratic,
    SquaredExponential,
    Stationary,
    WithDeviations,
    made_of_ours,
)
from corrbandits.kernels.stationary import EARTH_RADIUS_KM, _distances
from tests.support.contracts import QUICK

RNG = np.random.default_rng(0)
POINTS, OTHERS = RNG.normal(0, 3, (30, 3)), RNG.normal(0, 3, (20, 3))
GLOBE = np.stack([np.degrees(np.arcsin(RNG.uniform(-1, 1, 60))), RNG.uniform(-180, 180, 60)], axis=1)
ALL = [Exponential, SquaredExponential, Matern32, Matern52, RationalQuadratic]
OTHER_THAN_EXPONENTIAL = ALL[1:]

# each correlation once more, as its textbook has it
TEXTBOOK = {
    Exponential: lambda r: np.exp(-r),
    SquaredExponential: lambda r: np.exp(-(r**2) / 2),
    Matern32: lambda r: (1 + 3**0.5 * r) * np.exp(-(3**0.5) * r),
    Matern52: lambda r: (1 + 5**0.5 * r + 5 / 3 * r**2) * np.exp(-(5**0.5) * r),
    RationalQuadratic: lambda r: 1 / (1 + r**2 / 2),
}


@pytest.mark.parametrize("length", [2.5, (0.5, 2.0, 7.0)], ids=["one length", "a length per dimension"])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (Exponential, lambda length: sk.Matern(length, nu=0.5)),
        (SquaredExponential, sk.RBF),
        (Matern32, lambda length: sk.Matern(length, nu=1.5)),
        (Matern52, lambda length: sk.Matern(length, nu=2.5)),
    ],
)
def test_kernels_are_those_of_scikit_learn(ours, theirs, length):
    assert ours(length)(POINTS, OTHERS) == pytest.approx(theirs(length)(POINTS, OTHERS), rel=1e-12, abs=1e-300)
    assert ours(length)(POINTS) == pytest.approx(theirs(length)(POINTS), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 30.0])
def test_the_rational_quadratic_is_that_of_scikit_learn(alpha):
    theirs = sk.RationalQuadratic(2.5, alpha)(POINTS, OTHERS)
    assert RationalQuadratic(2.5, alpha=alpha)(POINTS, OTHERS) == pytest.approx(theirs, rel=1e-12)


def test_the_rational_quadratic_has_a_length_per_dimension_too():
    # scikit-learn's has one: stretch the points instead
    lengths = np.array([0.5, 2.0, 7.0])
    theirs = sk.RationalQuadratic(1.0, 0.7)(POINTS / lengths, OTHERS / lengths)
    assert RationalQuadratic(lengths, alpha=0.7)(POINTS, OTHERS) == pytest.approx(theirs, rel=1e-12)


def test_a_rational_quadratic_of_large_alpha_is_a_squared_exponential():
    assert RationalQuadratic(3.0, alpha=1e12)(POINTS) == pytest.approx(SquaredExponential(3.0)(POINTS), abs=1e-10)


def test_sums_products_and_scaling_are_those_of_scikit_learn():
    ours = 3 * Exponential(2.0) + Matern52(4.0) * (0.5 * SquaredExponential(5.0)) * 2.0
    theirs = 3.0 * sk.Matern(2.0, nu=0.5) + sk.Matern(4.0, nu=2.5) * sk.RBF(5.0)
    assert ours(POINTS, OTHERS) == pytest.approx(theirs(POINTS, OTHERS), rel=1e-12)
    assert ours(POINTS) == pytest.approx(theirs(POINTS), rel=1e-12)


def test_a_scikit_learn_kernel_adds_and_multiplies_on_the_right():
    points = POINTS[:5]
    mixed = Exponential(2.0) + sk.RBF(3.0)
    assert mixed(points) == pytest.approx(Exponential(2.0)(points) + SquaredExponential(3.0)(points))
    mixed = Exponential(2.0) * sk.RBF(3.0)
    assert mixed(points) == pytest.approx(Exponential(2.0)(points) * SquaredExponential(3.0)(points))


def test_a_plain_function_adds_and_multiplies_on_either_side():
    def constant(x, y=None):
        return np.full((len(x), len(x if y is None else y)), 3.0)

    expected = Exponential(2.0)(POINTS)
    assert np.array_equal((constant + Exponential(2.0))(POINTS), 3 + expected)
    assert np.array_equal((Exponential(2.0) + constant)(POINTS), expected + 3)
    assert np.array_equal((constant * Exponential(2.0))(POINTS), 3 * expected)
    assert np.array_equal((Exponential(2.0) * constant)(POINTS), 3 * expected)


def test_a_numpy_number_scales_from_either_side():
    expected = 2.0 * Exponential(1.0)
    assert np.float64(2) * Exponential(1.0) == expected
    assert Exponential(1.0) * np.float64(2) == expected
    assert Exponential(1.0) * 2 == expected


def test_a_scikit_learn_kernel_serves_as_it_is():
    prior = Correlated(kernel=2.0 * sk.RBF(3.0), coordinates=POINTS, noise_variance=1.0)
    assert prior.covariance == pytest.approx((2 * SquaredExponential(3.0))(POINTS), rel=1e-12)


@pytest.mark.parametrize("kernel", ALL)
def test_kernels_are_frozen_and_equal_when_their_fields_are(kernel):
    assert kernel([1.0, 2.0]) == kernel((1, 2)) == kernel(np.array([1.0, 2.0]))
    assert hash(kernel([1.0, 2.0])) == hash(kernel((1.0, 2.0)))
    assert kernel(1.0) != kernel(2.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        kernel(1.0).length = 2.0


@pytest.mark.parametrize("kernel", ALL)
def test_a_vector_is_points_on_a_line(kernel):
    assert np.array_equal(kernel(2.0)([0.0, 1.0, 5.0]), kernel(2.0)([[0.0], [1.0], [5.0]]))


@pytest.mark.parametrize("kernel", ALL)
@pytest.mark.parametrize("distance", ["euclidean", "chordal"])
def test_points_far_apart_are_uncorrelated_and_never_nan(kernel, distance):
    if distance == "euclidean":
        for far in ([-1e300, 0.0, 1e300], [-1.7e308, 0.0, 1.7e308]):
            assert kernel(1.0)(far) == pytest.approx(np.eye(3), abs=1e-15)
            assert kernel((1.0, 1e300))([[x, x] for x in far]) == pytest.approx(np.eye(3), abs=1e-15)
    else:
        for tiny in (1e-200, 1e-320):
            assert kernel(tiny, distance=distance)([[0.0, 0.0], [1.0, 1.0]]) == pytest.approx(np.eye(2), abs=1e-15)


@pytest.mark.parametrize("distance", ["cityblock", "great_circle"])
def test_the_exponential_too_is_never_nan(distance):
    points = [[0.0, 0.0], [1.0, 1.0]] if distance == "great_circle" else [[-1e300, 1e308], [1e300, -1e308]]
    length = 1e-320 if distance == "great_circle" else 1.0
    assert Exponential(length, distance=distance)(points) == pytest.approx(np.eye(2), abs=1e-15)


# distances


def test_city_block_distances_add_up():
    expected = [
        [np.exp(-sum(abs(a - b) / c for a, b, c in zip(x, y, (1, 2, 3), strict=True))) for y in OTHERS] for x in POINTS
    ]
    assert Exponential((1.0, 2.0, 3.0), "cityblock")(POINTS, OTHERS) == pytest.approx(np.array(expected), rel=1e-12)


@QUICK
@given(st.lists(st.tuples(st.floats(-90, 90), st.floats(-360, 360)), min_size=2, max_size=2))
def test_great_circles_are_haversines(pair):
    with mpmath.workdps(40):
        (a, b), (c, d) = (map(mpmath.radians, map(mpmath.mpf, point)) for point in pair)
        h = mpmath.sin((a - c) / 2) ** 2 + mpmath.cos(a) * mpmath.cos(c) * mpmath.sin((b - d) / 2) ** 2
        km = 2 * EARTH_RADIUS_KM * mpmath.asin(mpmath.sqrt(h))
        # a chord is good to some 1e-16 of the diameter, so the arc to sqrt of that near the antipode: a decimetre
        nearly_opposite = km > 20_000
        correlation = Exponential(1000.0, "great_circle")(*([point] for point in pair))[0, 0]
        assert abs(-1000 * mpmath.log(correlation) - km) <= (2e-4 if nearly_opposite else 1e-8)
        chord = 2 * EARTH_RADIUS_KM * mpmath.sin(km / (2 * EARTH_RADIUS_KM))
        correlation = Exponential(1000.0, "chordal")(*([point] for point in pair))[0, 0]
        assert abs(-1000 * mpmath.log(correlation) - chord) <= 1e-8


def test_the_pole_has_every_longitude():
    assert Exponential(1.0, "great_circle")([[90.0, 0.0]], [[90.0, 77.0], [90.0, 540.0]]) == pytest.approx(
        1.0, abs=1e-9
    )


@pytest.mark.parametrize("length", [0.1, 3.0, 50.0])
def test_the_exponential_of_city_block_distances_is_positive_definite(length):
    assert np.linalg.eigvalsh(Exponential(length, "cityblock")(POINTS))[0] > 0


@pytest.mark.parametrize("length", [100.0, 5_000.0, 100_000.0])
def test_the_exponential_of_great_circles_is_positive_definite(length):
    assert np.linalg.eigvalsh(Exponential(length, "great_circle")(GLOBE))[0] > 0


@pytest.mark.parametrize("kernel", ALL)
@pytest.mark.parametrize("length", [100.0, 5_000.0, 20_000.0])
def test_chords_suit_every_kernel(kernel, length):
    S = kernel(length, distance="chordal")(GLOBE)
    latitude, longitude = np.radians(GLOBE).T
    cosine = np.outer(np.sin(latitude), np.sin(latitude)) + np.outer(np.cos(latitude), np.cos(latitude)) * np.cos(
        longitude[:, None] - longitude
    )
    chord = EARTH_RADIUS_KM * np.sqrt(np.maximum(2 - 2 * cosine, 0))  # law of cosines: half the digits near 0
    assert pytest.approx(TEXTBOOK[kernel](chord / length), abs=1e-6) == S
    eigenvalues = np.linalg.eigvalsh(S)
    assert eigenvalues[0] >= -60 * 1e-14 * eigenvalues[-1]
    assert Correlated(kernel=kernel(length, distance="chordal"), coordinates=GLOBE, noise_variance=1.0).arms == 60


@pytest.mark.parametrize("kernel", OTHER_THAN_EXPONENTIAL)
def test_other_kernels_of_city_block_distances_are_indefinite_and_refused(kernel):
    grid = np.array(list(itertools.product(range(6), repeat=2)), dtype=float)
    distance = np.abs(grid[:, None] - grid).sum(axis=2)
    eigenvalues = np.linalg.eigvalsh(TEXTBOOK[kernel](distance / 10))
    assert eigenvalues[0] < -0.1  # of some 30: rounding is 1e-14
    with pytest.raises(ValueError, match=f"{kernel.__name__} of a cityblock distance is not a covariance.*negative"):
        kernel(10.0, "cityblock")


@pytest.mark.parametrize("kernel", OTHER_THAN_EXPONENTIAL)
def test_other_kernels_of_great_circles_are_indefinite_and_refused(kernel):
    equator = np.arange(12) * np.pi / 6 * EARTH_RADIUS_KM
    along = np.abs(equator[:, None] - equator)
    distance = np.minimum(along, 2 * np.pi * EARTH_RADIUS_KM - along)
    eigenvalues = np.linalg.eigvalsh(TEXTBOOK[kernel](distance / 30_000))
    assert eigenvalues[0] < -0.01  # of some 10: rounding is 1e-14
    with pytest.raises(ValueError, match=f"{kernel.__name__} of a great_circle distance.*distance='chordal'"):
        kernel(30_000.0, "great_circle")


def test_deviations_scale_each_point_by_its_own():
    rng = np.random.default_rng(0)
    where, deviation = rng.normal(size=(7, 2)), rng.uniform(0, 3, size=7)
    points = np.column_stack([where, deviation])
    kernel = WithDeviations(Exponential(2.0))
    expected = np.diag(deviation) @ np.exp(-cdist(where, where) / 2.0) @ np.diag(deviation)
    assert kernel(points) == pytest.approx(expected)
    assert kernel(points[:2], points[2:]) == pytest.approx(expected[:2, 2:])
    assert kernel != WithDeviations(Exponential(3.0))
    for bad in ([[1.0, 2.0, -1.0]], [[1.0]], [3.0]):
        with pytest.raises(ValueError, match="standard deviation"):
            kernel(bad)


# --- what a kernel says of itself ----------------------------------------------------------------------------------

EACH = [Exponential(3.0), SquaredExponential((1.0, 2.0)), Matern32(700.0, distance="chordal"), Matern52(2.0)]


@pytest.mark.parametrize("kernel", [*EACH, RationalQuadratic(2.0, alpha=0.7)], ids=str)
@pytest.mark.parametrize("wrap", [lambda k: k, lambda k: 3 * k, lambda k: k + 2 * k, lambda k: k * (k + k)])
def test_a_stretched_kernel_at_stretched_points_is_the_kernel(kernel, wrap):
    made = wrap(kernel)
    near = np.array([[1e-3, 2e-3], [4e-3, 1e-3], [0.0, 5e-3]])  # so small that a chord stretches as the plane does
    np.testing.assert_allclose(made.stretched(2.0)(2 * near), made(near), rtol=1e-9)


def test_deviations_are_not_stretched():
    where = np.array([[0.0, 2.0], [3.0, 5.0]])
    further = where * [2.0, 1.0]
    kernel = WithDeviations(Exponential(3.0))
    np.testing.assert_array_equal(kernel.stretched(2.0)(further), kernel(where))
    assert kernel.has_deviations
    assert (2 * kernel).has_deviations
    assert not Exponential(3.0).has_deviations


def test_scaling_multiplies_the_variance_and_nothing_else():
    two = Exponential(3.0) + Matern32(1.0)
    for kernel in (Exponential(3.0), 4 * Exponential(3.0), two, 4 * two):
        np.testing.assert_allclose(kernel.scaled(0.5)([0.0, 1.0]), 0.5 * kernel([0.0, 1.0]), rtol=1e-15)
    assert (4 * two).scaled(0.5) == 2.0 * two


def test_a_kernel_of_ones_own_needs_only_its_covariance():
    class Brownian(Kernel):
        def __call__(self, points, others=None):
            x = np.asarray(points, dtype=float)
            return np.minimum(x, (x if others is None else np.asarray(others, dtype=float)).T)

        def __repr__(self):
            return "Brownian()"

    own, line = Brownian(), np.arange(1.0, 4.0)[:, None]
    assert own.parts == {}
    assert own.factored() is None
    assert not own.depends_on_offset
    assert not own.has_deviations
    assert not made_of_ours(own + Exponential(1.0))
    assert own.in_words() == "Brownian()"
    for kernel in (own, 2 * own, own + Exponential(1.0)):
        with pytest.raises(TypeError, match=r"so that its length can be varied, got Brownian\(\)"):
            kernel.stretched(2.0)
    for kind in (Correlated, Implicit):
        belief = kind(kernel=2 * own, coordinates=line, noise_variance=1.0).observe(0, 3.0)
        np.testing.assert_allclose(belief.mean, [2.0, 2.0, 2.0], rtol=1e-12)
        assert math.isfinite(belief.log_evidence())
    assert Correlated(kernel=own, coordinates=line, noise_variance=1.0).in_words().startswith("a covariance of all")


def test_a_correlation_of_ones_own_can_be_fitted_once_it_has_a_slope():
    class Own(Stationary):
        def correlation(self, r):
            return np.exp(-r)

    class Fitted(Own):
        def slope(self, r):
            return -r * np.exp(-r)

    assert (3 * Own(2.0)).factored() == (3.0, Own(2.0))
    assert Own(2.0).in_words() == "own kernel of length 2"
    with pytest.raises(ValueError, match="Own of a cityblock distance is not a covariance"):
        Own(1.0, distance="cityblock")
    with pytest.raises(TypeError, match=r"cannot be fitted, because it does not define slope"):
        Refitting(kernel=Own(1.0), coordinates=range(9), noise_variance=0.1)
    ours, theirs = (
        Refitting(kernel=kind(1.0), coordinates=range(9), noise_variance=0.1).observe(range(9), np.sin(range(9)))
        for kind in (Exponential, Fitted)
    )
    assert theirs.length == ours.length


def test_the_table_names_every_kernel_of_the_package():
    made = {kind for kind in vars(corrbandits.kernels).values() if isinstance(kind, type) and issubclass(kind, Kernel)}
    assert set(KINDS.values()) == made - {Kernel, Stationary}
    assert list(KERNELS) == ["exponential", "squared_exponential", "matern32", "matern52", "rational_quadratic"]


@pytest.mark.parametrize("dimensions", [1, 2, 3, 9])
@pytest.mark.parametrize("scale", [1.0, 1e-160, 1e200])
def test_distances_have_the_bits_of_scipys(dimensions, scale):
    rng = np.random.default_rng(dimensions)
    x, y = scale * rng.standard_normal((513, dimensions)), scale * rng.standard_normal((129, dimensions))
    assert (_distances(x, y) == cdist(x, y)).all()
    assert (_distances(x, y, cityblock=True) == cdist(x, y, "cityblock")).all()


def test_kernels_nested_too_deep_are_refused_and_those_allowed_can_be_used_in_every_way():
    one = Exponential(1.0)
    deep = functools.reduce(operator.add, [one] * 101)
    for kernels in ([deep, one], [one] * 1_200):
        with pytest.raises(ValueError, match="a kernel must be nested at most 100 deep, got more"):
            functools.reduce(operator.add, kernels)
    assert deep([0.0]).tolist() == [[101.0]]
    assert hash(deep) == hash(pickle.loads(pickle.dumps(deep)))
    assert deep.stretched(2.0)([0.0], [2.0]) == pytest.approx(101 * np.exp(-1))
    assert repr(deep).count("Exponential") == 101
    many = [one] * 1_024
    while len(many) > 1:
        many = [one + other for one, other in zip(many[::2], many[1::2], strict=True)]
    assert many[0]([0.0]).tolist() == [[1024.0]]
