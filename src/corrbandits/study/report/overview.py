"""A study at one glance, as it is shown; `standing` finds out what there is to show."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, final

from corrbandits._shell import terminal
from corrbandits._shell.numbers import counted, number
from corrbandits._shell.texts import printable
from corrbandits.policies import Policy
from corrbandits.study.codec import policy_data
from corrbandits.study.report.inference import Best, NoiseCheck
from corrbandits.study.report.sentences import (
    decision_in_words,
    policy_in_words,
    time_in_words,
)
from corrbandits.study.report.terminal_map import TerminalMap

if TYPE_CHECKING:
    from rich.console import Console


NEGLIGIBLE = 1e-12
"""A loss that is so small a share of the best arm's deviation is said to be 0."""

MOST_OPEN = 10


@final
@dataclass(frozen=True)
class Standing:
    """What is believed of an arm now. `limit` is None for rules without one, or where it would take too long."""

    arm: int
    name: str
    mean: float
    deviation: float
    limit: float | None
    rewards: int


@final
@dataclass(frozen=True)
class Awaited:
    """A trial whose reward is awaited, and for how many seconds; `late` if that is beyond the study's timeout."""

    trial: int
    arm: int
    name: str
    age: float
    late: bool


@final
@dataclass(frozen=True)
class Overview:
    """Where a study stands. `print(overview)` says it for people, the fields for programs.

    `learnt` says what a prior that was not told everything has learnt. `trials` counts the trials of each status.
    `best` is None while nothing can be said, and `no_best` says why.
    `untried` arms have no reward, and none is awaited of them; the rule tries `pending` arms before it prefers any.
    """

    name: str
    database: str
    goal: str
    prior: str
    policy: Policy
    arms: int
    t: int
    trials: dict[str, int]
    best: Best | None
    no_best: str | None
    learnt: str | None
    noise: NoiseCheck | None
    warnings: tuple[str, ...]
    untried: int
    pending: int
    once: bool
    timeout: float | None
    open: tuple[Awaited, ...]
    top: tuple[Standing, ...]
    map: TerminalMap | None

    def data(self) -> dict[str, Any]:
        """Return it as data, all but the map."""
        data = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in ("name", "map")}
        parts = {name: value and asdict(value) for name, value in data.items() if name in ("best", "noise")}
        lists = {name: [asdict(one) for one in data[name]] for name in ("open", "top")}
        return {"study": self.name} | data | parts | lists | {"policy": policy_data(self.policy)}

    def __str__(self) -> str:
        return terminal.text(self.parts(terminal.WIDTH, colour=False))

    def print(self, where: Console) -> None:
        """Print it as wide as a terminal is, with its colours."""
        width = min(where.width, terminal.PIPED) if where.is_terminal else terminal.WIDTH
        where.width = width
        colour = where.color_system in ("256", "truecolor") and not where.no_color  # of fewer colours shades say more
        terminal.show(self.parts(width, colour=colour), where)

    def parts(self, width: int, *, colour: bool) -> list[Any]:
        """Return the text, tables and map one below the other."""
        parts: list[Any] = [self._heading()]
        parts += [f"\n{warning}" for warning in self.warnings]
        if self.open:
            parts += ["", self._open_table()]
        parts += ["", self._top_table()]
        if self.map is not None:
            parts += ["", "Mean reward", *self.map.lines(width, colour=colour)]
        return parts

    def _heading(self) -> Any:
        from rich.table import Table

        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        counts = ", ".join(f"{number:,} {status}" for status, number in self.trials.items() if number) or "none yet"
        rows = {
            "study": self.name,
            "database": self.database,
            "goal": self._goal_in_words(),
            "arms": f"{self.arms:,}" + (f", {self.untried:,} of them never tried" if self.untried else ""),
            "prior": self.prior,
            "policy": policy_in_words(self.policy) + self._beginning_in_words(),
            **({"learnt": self.learnt} if self.learnt else {}),
            "trials": f"{counts}; {decision_in_words(self.policy, self.t, self.name)}",
            "best": self._best_in_words(),
        }
        for name, value in rows.items():
            grid.add_row(name, printable(value))
        return grid

    def _goal_in_words(self) -> str:
        goal = "the largest reward" if self.goal == "max" else "the least reward"
        once = "; no arm twice" if self.once else ""
        expiry = "" if self.timeout is None else f"; trials expire {time_in_words(self.timeout)} after they were asked"
        return f"{goal}{once}{expiry}"

    def _beginning_in_words(self) -> str:
        return f"; it tries {counted(self.pending, 'arm')} more before it prefers good ones" if self.pending else ""

    def _best_in_words(self) -> str:
        rewards = bool(self.trials["told"] + self.trials["observed"])
        if self.best is not None or self.no_best is None or not rewards:
            return best_in_words(self.best, rewards=rewards)
        first = self.top[0]
        if not math.isfinite(first.deviation):
            return self.no_best
        return f"{first.name}, mean {number(first.mean, 4)} ± {number(first.deviation, 2)}; {self.no_best}"

    def _open_table(self) -> Any:
        rows = [(str(a.trial), a.name, f"{time_in_words(a.age)} ago{', late' * a.late}") for a in self.open[:MOST_OPEN]]
        more = f" (the first {MOST_OPEN} of {len(self.open):,})" if len(self.open) > MOST_OPEN else ""
        return terminal.table(("trial", "arm", "asked"), rows, left=2, title=f"Open trials{more}")

    def _top_table(self) -> Any:
        with_limits = any(one.limit is not None for one in self.top)
        rows = [standing_row(one, with_limit=with_limits) for one in self.top]
        heads = ("arm", "mean", "sd", *(("limit",) if with_limits else ()), "rewards")
        some = f"Best {len(self.top)} of {self.arms:,} arms" if len(self.top) < self.arms else "Arms, best first"
        return terminal.table(heads, rows, title=some)


def best_in_words(best: Best | None, *, rewards: bool = True) -> str:
    """Return which arm is the best so far, and how sure that is; while there is no reward, that."""
    if not rewards:
        return "no reward yet"
    if best is None:
        return "none yet"
    level = f"{best.name}, mean {number(best.mean, 4)} ± {number(best.deviation, 2)}"
    if math.isnan(best.probability):
        return f"{level}; how sure that is cannot be said while nothing is known of some arms"
    least = NEGLIGIBLE * best.deviation
    loss, error = (0.0 if x <= least else x for x in (best.expected_loss, best.expected_loss_error))
    most, more = ("at most ", " or more") if best.approximate else ("", "")
    return (
        f"{level}; the best of all with probability {most}{best.probability:.3f} ± {best.probability_error:.3f}; to "
        f"stop now would cost {number(loss)} ± {number(error, 1)}{more} per trial on average"
        + ("; so many arms may be the best that only the likeliest were compared" if best.approximate else "")
    )


def standing_row(one: Standing, *, with_limit: bool) -> tuple[str, ...]:
    """Return the cells of an arm in a table."""
    known = math.isfinite(one.deviation)
    mean = number(one.mean, 4) if known else "?"
    limit = "" if one.limit is None or not math.isfinite(one.limit) else number(one.limit, 4)
    return (one.name, mean, number(one.deviation), *((limit,) if with_limit else ()), f"{one.rewards:,}")
