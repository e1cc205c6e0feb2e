"""A stress test, from what is asked to what was found."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits._shell.netcdf import load_dataset
from corrbandits._shell.outputs import write_file
from corrbandits.environments import Environment, landscapes
from corrbandits.policies import Policy, placed
from corrbandits.simulation.engines import Recorded
from corrbandits.stress.findings import HELPS, Row, findings, verdict
from corrbandits.stress.names import HELD, REFERENCES, SURVIVORS, truth_in_words
from corrbandits.stress.plan import Plan
from corrbandits.stress.playing import FORMAT, played
from corrbandits.stress.priors import Assumed, assumed, one_kernel, scales
from corrbandits.stress.sentences import sentences
from corrbandits.stress.settings import CONFIDENCE, LENGTH, Setting, numbers_to_try, varied
from corrbandits.stress.truth import spread_of

if TYPE_CHECKING:
    import xarray as xr

HORIZONS = 5
LEVEL = 0.95


@final
@dataclass(frozen=True)
class StressTest:
    """What `run` returns: regret by candidate, setting, run and time, and what follows from it.

    `data` is an xarray Dataset with `regret` (candidate, setting, run, time), NaN where a candidate was not played,
    `initialisation` (candidate, setting, run), the steps of initialisation in it; on `setting` the coordinates `kind`,
    `accuracy`, `confidence` and `length`, and on `run` the `surface` that it meets.
    """

    data: xr.Dataset

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the CSV: mean regret over runs and 95 % t-intervals, NaN with one run.

        Where survivors were played, "fixed" is the policy on its fixed prior in the same runs as they.
        """
        names: list[str] = self.data["candidate"].values.tolist()
        played = ~np.isnan(self.data["regret"].values[..., -1])
        rows = [
            row
            for i, name in enumerate(names)
            for j in range(played.shape[1])
            for row in self._rows(name, i, j, played[i, j])
        ]
        beside = played[[name in SURVIVORS for name in names]].any(axis=0)
        main = names.index(self.data.attrs["candidate"])
        return (*rows, *(row for j, there in enumerate(beside) for row in self._rows(HELD, main, j, there)))

    def _rows(self, name: str, i: int, j: int, there: Any) -> Iterator[Row]:
        """Yield the rows of a candidate in a setting, over these runs."""
        data, n = self.data, int(there.sum())
        if not n:
            return
        values, surface, names = data["regret"].values, data["surface"].values, data["candidate"].values.tolist()
        unknown = np.full(values.shape[1:], np.nan)
        references = [values[names.index(each)] if each in names else unknown for each in REFERENCES]
        setting = [data[field].values.tolist()[j] for field in Setting._fields]
        met = [there & (surface == k) for k in np.unique(surface[there])]
        initial = float(data["initialisation"].values[i, j][there].mean())
        for k, time in enumerate(data["time"].values.tolist()):
            regret = values[i, j, there, k]
            mean, margin = float(regret.mean()), _margin(regret)
            better = sum(verdict(values[i, j, of, k].mean(), references[0][j, of, k].mean()) == HELPS for of in met)
            margins = [_margin(regret - reference[j, there, k]) for reference in references]
            about: Any = (mean, mean - margin, mean + margin, initial, len(met), better, *margins)
            yield Row(*(name, *setting, time, n), *about)

    def to_csv(self) -> str:
        """Return a row per candidate, setting and time as CSV text, every number with all its digits."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows([value if isinstance(value, str) else repr(value) for value in row] for row in self.rows)
        return text.getvalue()

    def to_netcdf(self) -> memoryview:
        """Return what `save` writes: the same bytes for the same data, whatever the order of its parts."""
        import xarray as xr

        kept, names = ("regret", "initialisation"), ("candidate", *Setting._fields, "run", "surface", "time")
        named = {name: self.data[name].variable for name in names}
        about = {name: self.data.attrs[name] for name in sorted(self.data.attrs)} | {"format": FORMAT}
        data = xr.Dataset({name: self.data[name].variable for name in kept}, named, about)
        packed = {"zlib": True, "complevel": 1, "shuffle": True, "_FillValue": None}
        return data.to_netcdf(engine="h5netcdf", encoding=dict.fromkeys(kept, packed))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the test as NetCDF; a file already there is replaced once the new one is whole."""
        with self.to_netcdf() as content:
            write_file(path, content)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> StressTest:
        """Read a test that was saved."""
        data = load_dataset(path, "a stress test").drop_encoding()
        if data.attrs.get("format") != FORMAT:
            raise ValueError(f"{os.fspath(path)} is not a saved stress test: its format must be {FORMAT!r}.")
        texts = {name: (data[name].dims, data[name].values.astype(str)) for name in ("candidate", "kind")}
        attributes = {name: _plain(value) for name, value in data.attrs.items() if name != "format"}
        return StressTest(data.assign_coords(texts).drop_attrs(deep=False).assign_attrs(attributes))

    def findings(self) -> dict[str, Any]:
        """Return the numbers of the sentences, all from the means in the CSV; None where there is no such number."""
        return findings(self.rows, self.data.attrs)

    def sentences(self) -> list[str]:
        """Return what was found in plain words; the first sentence is the one to remember."""
        return sentences(self.findings(), self.data.attrs)


