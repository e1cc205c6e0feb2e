import threading
from decimal import Decimal, localcontext

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from corrbandits._core.covariances import correlations, refuse_indefinite, spreads, weighted_squares
from corrbandits._core.draws import covariance_root, least_share, posterior_draw
from corrbandits._core.gaussian import condition, consistent_row, shrink, upper_quantile
from corrbandits._core.single_thread import one_thread
from corrbandits.kernels import Exponential, SquaredExponential
from tests.support.contracts import GRID, QUICK, decimals, inverse


def random_covariance(rng, n, rank=None):
    root = rng.standard_normal((n, rank or n)) * 10 ** rng.uniform(-2, 2, (n, 1))
    return root @ root.T


# quantiles


@pytest.mark.parametrize("log_tail", [-1e-9, -0.1, -0.69, -1.0, -3.7, -30.0, -700.0, -746.0, -1100.0, -1e6])
def test_quantiles_come_from_the_tail(log_tail):
    with mpmath.workdps(40):
        z = mpmath.mpf(float(upper_quantile(log_tail)))
        log_survival = mpmath.log(mpmath.erfc(z / mpmath.sqrt(2)) / 2)
        hazard = mpmath.npdf(z) / mpmath.exp(log_survival)  # |d log P(Z > z) / dz|
        assert abs(log_survival - log_tail) / hazard <= 1e-11 * max(abs(z), 0.1)


@QUICK
@given(st.floats(-1e5, -1e-12), st.floats(-1e5, -1e-12))
def test_a_smaller_tail_has_a_larger_quantile(one, other):
    assert (one <= other) == (upper_quantile(one) >= upper_quantile(other)) or one == other


# the rank-one update


@pytest.mark.parametrize("noise", [1e-6, 1.0, 1e6])
def test_shrinking_adds_to_the_precision(noise):
    rng = np.random.default_rng(0)
    S = refuse_indefinite(random_covariance(rng, 6))
    new = shrink(S, 2, noise)
    with localcontext(prec=60):
        precision = inverse(decimals(S))
        precision[2, 2] += 1 / Decimal(noise)
        exact = inverse(precision).astype(float)
    scale = np.sqrt(np.outer(exact.diagonal(), exact.diagonal()))
    assert (np.abs(new - exact) <= 1e-7 * scale).all()  # the condition number is some 1e8
    assert np.array_equal(new, new.T)
    assert (new.diagonal() <= S.diagonal()).all()


def test_the_arm_taken_keeps_its_digits_however_small_its_variance():
    S = np.array([[1.0, 0.5], [0.5, 1.0]])
    for _ in range(1000):
        S = shrink(S, 0, 1e-9)
    # 1000 rewards are one of noise 1e-12: S_00 = 1e-12 / (1 + 1e-12), S_01 = S_00 / 2
    assert S[0, 0] == pytest.approx(1e-12 / (1 + 1e-12), rel=1e-12)
    assert S[0, 1] == pytest.approx(0.5e-12 / (1 + 1e-12), rel=1e-12)
    assert S[1, 1] == pytest.approx(0.75, rel=1e-9)


@pytest.mark.parametrize("n", [*range(1, 40), 63, 64, 65, 100, 101, 127, 255, 300, 512, 513, 700])
def test_every_entry_is_the_same_product_subtracted(n):
    S = refuse_indefinite(random_covariance(np.random.default_rng(n), n))
    arm, noise = n // 3, 0.7
    g = S[arm] / np.sqrt(noise + S[arm, arm])
    others = np.flatnonzero(np.arange(n) != arm)
    both = np.ix_(others, others)
    expected = (S - np.multiply.outer(g, g))[both]
    np.fill_diagonal(expected, np.maximum(expected.diagonal(), 0.0))
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            new = shrink(S, arm, noise)
        assert np.array_equal(new, new.T)
        assert np.array_equal(new[both], expected)


