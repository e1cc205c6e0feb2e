"""Ratios of regrets: how they are written, and how they are coloured, blue below 1 and brown above."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from corrbandits._shell.numbers import number

# blue to orange by way of a light grey: told apart by every kind of colour vision, and dark at both ends
COLOURS = ("#0b3c6f", "#5b8db8", "#f4f2ee", "#e39a68", "#a13c0c")
NEAR_ONE = 0.05  # a ratio nearer to 1 is written in more digits: a rounded 1 would hide on which side it is
LEAST_BOUND, MOST_BOUND, MOST_DOUBLINGS = 1.5, 1e3, 4


def ratio_text(ratio: float) -> str:
    """Return a ratio as its cell shows it: in two digits, or three decimals near 1.

    >>> [ratio_text(x) for x in (0.254, 0.985, 1.022, 1.0, 2.345)]
    ['0.25', '0.985', '1.022', '1', '2.3']
    """
    return number(round(ratio, 3), 4) if abs(ratio - 1) < NEAR_ONE else number(ratio, 2)


def colour_limit(ratio: Sequence[Any]) -> float:
    """Return the ratio at which colours are darkest, the same way up and down.

    >>> colour_limit([np.array([[0.25, 1.0], [np.nan, 2.0]])]), colour_limit([np.array([[1.1, 0.0]])])
    (4.0, 1.5)
    """
    every = np.concatenate([np.ravel(values) for values in ratio])
    every = every[np.isfinite(every) & (every > 0)]
    return float(np.clip(np.exp(np.abs(np.log(every)).max(initial=0.0)), LEAST_BOUND, MOST_BOUND))


def ratio_ticks(most: float) -> list[tuple[float, str]]:
    """Return ratios to write beside the colours, with how they are written.

    >>> [text for _, text in ratio_ticks(5.0)], [text for _, text in ratio_ticks(300.0)]
    (['1/4', '1/2', '1', '2', '4'], ['1/100', '1/10', '1', '10', '100'])
    """
    step = 2 if most < 2 ** (MOST_DOUBLINGS + 1) else 10
    powers = range(1, int(np.log(most * (1 + 1e-12)) / np.log(step)) + 1)
    up = [(float(step**n), f"{step**n:,}") for n in powers]
    down = [(1 / value, f"1/{text}") for value, text in reversed(up)]
    return [*down, (1.0, "1"), *up] if up else [(1 / most, number(1 / most, 2)), (1.0, "1"), (most, number(most, 2))]
