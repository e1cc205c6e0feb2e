"""Teams of the literature, made of the parts there are."""

from __future__ import annotations

import math
from typing import Any

from corrbandits._core import checks
from corrbandits.belief import Independent
from corrbandits.company.team import Team
from corrbandits.policies import UCB1


def coop_ucb2(
    players: int,
    arms: int,
    *,
    noise_variance: float = 1.0,
    graph: Any = "complete",
    kappa: float | None = None,
    gamma: float = 1.0,
    eta: float = 0.0,
) -> Team:
    """Return a team that plays coop-UCB2 (Landgren, Srivastava and Leonard, 2016 and 2021).

    Player k takes the arm of largest

        s_hat / n_hat + sigma sqrt(2 gamma / G(eta) (n_hat + f(t - 1)) / (M n_hat) log(t - 1) / n_hat),

    n_hat and s_hat being its running-consensus estimates of an arm's count and sum per player, f(t) = sqrt(log t), the
    usual choice of a function that grows slower than log t, and G(eta) = 1 - eta^2 / 16. The analysis asks for gamma
    above 1 and, for rewards that are not Gaussian, eta between 0 and 4; eta = 0 is the form of 2016. It is `UCB1` with
    the scale sigma sqrt(gamma / G) on counts M n_hat n_hat / (n_hat + f).

    >>> team = coop_ucb2(players=6, arms=10, graph="ring")
    >>> team, team.players[0][0]
    (<Team of 6 players: UCB1, consensus on a ring, doubt 1>, UCB1(scale=1.0))
    """
    gamma, variance = checks.number("gamma", gamma, above=0), checks.number("noise_variance", noise_variance, above=0)
    eta = checks.number("eta", eta, least=0)
    if eta >= 4:
        raise ValueError(f"eta must be below 4, so that G(eta) = 1 - eta^2 / 16 is above 0, got {eta:g}.")
    rule = UCB1(scale=math.sqrt(variance * gamma / (1 - eta**2 / 16)))
    flat = Independent(noise_variance=variance, arms=checks.integer("arms", arms, least=1))
    return Team.of(rule, flat, players, sharing="consensus", graph=graph, kappa=kappa, doubt=1.0)
