"""The compiled engine of teams: what it can play, and a run of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits.belief import Belief, Correlated, GaussianBelief, Independent
from corrbandits.company.assignment import sent_by_choosing
from corrbandits.company.collisions import COLLISIONS
from corrbandits.company.engines.compiled.single import SingleRuns, strangers, why_not_alone
from corrbandits.company.engines.protocol import Streams, TeamEngine, TeamRun, TeamRuns
from corrbandits.company.graphs import averaging
from corrbandits.company.sharing import circles, hearing
from corrbandits.company.team import Team
from corrbandits.environments import BernoulliBandit
from corrbandits.policies import UCB1, CorrelatedUCL, IndexPolicy, LimitPolicy, Policy
from corrbandits.simulation.engines.compiled.engine import schedule
from corrbandits.simulation.engines.compiled.refusing import FINEST

NUMBERS = 20_000_000
"""A block of steps goes through about as many numbers."""

LEAST_DECISIONS = 10_000
"""From so many in a run on, of which there mostly are dozens, to compile a loop for one rule pays: it takes seconds."""

MOST_DRAWING = 50
"""Players of a rule that draws, for whom it pays: they have a generator each, and more take longer to compile."""


@final
class TeamCompiled(TeamEngine):
    """Plays teams on `Independent` or `Correlated` beliefs, and strangers on any that a single player has."""

    name = "compiled"

    def refuses(self, runs: TeamRuns) -> str:
        """Return which part of a team has no compiled form."""
        team, pairs = runs.team, different(runs.team.players)
        alone = next(filter(None, (why_not_alone(runs, *pair) for pair in pairs)), "")
        if alone or strangers(team):
            return alone
        return _other_problem(runs, pairs) or (_other_rules(team) and _other_values(team, pairs))

    def pays(self, runs: TeamRuns) -> bool:
        """Return whether a run is so long that to compile the loop of one rule takes less time than Python would."""
        if strangers(runs.team) or not _other_rules(runs.team):
            return True
        return len(runs.team) * runs.horizon >= LEAST_DECISIONS and not _many_draw(runs.team)

    def begin(self, runs: TeamRuns, drawn: Streams) -> TeamRun:
        """Return a run on private copies of the beliefs' arrays."""
        return SingleRuns(runs, drawn) if strangers(runs.team) else CompiledRun(runs, drawn)


@final
class CompiledRun(TeamRun):
    """A run whose steps are made by a compiled loop."""

    def __init__(self, runs: TeamRuns, drawn: Streams) -> None:
        team = runs.team
        self._runs, self._referee, self._done = runs, drawn.referee, 0
        self._policies = list(dict.fromkeys(policy for policy, _ in team.players))
        self._always = _table(runs, self._policies)
        self.initialisation = np.zeros(len(team), dtype=np.int64)
        estimated, joint = team.sharing == "consensus", isinstance(team.players[0][1], Correlated)
        self._loop, self._watched = _loop_of(team, drawn)
        each = team.arms ** (3 if estimated and joint else 2 if joint else 1)
        self.block = NUMBERS // (len(circles(team)[1]) * each + len(team) ** 2) + 1

    def advance(self, noise: Array, arms: Integers, paid: Array, sent: Integers) -> None:
        """Make as many steps as there is noise, without Python in between."""
        from corrbandits.company.engines.compiled.table import Table

        team, until = self._runs.team, self._done + noise.shape[1]
        widths = np.array(
            [schedule(policy, team.arms, self._runs.horizon, self._done, until) for policy in self._policies]
        )
        table = Table(**self._always, eps=noise, arms=arms, paid=paid, sent=sent)
        before = np.maximum(np.arange(self._done, until), 1)  # t - 1
        self._loop(table, widths, team.doubt * np.sqrt(np.log(before)), self._referee)
        self._done = until
        counted, twin = self._always["initialisation"], self._always["twin"]
        self.initialisation = np.where(twin < 0, counted, counted[twin])
        if not np.isfinite(paid).all():
            checks.number("a reward", float(paid[~np.isfinite(paid)][0]))

    def finish(self) -> None:
        """Refuse means or sums of rewards beyond the doubles, as a belief does."""
        if not all(np.isfinite(array).all() for array in self._watched):
            raise OverflowError(
                "rewards, their sums or means exceed what a double can hold; measure them in a larger unit."
            )


Loop = Callable[[Any, Array, Array, np.random.Generator], None]
"""Goes on with a run: to be called with a table of steps, widths, doubts, and who wins where players meet."""


def different(players: Sequence[tuple[Policy, Belief]]) -> list[tuple[Policy, Belief]]:
    """Return the pairs of policy and belief, each object once."""
    return list({(id(policy), id(belief)): (policy, belief) for policy, belief in players}.values())


