"""The compiled engine of teams: the arithmetic of many beliefs in place, in loops without Python.

    name         shape       meaning
    table        -           what all loops share: the arms, the rule of collisions, the steps of a block (`Table`)
    beliefs      (C, ...)    C beliefs, each of one circle of players that see the same (`Joint` and `Apart`, stacked)
    circle       (M,)        which belief each player has
    hears        (C, M)      whose rewards each belief sees
    counts, sums (M, N)      what each player estimates, in consensus (`sharing`)

    engine       `TeamCompiled` says which teams it plays; for each block of steps it calls one loop
    single       players who neither hear nor meet each other: single runs, of any rule that is compiled
    loops        players who see rewards: heard_apart, heard_averages, heard_joint
    around       players who see rewards, of any other rule, and of rules around a rule
    estimates    players who average estimates: estimated_apart, estimated_averages, estimated_joint
    table        what players choose from and are paid: parts of the loops

How a reward changes a belief is written in `corrbandits.simulation.engines.compiled`, for one player and for many.
"""

from corrbandits.company.engines.compiled.engine import TeamCompiled

__all__ = ["TeamCompiled"]
