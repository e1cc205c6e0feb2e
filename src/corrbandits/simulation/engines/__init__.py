"""The engines that play runs, and which of them plays what.

An engine is a subclass of `Engine` in a file of its own, and a line in `ENGINES`.
"""

from __future__ import annotations

from collections.abc import Sequence

from corrbandits.simulation.engines.compiled import Compiled
from corrbandits.simulation.engines.gpu import Gpu, GpuSameNoise, OnDevice, device, sooner
from corrbandits.simulation.engines.protocol import Advanced, Engine, Recorded, Runs, chosen, generators
from corrbandits.simulation.engines.reference import Reference

_BESIDE_CORES = GpuSameNoise()

ENGINES: dict[str, Engine] = {engine.name: engine for engine in (Gpu(), _BESIDE_CORES, Compiled(), Reference())}
"""Every engine by name, in the order in which engine="auto" tries them; the last plays anything."""


def engine_for(runs: Runs, name: str = "auto") -> Engine:
    """Return the engine of that name, or the first that can play these runs; refuse one that cannot.

    >>> from corrbandits import Beta, BernoulliBandit, Thompson
    >>> runs = Runs(Thompson(), Beta(arms=2), BernoulliBandit([0.2, 0.7]), horizon=50, seed=0, first=0, last=1)
    >>> engine_for(runs).name, ENGINES["compiled"].refuses(runs)
    ('reference', 'the belief is a Beta')
    """
    paying = {one: engine for one, engine in ENGINES.items() if name != "auto" or engine.pays(runs)}
    return chosen(paying, runs, name)


def engines_for(asked: Sequence[Runs], name: str = "auto") -> list[Engine]:
    """Return the engine of each who plays. All meet the same noise: that of the cores, if some are not on a device.

    >>> from corrbandits import UCL, GaussianBandit, Independent
    >>> runs = Runs(UCL(), Independent(noise_variance=1.0, arms=2), GaussianBandit([0.0, 1.0], 1.0), 50, 0, 0, 1)
    >>> [engine.name for engine in engines_for([runs, runs])]
    ['compiled', 'compiled']
    """
    engines = [engine_for(runs, name) for runs in asked]
    counted = [isinstance(engine, Gpu) for engine in engines]
    if all(counted):
        return engines
    return [_beside_cores(runs) if one else engine for one, engine, runs in zip(counted, engines, asked, strict=True)]


def has_device() -> bool:
    """Return whether there is an NVIDIA device; to look for one may take a second."""
    return device.present()


def on_device(games: Sequence[Runs], at_once: Sequence[float], in_all: Sequence[float]) -> list[bool]:
    """Return which of these games, each of a problem of its own, a device plays sooner, many at once, than the cores.

    Of games like each so many are played at once, by `play_on_device`, and so many in all: a kernel is compiled once.

    >>> from corrbandits import UCL, GaussianBandit, Independent
    >>> runs = Runs(UCL(), Independent(noise_variance=1.0, arms=2), GaussianBandit([0.0, 1.0], 1.0), 50, 0, 0, 1)
    >>> on_device([runs, runs], at_once=[5, 5], in_all=[100, 100])
    [False, False]
    """
    return sooner(games, at_once, in_all)


def play_on_device(games: Sequence[Runs], into: Sequence[Recorded], advanced: Advanced) -> None:
    """Play games that differ at once, each under the noise that it has on the cores, and recorded in its own arrays."""
    _BESIDE_CORES.play_each(games, into, advanced)


def _beside_cores(runs: Runs) -> Engine:
    """Return who plays, under the noise of the cores, runs for which a device would pay under its own."""
    cores = {name: engine for name, engine in ENGINES.items() if not isinstance(engine, OnDevice)}
    return _BESIDE_CORES if _BESIDE_CORES.is_faster(runs) else chosen(cores, runs, "auto")


__all__ = [
    "ENGINES",
    "Advanced",
    "Engine",
    "Recorded",
    "Runs",
    "chosen",
    "engine_for",
    "engines_for",
    "generators",
    "has_device",
    "on_device",
    "play_on_device",
]
