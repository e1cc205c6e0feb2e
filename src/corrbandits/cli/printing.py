"""What the commands print: tables, as wide as the terminal, or 120 columns into a file or pipe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from corrbandits import theory
from corrbandits._core.checks import Array
from corrbandits._shell import terminal
from corrbandits._shell.progress import bar
from corrbandits.belief.base import GaussianBelief
from corrbandits.paper import reproduction
from corrbandits.paper.errata import Erratum, ErratumError
from corrbandits.policies import CorrelatedUCL

if TYPE_CHECKING:
    import xarray as xr
    from rich.table import Table

    from corrbandits.belief import Belief
    from corrbandits.environments import Environment
    from corrbandits.experiment import Experiment
    from corrbandits.policies import Policy
    from corrbandits.simulation.trace import Trace


def print_claims(claims: Sequence[reproduction.Claim], untuned: dict[str, int | None], horizon: int) -> None:
    """Print what the captions claim, what came out, and on how many untuned surfaces it holds."""
    table = _table(("claim", "paper", "ours", "met", "untuned"), title="What the captions of Figures 1 and 2 claim")
    for column in table.columns:
        column.overflow, column.no_wrap = "fold", column.header in ("met", "untuned")
    for claim in claims:
        holds = untuned.get(claim.claim)
        verdict = {True: "yes", False: "NO", None: "-"}[claim.met]
        counted = "" if holds is None else f"{holds}/{reproduction.UNTUNED_SURFACES}"
        table.add_row(claim.claim, claim.paper, claim.ours, verdict, counted)
    console = terminal.console()
    console.print(table)
    console.print(
        "The surface, its high region and the two lengths are not in print: they were tuned to these captions.\n"
        f"untuned: on how many of {reproduction.UNTUNED_SURFACES} smooth surfaces that were not (mean 30, maximum 60; "
        f"{reproduction.UNTUNED_RUNS} runs to t = {min(horizon, reproduction.UNTUNED_HORIZON):,}) the claim holds.",
        soft_wrap=True,
    )


def print_summary(trace: Trace, environment: Environment) -> None:
    """Print the regret of each policy at the end, and how often it took a best arm."""
    band = trace.band().isel(time=-1)
    horizon, runs = trace.horizon, trace.data.sizes["run"]
    share = trace.counts.values[..., environment.optimal].sum(axis=-1).mean(axis=-1) / horizon
    best = "on a best arm" if environment.optimal.sum() > 1 else "on the best arm"
    table = _table(
        ("policy", "mean regret", "95 % band", best, "initial steps"),
        title=f"After {horizon:,} decisions, {runs:,} runs",
        left=1,
    )
    for policy, on_best in zip(trace.data["policy"].values.tolist(), share.tolist(), strict=True):
        mean, low, high = (float(band[name].sel(policy=policy)) for name in ("mean", "low", "high"))
        interval = f"{low:,.1f} to {high:,.1f}" if runs > 1 else "needs 2 runs"
        steps = float(trace.initialisation.sel(policy=policy).mean())
        table.add_row(policy, f"{mean:,.1f}", interval, f"{on_best:.1%}", f"{steps:g}")
    terminal.console().print(table)


def counts_after_initialisation(trace: Trace, name: str, policy: Policy, belief: Belief) -> Array:
    """Return how often each arm was taken in the mean, without initialisation: the theorems count from there on."""
    counts = np.asarray(trace.counts.sel(policy=name).mean("run").values)
    if isinstance(policy, CorrelatedUCL) and isinstance(belief, GaussianBelief):
        taken = theory.initialisation(belief, policy.nu)[: trace.horizon]
        counts = counts - np.bincount(taken, minlength=belief.arms)
    return counts


def print_bounds(policy: str, bounds: dict[str, xr.Dataset], problem: Experiment, counts: Array | None) -> None:
    """Print the bounds of one policy, a table per theorem: of each group of arms, the largest of each bound."""
    console = terminal.console()
    if not bounds:
        console.print(f"{policy}: no theorem speaks of this policy, its prior and its parameters.\n", soft_wrap=True)
    lower = theory.lai_robbins_counts(problem.environment, problem.horizon)
    for theorem, bound in bounds.items():
        console.print(f"{policy}, {theorem}: {bound.attrs['statement']}", soft_wrap=True)
        simulated = ("simulated",) if counts is not None else ()
        case = ("case",) if bound.attrs["theorem"] == "1" else ()
        table = _table(("arms", "gap", *case, "eta", "extra", "total", "Lai-Robbins", *simulated), left=0)
        for group in theory.grouped(bound, lower, counts):
            table.add_row(*_cells(group, with_case=bool(case), with_simulated=counts is not None))
        console.print(table)


def _cells(group: theory.Group, with_case: bool, with_simulated: bool) -> list[str]:
    low, high = group.gaps
    gap = f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
    case = [str(group.case)] if with_case else []
    cells = [str(group.arms), gap, *case, group.eta, group.extra, group.total, f"{group.lai_robbins:,.1f}"]
    return [*cells, f"{group.simulated:,.1f}"] if with_simulated else cells


def failed_checks(errata: Sequence[Erratum]) -> dict[int, str]:
    """Run the check of each finding and return what those that fail say, by number."""
    failed = {}
    with bar(len(errata), label="checking") as show:
        for done, erratum in enumerate(errata, start=1):
            try:
                erratum.check()
            except ErratumError as error:
                failed[erratum.number] = str(error)
            show(done)
    return failed


def print_errata(errata: Sequence[Erratum], failed: dict[int, str] | None) -> None:
    """Print a row per finding; `failed` says which checks failed, or is None if none was run."""
    checked = () if failed is None else ("check",)
    table = _table(("no.", "where", "printed", "corrected", *checked), show_lines=True)
    for column in table.columns:
        column.overflow, column.no_wrap = "fold", column.header in ("no.", "check")
    for erratum in errata:
        cells = [str(erratum.number), erratum.where, erratum.printed, erratum.corrected]
        table.add_row(*cells, *(() if failed is None else ("failed" if erratum.number in failed else "held",)))
    console = terminal.console()
    console.print(table)
    for number, found in (failed or {}).items():
        console.print(f"{number}: {found}", soft_wrap=True)
    if failed is not None:
        console.print(f"{len(errata) - len(failed)} of {len(errata)} findings held.")


def _table(headings: Iterable[str], left: int | None = None, **options: Any) -> Table:
    """Return a table; the first `left` columns are set to the left and the others, which hold numbers, to the right."""
    from rich.table import Table

    table = Table(title_justify="left", **options)
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="left" if left is None or i < left else "right")
    return table
