"""Random numbers by counting: number n of run k is a function of the seed, k and n, whoever computes it and when.

    name       meaning
    counter    four words of 32 bits: n // 2 (62 bits), the stream (2 bits), the run (64 bits)
    key        two words of 32 bits, from the seed
    stream     0 for the environment's noise, 1 for the policy's own draws

The words come from Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011).
A block of four of them makes two numbers: uniform on [0, 1), 53 bits each, or standard normal, by the inverse of the
distribution function (Wichura, algorithm AS 241, 1988).
"""

from __future__ import annotations

import math

import numpy as np

from corrbandits.simulation.engines.gpu.compiling import pure

NOISE, CHOICES = 0, 1
"""The streams of a run."""

WORD = 0xFFFFFFFF
MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
WEYL = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10

_M0, _M1 = MULTIPLIERS
_W0, _W1 = WEYL


def key_of(seed: int) -> tuple[int, int]:
    """Return the two words that a seed stands for.

    >>> key_of(0) == key_of(1)
    False
    """
    first, second = np.random.SeedSequence(seed).generate_state(2, np.uint32).tolist()
    return first, second


@pure
def philox(c0: int, c1: int, c2: int, c3: int, k0: int, k1: int) -> tuple[int, int, int, int]:
    """Return the four words that Philox 4x32-10 makes of a counter and a key; products of words may wrap around."""
    for _ in range(ROUNDS):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1, c2, c3 = ((p1 >> 32) & WORD) ^ c1 ^ k0, p1 & WORD, ((p0 >> 32) & WORD) ^ c3 ^ k1, p0 & WORD
        k0, k1 = (k0 + _W0) & WORD, (k1 + _W1) & WORD
    return c0, c1, c2, c3


@pure
def words(k0: int, k1: int, run: int, stream: int, pair: int) -> tuple[int, int, int, int]:
    """Return the four words of a pair of numbers."""
    return philox(pair & WORD, ((pair >> 32) & 0x3FFFFFFF) | (stream << 30), run & WORD, (run >> 32) & WORD, k0, k1)


@pure
def uniforms(k0: int, k1: int, run: int, stream: int, pair: int) -> tuple[float, float]:
    """Return numbers 2 pair and 2 pair + 1 of a stream, uniform on [0, 1)."""
    a, b, c, d = words(k0, k1, run, stream, pair)
    return ((a << 21) | (b >> 11)) * 2.0**-53, ((c << 21) | (d >> 11)) * 2.0**-53


@pure
def normals(k0: int, k1: int, run: int, stream: int, pair: int) -> tuple[float, float]:
    """Return numbers 2 pair and 2 pair + 1 of a stream, standard normal; none is beyond 8.3."""
    a, b, c, d = words(k0, k1, run, stream, pair)
    return quantile((((a << 20) | (b >> 12)) + 0.5) * 2.0**-52), quantile((((c << 20) | (d >> 12)) + 0.5) * 2.0**-52)


@pure
def quantile(u: float) -> float:
    """Return Phi^-1(u), 0 < u < 1, to 1e-15 of itself."""
    q = u - 0.5
    if abs(q) <= 0.425:
        return q * central(0.180625 - q * q)
    r = math.sqrt(-math.log(min(u, 1.0 - u)))
    value = middle(r - 1.6) if r <= 5.0 else outer(r - 5.0)
    return value if q > 0.0 else -value


@pure
def central(r: float) -> float:
    """Return the quotient of AS 241 for 0.075 <= u <= 0.925."""
    above = (((((((2.5090809287301226727e3 * r + 3.3430575583588128105e4) * r + 6.7265770927008700853e4) * r
        + 4.5921953931549871457e4) * r + 1.3731693765509461125e4) * r + 1.9715909503065514427e3) * r
        + 1.3314166789178437745e2) * r + 3.3871328727963666080e0)  # fmt: skip
    below = (((((((5.2264952788528545610e3 * r + 2.8729085735721942674e4) * r + 3.9307895800092710610e4) * r
        + 2.1213794301586595867e4) * r + 5.3941960214247511077e3) * r + 6.8718700749205790830e2) * r
        + 4.2313330701600911252e1) * r + 1.0)  # fmt: skip
    return above / below


@pure
def middle(r: float) -> float:
    """Return the quotient of AS 241 for tails from exp(-25) to 0.075."""
    above = (((((((7.74545014278341407640e-4 * r + 2.27238449892691845833e-2) * r + 2.41780725177450611770e-1) * r
        + 1.27045825245236838258e0) * r + 3.64784832476320460504e0) * r + 5.76949722146069140550e0) * r
        + 4.63033784615654529590e0) * r + 1.42343711074968357734e0)  # fmt: skip
    below = (((((((1.05075007164441684324e-9 * r + 5.47593808499534494600e-4) * r + 1.51986665636164571966e-2) * r
        + 1.48103976427480074590e-1) * r + 6.89767334985100004550e-1) * r + 1.67638483018380384940e0) * r
        + 2.05319162663775882187e0) * r + 1.0)  # fmt: skip
    return above / below


@pure
def outer(r: float) -> float:
    """Return the quotient of AS 241 for tails below exp(-25)."""
    above = (((((((2.01033439929228813265e-7 * r + 2.71155556874348757815e-5) * r + 1.24266094738807843860e-3) * r
        + 2.65321895265761230930e-2) * r + 2.96560571828504891230e-1) * r + 1.78482653991729133580e0) * r
        + 5.46378491116411436990e0) * r + 6.65790464350110377720e0)  # fmt: skip
    below = (((((((2.04426310338993978564e-15 * r + 1.42151175831644588870e-7) * r + 1.84631831751005468180e-5) * r
        + 7.86869131145613259100e-4) * r + 1.48753612908506148525e-2) * r + 1.36929880922735805310e-1) * r
        + 5.99832206555887937690e-1) * r + 1.0)  # fmt: skip
    return above / below