def _other_problem(runs: TeamRuns, pairs: list[tuple[Policy, Belief]]) -> str:
    """Return which of rewards, beliefs and assignment no loop knows, or ""."""
    team, beliefs = runs.team, [belief for _, belief in pairs]
    if runs.environment.changes:
        return "the mean rewards change with time"
    if other := [belief for belief in beliefs if not isinstance(belief, (Independent, Correlated))]:
        return f"the belief is a {type(other[0]).__name__}"
    if len({type(belief) for belief in beliefs}) > 1:
        return "its players have beliefs of different kinds"
    if team.assignment not in ("own", "turns"):
        return f"its arms are assigned in the way {team.assignment!r}"
    if team.sharing == "consensus" and any(_too_fine(runs, belief) for belief in beliefs):
        return "the noise is so small beside the prior that estimates of correlated arms would lose their digits"
    return ""


def _other_rules(team: Team) -> str:
    """Return why no loop knows the rules of a team, or ""."""
    policies = [policy for policy, _ in team.players]
    averages = all(isinstance(policy, UCB1) for policy in policies)
    if not averages and not all(map(_is_limit, policies)):
        return "its rules are not all UCB1, nor all limits of the mean and so many deviations, such as UCL"
    if averages and not isinstance(team.players[0][1], Independent):
        return "UCB1 is compiled for teams on independent arms"
    if len(set(map(_factored, policies))) > 1:
        return "some of its rules have the factor of the printed index and some have not"
    return ""


def _other_values(team: Team, pairs: list[tuple[Policy, Belief]]) -> str:
    """Return why no loop gives the values of a single player's rule to arms for all of them, or ""."""
    from corrbandits.simulation.engines.compiled.around_state import innermost

    if len(pairs) > 1:
        return "its players have different rules or priors, and the rules are not all UCB1 nor all limits such as UCL"
    if team.sharing == "consensus":
        return "its players average estimates, and the rule is not UCB1 nor a limit such as UCL"
    if team.assignment != "own":
        return f"its arms are assigned in the way {team.assignment!r}, and the rule is not UCB1 nor a limit such as UCL"
    if _factored(innermost(pairs[0][0])) and isinstance(pairs[0][1], Correlated):
        return "the factor of the printed index is compiled for teams without a rule around it"
    return ""


def _many_draw(team: Team) -> bool:
    """Return whether the loop would be made for more generators than it pays to compile."""
    from corrbandits.simulation.engines.compiled.around_state import draws

    return len(team) > MOST_DRAWING and draws(team.players[0][0])


def _too_fine(runs: TeamRuns, belief: Belief) -> bool:
    """Return whether S0 - V'V could be left with too few digits of a variance."""
    if not isinstance(belief, Correlated):
        return False
    most = float((belief.variance / belief.noise_variance).max())
    return belief.arms * most * len(runs.team) * runs.horizon > FINEST


def _is_limit(policy: Policy) -> bool:
    """Return whether a rule takes the arm of largest limit, the lowest of exact equals."""
    plain = type(policy)._choose is IndexPolicy._choose
    return isinstance(policy, LimitPolicy) and plain and not policy.ordered


def _factored(policy: Policy) -> bool:
    return isinstance(policy, CorrelatedUCL) and policy.factor


def _table(runs: TeamRuns, policies: list[Policy]) -> dict[str, Any]:
    """Return what all steps of a run have in common."""
    team, environment, players = runs.team, runs.environment, len(runs.team)
    heard = team.sharing != "consensus"
    return {
        "means": environment.means,
        "deviations": np.sqrt(environment.noise_variance),
        "binary": isinstance(environment, BernoulliBandit),
        "rule": COLLISIONS.index(team.collisions),
        "sensed": team.sensed,
        "turns": team.assignment == "turns",
        "thresholds": np.array([np.full(team.arms, policy.threshold(belief)) for policy, belief in team.players]),
        "schedule": np.array([policies.index(policy) for policy, _ in team.players]),
        "twin": _twins(team),
        "receivers": 2 * (hearing(team).sum(axis=0) - 1) * heard,
        "always": sent_by_choosing(team) + (0 if heard else 2 * team.arms * int(team.links.sum())),
        "taken": np.zeros(players, dtype=np.int64),
        "seen": np.zeros(players),
        "there": np.zeros(team.arms, dtype=np.int64),
        "initialisation": np.zeros(players, dtype=np.int64),
        "initialising": np.ones(players, dtype=np.int64),
    }


def _twins(team: Team) -> Integers:
    """Return for each player an earlier one that has the same rule and belief, and so takes the same arm, or -1."""
    from corrbandits.simulation.engines.compiled.around_state import draws

    if team.assignment != "own" or any(draws(policy) for policy, _ in team.players):
        return np.full(len(team), -1)
    return _earlier(list(zip(circles(team)[0], (policy for policy, _ in team.players), strict=True)))