def test_variance_and_noise_beyond_doubles_are_refused():
    with pytest.raises(OverflowError, match="sum to more than a double can hold; measure rewards in a larger unit"):
        shrink(np.array([[1.7e308]]), 0, 1.7e308)


def test_shrinking_does_not_touch_what_it_is_given():
    S = np.array([[2.0, 1.0], [1.0, 2.0]])
    shrink(S, 0, 1.0)
    assert S.tolist() == [[2, 1], [1, 2]]


def test_a_row_beyond_all_correlation_is_brought_back():
    S = np.array([[1e-20, 1e-9, -3.0], [1e-9, 1.0, 0.5], [-3.0, 0.5, 4.0]])
    deviation = np.sqrt(S.diagonal())
    assert consistent_row(S, deviation, 0) == pytest.approx([1e-20, 1e-10, -2e-10], rel=1e-12)
    assert np.array_equal(consistent_row(S, deviation, 1)[1:], S[1, 1:])
    new = shrink(S, 0, 1e-30)
    assert (new.diagonal() >= 0).all()
    assert (new.diagonal() <= S.diagonal()).all()


# all rewards at once


def test_conditioning_on_nothing_returns_copies():
    mean, S = np.zeros(2), np.eye(2)
    new_mean, new_S = condition(mean, S, np.ones(2), np.zeros(2, dtype=np.int64), np.zeros(2))
    assert new_mean is not mean
    assert new_S is not S
    assert np.array_equal(new_S, S)


@pytest.mark.parametrize("noise", [1e-15, 1e-16, 1e-17, 1e-30])
def test_twins_measured_with_next_to_no_noise(noise):
    # M = 11' + noise I is singular in doubles; the twins' mean reward is the average, their variance noise / 2
    S0 = np.ones((3, 3))
    mean, S = condition(np.zeros(3), S0, np.full(3, noise), np.array([1, 1, 0]), np.array([3.0, 3.0, 0.0]))
    assert mean == pytest.approx([3.0] * 3, rel=1e-12)
    assert (S.diagonal() >= 0).all()
    assert (S.diagonal()[:2] <= noise).all()
    assert S[2, 2] <= 4 * np.finfo(float).eps  # what S0 - S0 leaves


def test_known_arms_learn_nothing_and_teach_nothing():
    S0 = np.diag([0.0, 1.0])
    mean, S = condition(np.array([5.0, 0.0]), S0, np.ones(2), np.array([10, 1]), np.array([90.0, 4.0]))
    assert mean == pytest.approx([5.0, 2.0], rel=1e-15)
    assert pytest.approx(np.diag([0.0, 0.5]), rel=1e-15) == S


# roots and correlations


@pytest.mark.parametrize("rank", [1, 3, 8])
def test_the_root_multiplies_back(rank):
    S = random_covariance(np.random.default_rng(rank), 8, rank)
    R = covariance_root(S)
    scale = np.sqrt(np.outer(S.diagonal(), S.diagonal()))
    assert (np.abs(R @ R.T - S) <= 1e-13 * scale).all()


def test_the_root_of_a_covariance_singular_to_rounding():
    S = 10 * SquaredExponential(30.0)(GRID)
    R = covariance_root(S)
    assert np.abs(R @ R.T - S).max() <= 1e-12
    assert not covariance_root(np.zeros((3, 3))).any()