def run(
    policy: Policy,
    truth: Environment | Sequence[Environment],
    horizon: int,
    *,
    mean: Any = 0.0,
    kernel: Any = None,
    coordinates: Any = None,
    covariance: Any = None,
    noise_variance: Any = None,
    drift: float | None = None,
    kinds: Sequence[str] | None = None,
    accuracy: Mapping[str, Sequence[float]] | Sequence[float] | None = None,
    confidence: Sequence[float] = CONFIDENCE,
    length: Sequence[float] = LENGTH,
    times: Sequence[int] | None = None,
    runs: int = 100,
    seed: int = 0,
    survivors: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> StressTest:
    """Return what it costs a policy if its prior is wrong in its means, its variance, its length or its drift.

    The prior is `mean` and `kernel` (with `coordinates`, the truth's if left out), or `mean` and `covariance`, whose
    correlation scale is not varied: it has no length to multiply. `noise_variance` is the truth's if left out. With
    `drift` the means drift about the prior with this scale, as in `Drifting`.

    `truth` is one environment, or several plausible ones. Of `kinds`, all that there are if left out, the first is
    varied in pairs with variance and length; `accuracy` are the numbers tried of it, or a dictionary of numbers for
    each kind. The numbers that leave the prior as it is are added where they are missing. `times` are the horizons at
    which regret is kept, by default five; `survivors` says whether the surviving beliefs are played at the corners
    too, in at most 20 runs; they are for means that stay, and not played if the prior drifts.

    All settings and candidates meet the same surfaces and noise. Every run has an order of its own in which all of
    them meet the arms, so that it does not matter how they are listed. `checkpoint` names a directory from which the
    same call goes on after a kill; the result is the same, bit for bit, and whatever the `threads`.

    >>> from corrbandits import CorrelatedUCL, Exponential
    >>> from corrbandits.environments import landscapes
    >>> surface = landscapes.draw(Exponential(2.0), landscapes.grid(3, 3), noise_variance=1.0, seed=1)
    >>> rule, kernel = CorrelatedUCL(a=1.5), Exponential(2.0)
    >>> test = run(rule, surface, 100, mean=surface.means, kernel=kernel, runs=10, survivors=False)
    >>> dict(test.data.sizes)
    {'candidate': 5, 'setting': 73, 'run': 10, 'time': 5}
    >>> print(test.sentences()[1])
    At t = 100 the regret is 26.6 with your prior and 34.3 with the uninformative one: 22.3 % less.
    """
    horizon, surfaces = checks.integer("horizon", horizon, least=1), _surfaces(truth)
    if threads is not None:
        checks.integer("threads", threads, least=1)
    if not isinstance(policy, Policy):
        raise TypeError(f"policy must be a Policy such as CorrelatedUCL(a=1.5), got {policy!r:.60}.")
    if checks.integer("runs", runs, least=1) < len(surfaces):
        raise ValueError(
            f"runs must be at least {len(surfaces)}, so that every surface of the family is met, got {runs}."
        )
    prior = assumed(surfaces[0], mean, kernel, coordinates, covariance, noise_variance, drift)
    plan = Plan(
        policy=policy if (where := _places(surfaces[0], prior)) is None else placed(policy, where),
        surfaces=surfaces,
        prior=prior,
        accuracy=varied(kinds, accuracy, spread_of(surfaces, horizon), drifts=prior.drifts),
        confidence=numbers_to_try("confidence", confidence, 1.0),
        length=numbers_to_try("length", length, 1.0) if kernel is not None else [1.0],
        horizon=horizon,
        times=_times(times, horizon),
        runs=runs,
        seed=checks.integer("seed", seed, least=0),
        survivors=_survivors(survivors, prior),
    )
    plan.refuse_what_cannot_be_played()
    return StressTest(_dataset(plan, played(plan, checkpoint, threads, progress)))


def _places(surface: Environment, prior: Assumed) -> Array | None:
    """Return where arms lie, so that a rule minds ways among those it is compared with on independent arms, too."""
    return prior.coordinates if surface.coordinates is None else surface.coordinates


def _dataset(plan: Plan, kept: Recorded) -> xr.Dataset:
    import xarray as xr

    columns = dict(zip(Setting._fields, zip(*plan.settings, strict=True), strict=True))
    family = len(plan.surfaces)
    about = {
        "horizon": plan.horizon,
        "runs": plan.runs,
        "seed": plan.seed,
        "version": version("corrbandits"),
        "default_kind": next(iter(plan.accuracy)),
        "truth": truth_in_words(plan.surfaces, plan.horizon),
        "truth_changes": int(any(surface.changes for surface in plan.surfaces)),
        "policy": repr(plan.policy),
        "units": "reward",
        "candidate": plan.main,
        "has_kernel": int(plan.prior.kernel is not None),
        "means_alike": int(np.ptp(plan.prior.mean) == 0),
        "arms": len(plan.prior.mean),
        **dict(zip(("overall_mean", "overall_deviation"), plan.overall, strict=True)),
        **scales(plan.prior.kernel),
        **({"drift": plan.prior.drift} if plan.prior.drifts else {}),
    }
    return xr.Dataset(
        {name: (("candidate", "setting", "run", "time")[: array.ndim], array) for name, array in kept.items()},
        {
            "candidate": plan.candidates,
            "run": np.arange(plan.runs),
            "surface": ("run", np.arange(plan.runs) % family),
            "time": plan.times,
            **{name: ("setting", np.array(values)) for name, values in columns.items()},
        },
        about,
    )


def _surfaces(truth: Any) -> tuple[Environment, ...]:
    surfaces = (truth,) if isinstance(truth, Environment) else tuple(truth) if isinstance(truth, Sequence) else ()
    if not surfaces or not all(isinstance(surface, Environment) for surface in surfaces):
        raise TypeError(
            f"truth must be an Environment such as GaussianBandit(...), or a list of such, got {truth!r:.60}."
        )
    arms = surfaces[0].arms
    for surface in surfaces:
        if surface.arms != arms:
            raise ValueError(f"all surfaces must have the same arms, but one has {arms} and another {surface.arms}.")
    if arms > landscapes.MOST_DENSE:
        raise ValueError(
            f"a stress test takes at most {landscapes.MOST_DENSE:,} arms, since it forms their covariance for every "
            f"setting, got {arms:,}. Take some of them, spread over the whole."
        )
    return surfaces


def _times(times: Any, horizon: int) -> Integers:
    """Return when the regret is kept, the horizon among them."""
    if times is None:
        return np.unique(np.geomspace(max(1, horizon / 100), horizon, HORIZONS).round().astype(np.int64))
    chosen = checks.finite("times", times)
    if chosen.ndim != 1 or (chosen % 1).any() or (chosen < 1).any() or (chosen > horizon).any():
        raise ValueError(f"times must be whole numbers from 1 to {horizon}, the horizon, got {times!r:.60}.")
    return np.unique(np.append(chosen, horizon)).astype(np.int64)


def _survivors(wanted: Any, prior: Assumed) -> tuple[str, ...]:
    """Return the surviving beliefs to play, for means that stay; a refit needs one length and one variance."""
    if not checks.flag("survivors", wanted) or prior.drifts:
        return ()
    return SURVIVORS if one_kernel(prior.kernel) else SURVIVORS[:1]


def _margin(values: Array) -> float:
    """Return half the t-interval of a mean; NaN with one value."""
    from scipy.special import stdtrit

    n = values.size
    return float(stdtrit(n - 1, (1 + LEVEL) / 2) * values.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