def _earlier(things: Sequence[Hashable]) -> Integers:
    """Return for each thing the place of the first that equals it, or -1 where that is its own."""
    places = map(things.index, things)
    return np.array([place if place < number else -1 for number, place in enumerate(places)])


def _loop_of(team: Team, drawn: Streams) -> tuple[Loop, list[Array]]:
    """Return the loop that plays a team, and the arrays that must stay finite."""
    if not _other_rules(team):
        return _estimated(team) if team.sharing == "consensus" else _heard(team)
    from corrbandits.company.engines.compiled.around import Around

    loop = Around(team, drawn.choices)
    return loop, loop.watched


def _heard(team: Team) -> tuple[Loop, list[Array]]:
    """Return the loop of players who see rewards, and the arrays that must stay finite."""
    from corrbandits.company.engines.compiled import loops
    from corrbandits.simulation.engines.compiled import state
    from corrbandits.simulation.engines.compiled.update import weigh

    of_players, firsts = circles(team)
    policy, all_priors = team.players[0][0], [team.players[first][1] for first in firsts]
    priors = [prior for prior in all_priors if isinstance(prior, GaussianBelief)]
    assert len(priors) == len(all_priors), "others are refused before a run begins"
    circle, hears = np.array(of_players), hearing(team)[firsts]
    noise = np.array([prior.noise_variance for prior in priors])
    if isinstance(policy, UCB1):
        counts, sums = (
            np.array([getattr(prior, name) for prior in priors], dtype=float) for name in ("counts", "sums")
        )
        b = _averages(priors, counts, sums)
        return lambda table, widths, _, rng: loops.heard_averages(b, counts, sums, circle, hears, table, widths, rng), [
            b.mu
        ]
    states: list[Any] = [state.state_of(prior) for prior in priors]
    printed = _factored(policy) and isinstance(priors[0], Correlated)
    if printed:
        for one in states:
            weigh(one)
    b = state.stacked(states)
    if isinstance(priors[0], Correlated):
        return lambda table, widths, _, rng: loops.heard_joint(b, circle, hears, noise, printed, table, widths, rng), [
            b.mu
        ]
    return lambda table, widths, _, rng: loops.heard_apart(b, circle, hears, noise, table, widths, rng), [b.mu]


def _averages(priors: Sequence[Belief], counts: Array, sums: Array) -> Any:
    """Return averages, 1 / sqrt(n_i), and variances that are infinite where nothing is known of an arm."""
    from corrbandits.simulation.engines.compiled.state import Apart

    prior_means = np.array([prior.mean for prior in priors])
    unknown = np.isinf([prior.variance for prior in priors])
    with np.errstate(divide="ignore"):
        weights = 1 / np.sqrt(counts)
    return Apart(np.divide(sums, counts, out=prior_means, where=counts > 0), np.where(unknown, np.inf, 0.0), weights)


def _neighbourhoods(team: Team) -> tuple[Any, Integers, Array, Array]:
    """Return who is near whom, who has the same near, and M P by rows: a weight for all near, and what is left.

    A player is near itself unless its own weight is the smaller one: nothing is ever taken off again, since what would
    be left of a weight of 0 is rounding, and would count as knowledge.
    """
    weights, links = averaging(team.links, team.kappa), team.links > 0
    step, own = np.where(links, weights, 0.0).max(axis=1), weights.diagonal()
    within = own >= step
    near = links | np.diag(within)
    return near, _earlier([row.tobytes() for row in near]), step, np.where(within, own - step, own)


def _estimated(team: Team) -> tuple[Loop, list[Array]]:
    """Return the loop of players who average estimates, and the arrays that must stay finite."""
    from corrbandits.company.engines.compiled import estimates

    priors, shape, n = [prior for _, prior in team.players], (len(team), team.arms), team.arms
    known = [np.array([getattr(prior, name) for prior in priors]) for name in ("mean", "variance", "noise_variance")]
    arrays: list[Any] = [*np.zeros((4, *shape)), *_neighbourhoods(team), *known, *np.zeros((3, n))]
    e = estimates.Estimates(*arrays)
    policy = team.players[0][0]
    if not isinstance(priors[0], Correlated):
        averages = isinstance(policy, UCB1)
        return lambda table, widths, f, rng: estimates.estimated_apart(e, averages, f, table, widths, rng), [e.sums]
    kinds = list({id(prior): prior for prior in priors}.values())
    covariances = np.array([prior.covariance for prior in kinds if isinstance(prior, Correlated)])
    which = np.array([[id(one) for one in kinds].index(id(prior)) for prior in priors])
    f = estimates.Factors(covariances, which, np.zeros((n, n)), np.zeros(n))
    printed = _factored(policy)
    return lambda table, widths, doubts, rng: estimates.estimated_joint(e, f, printed, doubts, table, widths, rng), [
        e.sums
    ]
