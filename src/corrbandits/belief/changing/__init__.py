"""Beliefs on mean rewards that change with time.

    base         `ChangingBelief`: the present, what was told and when, merging, mirror images.
    drifting     `Drifting`: means that drift about a prior, with a scale that is known, or learnt (mixture).
    windowed     `Windowed`: only the latest rewards count.
    discounted   `Discounted`: rewards count less the older they are.

Here, and only here, the order of rewards matters.
"""

from corrbandits.belief.changing.base import ChangingBelief
from corrbandits.belief.changing.discounted import Discounted
from corrbandits.belief.changing.drifting import Drifting, LearntScale
from corrbandits.belief.changing.windowed import Windowed

__all__ = ["ChangingBelief", "Discounted", "Drifting", "LearntScale", "Windowed"]
