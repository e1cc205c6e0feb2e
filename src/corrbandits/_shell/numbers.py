"""Numbers as a person writes them: the one formatter of sentences, tables, figures and pages."""

from __future__ import annotations

import math
import re

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
"""ASCII digits and a point: float() also takes 1_000, which no spreadsheet means."""

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
    if abs(rounded) >= LARGEST or abs(rounded) < 10**digits:
        return f"{rounded:,.{digits}g}"
    return f"{rounded:,.0f}"


def counted(count: float, one: str, several: str = "") -> str:
    """Return how many of a thing there are, or were on average.

    >>> counted(1, "trial"), counted(0, "event"), counted(1234, "arm"), counted(2, "family", "families")
    ('1 trial', '0 events', '1,234 arms', '2 families')
    >>> counted(0.999999, "decision"), counted(2.5, "decision")
    ('1 decision', '2.5 decisions')
    """
    said = number(count) if count % 1 else f"{int(count):,}"
    return f"{said} {one if said == '1' else several or f'{one}s'}"


def exact(x: float) -> str:
    """Return a number with all its digits and no more, as rewards are shown.

    >>> exact(1000.0), exact(31.2), exact(-1234567.125), exact(0.1), exact(1e300), exact(float("nan"))
    ('1,000', '31.2', '-1,234,567.125', '0.1', '1e+300', '–')
    """
    return f"{x:,}".removesuffix(".0") if math.isfinite(x) else number(x)


def span(low: float, high: float, digits: int = 3) -> str:
    """Return a range of numbers, or the number if the ends are the same.

    >>> span(1.0, 2.5), span(2.0, 2.0)
    ('1 to 2.5', '2')
    """
    return number(low, digits) if low == high else f"{number(low, digits)} to {number(high, digits)}"