def test_correlations_are_bounded_and_1_on_the_diagonal():
    S = np.array([[4.0, 3.0, 1e-9], [3.0, 9.0, 0.0], [1e-9, 0.0, 0.0]])
    assert correlations(S).tolist() == [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert correlations(np.array([[1.0, 1.0 + 1e-9], [1.0 + 1e-9, 1.0]])).max() == 1.0


@pytest.mark.parametrize("n", [1, 2, 100, 255, 256, 257, 513, 700])
def test_spreads_are_those_of_the_correlations_in_every_strip(n):
    S = refuse_indefinite(random_covariance(np.random.default_rng(n), n, rank=3))
    S[n // 2] = S[:, n // 2] = 0.0  # one arm is known
    expected = np.sqrt(np.square(correlations(S)).sum(axis=1))
    assert spreads(S) == pytest.approx(expected, rel=1e-14)
    variance = np.where(S.diagonal() > 0, S.diagonal(), 1.0)
    squares = weighted_squares(S, 1 / variance) / variance
    squares[n // 2] = 1.0  # of a known arm with itself
    assert np.sqrt(squares) == pytest.approx(expected, rel=1e-13)


# draws of the posterior from draws of the prior


def map_of_draws(S0, S, A, D):
    """The matrix that a draw applies to N + k independent standard normals, column by column."""
    root, none = covariance_root(S0), np.zeros(A.size)
    of_prior = [posterior_draw(root, S, A, D, z, none) for z in np.eye(len(S0))]
    of_noise = [posterior_draw(root, S, A, D, np.zeros(len(S0)), np.sqrt(D) * e) for e in np.eye(A.size)]
    return np.array(of_prior + of_noise).T


@pytest.mark.parametrize(
    ("S0", "most"),
    [
        (10 * Exponential(3.0)(GRID), 10**7),
        (10 * SquaredExponential(1.0)(GRID), 10**7),
        (np.diag(10.0 ** np.arange(-6, 6)), 10**7),
        (10 * SquaredExponential(40.0)(GRID), 100),
        (10 * np.ones((100, 100)), 100),
        (10 * np.kron(np.eye(50), np.ones((2, 2))), 10**4),
        (np.diag([0.0, 1.0, 2.0]), 10**7),
    ],
    ids=["exponential", "smooth", "uneven", "singular to rounding", "rank one", "twins", "one known"],
)
def test_draws_have_exactly_the_covariance(S0, most):
    rng, n = np.random.default_rng(0), len(S0)
    noise = np.maximum(S0.diagonal(), 1e-3) * rng.uniform(0.5, 2, n)
    counts = np.ceil(most ** rng.uniform(0, 1, n)).astype(int) * (np.arange(n) % 3 < 2)
    counts[0] = most
    _, S = condition(np.zeros(n), S0, noise, counts, np.zeros(n))
    A = np.flatnonzero(counts)
    L = map_of_draws(S0, S, A, noise[A] / counts[A])
    assert (np.abs(L @ L.T - S) <= 1e-9 * np.sqrt(np.outer(S.diagonal(), S.diagonal()))).all()


def test_draws_of_a_nearly_singular_prior_are_trusted_less_far():
    well, ill = 10 * Exponential(3.0)(GRID), 10 * SquaredExponential(40.0)(GRID)
    assert least_share(covariance_root(well), well) == 1e-12
    assert (
        least_share(covariance_root(ill), ill)
        == least_share(np.ones((1, 3)).T @ [[1.0, 0, 0]], np.ones((3, 3)))
        == 1e-8
    )


# what is a covariance


def test_a_covariance_singular_to_rounding_is_accepted():
    for S in (10 * SquaredExponential(40.0)(GRID), np.ones((50, 50)), np.zeros((3, 3)), 1e300 * np.ones((5, 5))):
        assert np.array_equal(refuse_indefinite(S), S)
    assert np.linalg.eigvalsh(10 * SquaredExponential(40.0)(GRID))[0] < 0  # so it was worth a test


def test_the_smallest_eigenvalue_decides():
    # the eigenvalues of [[1, r], [r, 1]] are 1 - r and 1 + r; the line is at -2e-14 (1 + r)
    refuse_indefinite(np.array([[1.0, 1 + 2e-14], [1 + 2e-14, 1.0]]))
    with pytest.raises(ValueError, match=r"no negative eigenvalue, but its smallest is -1e-07 \(largest 2\)"):
        refuse_indefinite(np.array([[1.0, 1 + 1e-7], [1 + 1e-7, 1.0]]))
    with pytest.raises(ValueError, match="no negative eigenvalue"):
        refuse_indefinite(np.array([[1.0, 1 + 1e-13], [1 + 1e-13, 1.0]]))


def test_rounding_is_not_asymmetry():
    big = 1.7e308  # the sum of two such entries overflows
    S = np.array([[big, 1e308], [1e308 * (1 + 1e-15), big]])
    assert np.array_equal(refuse_indefinite(S), refuse_indefinite(S).T)
    with pytest.raises(ValueError, match=r"symmetric, but its entry \(0, 1\) is 0.5 and \(1, 0\) is 0.6"):
        refuse_indefinite(np.array([[1.0, 0.5], [0.6, 1.0]]))
    with pytest.raises(ValueError, match="symmetric"):
        refuse_indefinite(np.array([[1.0, 0.5], [0.5 + 1e-11, 1.0]]))


# BLAS


def threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_is_held_to_one_thread_and_given_back():
    covariance_root(np.eye(2))  # scipy's BLAS is loaded
    before = threads()
    assert before
    with one_thread(), one_thread():
        assert set(threads()) == {1}
    assert threads() == before
    with pytest.raises(ValueError, match="inside"), one_thread():
        raise ValueError("inside")
    assert threads() == before


def test_a_thread_that_never_came_first_is_held_too():
    covariance_root(np.eye(2))
    seen = []

    def look():
        with one_thread():
            seen.append(threads())

    with one_thread():  # this thread has set BLAS once
        pass
    with threadpool_limits(2, user_api="blas"):  # and holds threadpoolctl's control of it
        other = threading.Thread(target=look)
        other.start()
        other.join()
    assert set(seen[0]) == {1}


def test_blas_stays_held_until_the_last_thread_leaves():
    covariance_root(np.eye(2))
    before, inside, leave = threads(), threading.Event(), threading.Event()

    def hold():
        with one_thread():
            inside.set()
            leave.wait()

    other = threading.Thread(target=hold)
    with one_thread():
        other.start()
        inside.wait()
    assert set(threads()) == {1}
    leave.set()
    other.join()
    assert threads() == before


def test_the_rounding_allowed_to_an_eigenvalue_grows_with_the_number_of_arms():
    n = 100
    basis, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((n, n)))
    for smallest, accepted in ((-0.5e-14 * n, True), (-2e-14 * n, False)):
        S = (basis * np.append(smallest, np.ones(n - 1))) @ basis.T
        S = (S + S.T) / 2
        if accepted:
            np.testing.assert_array_equal(refuse_indefinite(S), S)
        else:
            with pytest.raises(ValueError, match="must have no negative eigenvalue, but its smallest is -"):
                refuse_indefinite(S)


def test_asymmetry_is_found_and_averaged_in_every_strip():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(600, 700))
    S = root @ root.T
    S = S / 2 + S.T / 2
    rounded = S.copy()
    rounded[599, 3] *= 1 + 1e-13
    rounded[10, 300] *= 1 - 1e-13
    assert np.array_equal(refuse_indefinite(rounded), rounded / 2 + rounded.T / 2)
    assert refuse_indefinite(S) is S
    S[520, 259] += 7.0
    with pytest.raises(ValueError, match=r"its entry \((259, 520|520, 259)\) is"):
        refuse_indefinite(S)


@pytest.mark.parametrize(("arms", "rank"), [(1, 1), (6, 6), (40, 40), (40, 7), (5, 0)])
def test_a_root_is_the_same_in_one_array_and_in_two(monkeypatch, arms, rank):
    wide = np.random.default_rng(3).standard_normal((arms, max(rank, 1))) * (rank > 0)
    S = wide @ wide.T
    in_two = covariance_root(S)
    monkeypatch.setattr("corrbandits._core.draws.SMALL", 0)
    assert np.array_equal(covariance_root(S), in_two)
    np.testing.assert_allclose(in_two @ in_two.T, S, atol=1e-12)
