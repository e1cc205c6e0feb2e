"""Numbers as a person writes them: the one formatter of sentences, tables, figures and pages."""

from __future__ import annotations

import math

LARGEST = 1e9
"""Numbers from here on are written with an exponent."""


def number(x: float, digits: int = 3) -> str:
    """Return a number in a few digits, a dash where there is none.

    >>> number(1234.5), number(0.31623), number(14.0), number(-2.345), number(3.1623, 2), number(0.00001)
    ('1,230', '0.316', '14', '-2.35', '3.2', '1e-05')
    >>> number(123456789.0), number(1.2e30)
    ('123,000,000', '1.2e+30')
    >>> number(float("nan")), number(float("-inf"))
    ('–', '-∞')
    """
    if math.isnan(x):
        return "–"
    if math.isinf(x):
        return "∞" if x > 0 else "-∞"
    rounded = float(f"{x:.{digits}g}") + 0.0  # no -0
    if abs(rounded) >= LARGEST:
        return f"{rounded:.{digits}g}"
    return f"{rounded:,.0f}" if abs(rounded) >= 10**digits else f"{rounded:,g}"


def span(low: float, high: float, digits: int = 3) -> str:
    """Return a range of numbers, or the number if the ends are the same.

    >>> span(1.0, 2.5), span(2.0, 2.0)
    ('1 to 2.5', '2')
    """
    return number(low, digits) if low == high else f"{number(low, digits)} to {number(high, digits)}"
