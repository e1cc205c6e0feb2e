"""The surfaces of [truth] that change with time: drift, switches, seasons, or a record."""

from __future__ import annotations

from typing import Any

from corrbandits._core import checks
from corrbandits._shell.toml import Table
from corrbandits.environments import ChangingBandit, series
from corrbandits.experiment.arms import Arms
from corrbandits.experiment.building import kernel_in

MAKERS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "drift": (series.drift, ("scale",)),
    "switches": (series.switches, ("every", "at")),
    "seasons": (series.seasons, ("period",)),
}
"""What draws each kind of change, and what of it is said besides the kernel."""

CHANGING = (*MAKERS, "recorded")
"""How [truth] can describe means that change."""

EXAMPLES = {
    "drift": "scale = 200.0",
    "switches": "every = 300",
    "seasons": "period = 365",
}


def changing_in(truth: Table, arms: Arms, way: str, horizon: int) -> ChangingBandit:
    """Return the arms of an experiment with means that change for as long as the run lasts."""
    noise = truth.need("noise_variance", "noise_variance = 10.0")
    if "rewards" in truth.values and truth.choice("rewards", {"gaussian": False, "bernoulli": True}):
        raise truth.error(f"rewards must be gaussian where means change, as with {way}. Remove it.", "rewards")
    if way != "recorded":
        return _drawn(truth.table(way, _example(way)), arms, way, {"steps": horizon, "noise_variance": noise})
    with truth.blame(way):
        file = truth.file.parent / checks.text(way, truth.values[way])
        found = series.recorded(file, noise_variance=noise, coordinates=arms.places, shape=arms.shape)
        if found.horizon < horizon:
            raise ValueError(
                f"recorded must have a column for each of the {horizon:,} decisions of the run, but {file} has "
                f"{found.horizon:,}. Take a shorter horizon in [run]."
            )
        return found


def _drawn(table: Table, arms: Arms, way: str, given: dict[str, Any]) -> ChangingBandit:
    make, own = MAKERS[way]
    kernel = kernel_in(table, "kernel", others=("seed", "mean", *own))
    said = {key: table.values[key] for key in own if key in table.values}
    if not said:
        table.need(own[0], EXAMPLES[way])
    with table.blame(own[0]):
        seed, mean = table.need("seed", "seed = 1"), table.values.get("mean", 0.0)
        found: ChangingBandit = make(
            kernel, arms.coordinates(), seed=seed, mean=mean, shape=arms.shape, **said, **given
        )
        return found


def _example(way: str) -> str:
    return f'{way} = {{ kernel = "matern52", length = 2.0, variance = 100.0, {EXAMPLES[way]}, seed = 1 }}'
