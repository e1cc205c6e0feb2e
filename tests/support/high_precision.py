"""The paper's and the errata's formulas with 60 digits, written from the print: what `theory` is held to."""

import mpmath
import numpy as np
from mpmath import mp, mpf

DIGITS = 60
LARGEST = mpf(np.finfo(float).max)


def exact(array):
    """A matrix of 60-digit numbers, each exactly the double it came from."""
    return mp.matrix(np.asarray(array, dtype=float).tolist())


def vector(values):
    return [mpf(float(x)) for x in values]


def tail(w):
    """P(z >= w)."""
    return mp.erfc(w / mp.sqrt(2)) / 2


def quantile(log_alpha):
    """Phi^-1(1 - alpha), by Newton's method on log P(z >= z) from the first inequality of Lemma 1 (ii)."""
    z = mp.sqrt(-2 * log_alpha)
    for _ in range(200):
        p = tail(z)
        step = (mp.log(p) - log_alpha) * p / mp.npdf(z)
        z += step
        if abs(step) < mpf(10) ** (10 - DIGITS) * (1 + abs(z)):
            return z
    raise ArithmeticError(log_alpha)


def assert_logs_close(got, wanted, tolerance=1e-10):
    """|got - wanted| <= tolerance max(1, |wanted|), infinite where no double holds it."""
    if wanted > LARGEST:
        assert got == np.inf
        return
    error = abs(mpf(float(got)) - wanted)
    assert error <= tolerance * max(1, abs(wanted)), (got, mpmath.nstr(wanted, 20))


def eta(gap, noise, K, a, T, discount):
    """max{1, ceil(B - discount)}, from the theorems' statements."""
    needed = 4 * noise / gap**2 * (2 * mp.log(K) + 2 * a * mp.log(T))
    return max(mpf(1), mp.ceil(needed - discount))


def theorem_1(means, mu0, noise, variance, K, a, T, epsilon, i):
    """eta_i, n hat_i(T) and the case, from eq. subopt-sel-extra; a variance of inf is its limit with Delta m = 0."""
    star = max(range(len(means)), key=lambda k: means[k])
    delta2 = [s / v for s, v in zip(noise, variance, strict=True)]
    dm = [m - u if v < mp.inf else mpf(0) for m, u, v in zip(means, mu0, variance, strict=True)]
    n = eta(means[star] - means[i], noise[i], K, a, T, delta2[i])

    def second(k, divisor):
        c1 = (1 - epsilon) / (1 + delta2[k] - epsilon)
        c2_delta2 = 1 - epsilon
        return 3 * a * c1 / (2 * (3 * a * c1 - 4)) * mp.exp(c2_delta2 * dm[k] ** 2 / (2 * variance[k] * divisor))

    first_star = max(
        mp.exp(2 * delta2[star] * dm[star] ** 2 / (3 * a * variance[star])),
        mp.exp(2 * dm[star] ** 2 / (3 * a * variance[star])),
    )
    left = first_star + second(star, 1)
    right = mp.exp(2 * delta2[i] * dm[i] ** 2 / (3 * a * variance[i] * n)) + second(i, n)
    luck = a / (K * (a - 1))
    if dm[star] > 0:
        return (n, left + right, 1) if dm[i] < 0 else (n, left + luck, 2)
    return (n, right + luck, 3) if dm[i] < 0 else (n, 2 * luck, 4)


def conditional(S):
    """sigma_cond_i^2 by its definition, a Schur complement."""
    n = S.rows
    found = []
    for i in range(n):
        others = [k for k in range(n) if k != i]
        if not others:
            found.append(S[0, 0])
            continue
        rest = mp.matrix([[S[p, q] for q in others] for p in others])
        row = mp.matrix([S[i, q] for q in others])
        found.append(S[i, i] - (row.T * mp.lu_solve(rest, row))[0])
    return found


def after(S, noise, counts):
    """The covariance after counts, (L0 + P^-1)^-1."""
    P_inverse = mp.diag([mpf(int(n)) / s for n, s in zip(counts, noise, strict=True)])
    return (S**-1 + P_inverse) ** -1


def beta(S, d, noise, nu):
    """beta_i, the double sum."""
    L0 = S**-1
    total = sum(abs(L0[k, j]) * abs(d[j]) for j in range(S.rows) for k in range(S.rows))
    return [mp.sqrt(s * (1 + s / v) / nu) * total for s, v in zip(noise, conditional(S), strict=True)]


def distance(S, d, noise, counts):
    """b = sqrt((L0 d)' S(t_init) (L0 d))."""
    v = S**-1 * mp.matrix(d)
    return mp.sqrt((v.T * after(S, noise, counts) * v)[0])


def initialise(S, noise, nu):
    """The arms of the initialisation phase, by the update of eq. sher-morr."""
    n, S, taken = S.rows, S.copy(), []
    while True:
        pending = [k for k in range(n) if S[k, k] > noise[k] / nu]
        if not pending:
            return taken
        k = max(pending, key=lambda j: S[j, j])
        column = S[:, k]
        S = S - column * column.T / (noise[k] + S[k, k])
        taken.append(k)


def printed_extra(beta_star, delta_star, beta_i, nu, a, c1):
    """n hat_i(T) of Theorem 2's statement, c2 the least that Lemma 2 allows."""
    c2 = c1 / (1 - c1)
    coefficient = 3 * a * c1 / (2 * (3 * a * c1 - 4))
    first = max(
        mp.exp(2 * beta_star**2 * delta_star / (3 * a * nu * (1 + delta_star))), mp.exp(2 * beta_star**2 / (3 * a))
    )
    second = coefficient * mp.exp(c2 * beta_i**2 / 2)
    return first + second + mp.exp(2 * beta_i**2 / (3 * a)) + second


def corrected_extra(b, a, c1):
    """The extra term of the corrected Theorem 2."""
    c2 = c1 / (1 - c1)
    return mp.exp(2 * b**2 / (3 * a)) + 3 * a * c1 / (3 * a * c1 - 4) * mp.exp(c2 * b**2 / 2)
