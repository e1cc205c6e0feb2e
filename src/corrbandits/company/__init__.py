"""Several players of one bandit, who share what they see or compete.

A `Team` says what each player plays, who hears whom, how arms are assigned and what happens where players meet;
`simulate_team` plays it.

    team         who plays, and how
    graphs       who hears whom
    sharing      what each player believes, and what is sent for it
    assignment   how players come to their arms
    collisions   what they are paid and see where several take one arm
    engines      who plays the runs: in Python, or compiled
    simulator    ensembles of runs
    recipes      teams of the literature: coop-UCB2
"""

from corrbandits.company.recipes import coop_ucb2
from corrbandits.company.simulator import simulate_team
from corrbandits.company.team import Team

__all__ = ["Team", "coop_ucb2", "simulate_team"]
