"""What a study begins with where its user does not say: a prior that learns, and the recommended rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeGuard

from corrbandits._shell.numbers import number
from corrbandits.belief import Belief, Vague
from corrbandits.moves import Moves
from corrbandits.policies import IndexPolicy, Policy, Travelling, Wrapper, recommend
from corrbandits.study.arms import Arms
from corrbandits.study.extend import placed
from corrbandits.study.recipe import Recipe
from corrbandits.study.settings import Goal, Settings, refuse_other_types


def settled(
    *,
    prior: Belief | None = None,
    policy: Policy | None = None,
    rounds: int | None = None,
    arms: Any = None,
    seed: int = 0,
    goal: Goal = "max",
    repeat: bool = True,
    timeout: float | None = None,
    unit: str | None = None,
    moves: Moves | None = None,
) -> Settings:
    """Return what a study is created with, from what `Study.create` is given.

    >>> settled(arms=["brook", "hill"], rounds=40).policy
    Gittins(horizon=40)
    """
    refuse_other_types(prior, policy)
    prior = prior_of(arms) if prior is None else prior
    known = placed(Arms.of(arms, prior.arms), prior)
    rule = policy_for(prior, policy, rounds, weighed=moves is not None)
    if moves is not None:
        rule = minding(rule, moves, known, rounds)
    return Settings(Recipe.of(prior), rule, known, seed, goal, repeat, timeout, unit)


def minding(policy: Policy, moves: Moves, arms: Arms, rounds: int | None = None) -> Policy:
    """Return a policy that minds what moves cost between arms; on latitude and longitude, distances are in km.

    `rounds` is how many rewards there will be in all, if the policy does not know.

    >>> from corrbandits import Gittins
    >>> minding(Gittins(40), Moves(per_move=3.0), Arms.of(["brook", "hill"]))
    Travelling(rule=Gittins(horizon=40), moves=Moves(per_move=3), horizon=40)
    """
    if not isinstance(moves, Moves):
        raise TypeError(f"moves must say what they cost, such as Moves(per_move=2.0), got {moves!r:.60}.")
    if not _chooses_by_index(policy):
        has = "minds more than that" if isinstance(policy, Wrapper) else "has none"
        raise ValueError(
            f"what moves cost is weighed against the index of a rule, but {type(policy).__name__} {has}. Take one such "
            "as Gittins or UCL, or leave the cost of moves out; in a copy, say that they cost 0."
        )
    elsewhere = moves.graph is not None or moves.coordinates is not None
    on_globe = "latitude" in arms.axes and moves.distance == "euclidean" and not elsewhere
    paid = replace(moves, distance="great_circle") if on_globe else moves
    paid.row(0, arms.count, arms.coordinates)  # refuses what does not fit
    return Travelling(policy, paid, rounds if (own := getattr(policy, "horizon", None)) is None else own)


def _chooses_by_index(policy: Policy) -> TypeGuard[IndexPolicy]:
    return isinstance(policy, IndexPolicy) and not isinstance(policy, Wrapper)


def minding_still(before: Policy, policy: Policy | None, moves: Moves | None, arms: Arms) -> Policy | None:
    """Return the policy of a copy: it minds what moves cost as the one before it, unless another cost is said.

    Where a move costs nothing it is the rule alone; None if neither a policy nor a cost was given.

    >>> from corrbandits import UCL, Gittins
    >>> before, arms = Travelling(Gittins(40), Moves(per_move=3.0), 40), Arms.of(["brook", "hill"])
    >>> minding_still(before, UCL(K=4.0), None, arms)
    Travelling(rule=UCL(K=4.0, a=1.0), moves=Moves(per_move=3), horizon=40)
    >>> minding_still(before, None, Moves(), arms)
    Gittins(horizon=40)
    """
    if moves is None and (policy is None or isinstance(policy, Travelling) or not isinstance(before, Travelling)):
        return policy
    stated = next((one for one in (policy, before) if isinstance(one, Travelling)), None)
    paid, rounds = (moves, None) if stated is None else (moves or stated.moves, stated.horizon)
    rule = before if policy is None else policy
    rule = rule.rule if isinstance(rule, Travelling) else rule
    return rule if paid is None or paid.free else minding(rule, paid, arms, rounds)


def way_in_words(policy: Policy) -> list[str]:
    """Return a remark on what moves cost, if a policy minds that.

    >>> from corrbandits import Gittins, Travelling
    >>> way_in_words(Travelling(Gittins(40), Moves(per_move=3.0, per_distance=0.1, distance="great_circle")))
    ['What it costs to go to an arm is weighed against what it may bring: 3 for each move, and 0.1 for each km.']
    """
    if not isinstance(policy, Travelling) or policy.moves.free:
        return []
    moves, unit = policy.moves, "km" if policy.moves.distance == "great_circle" else "unit of distance"
    unit = unit if moves.graph is None else "unit of distance along the roads"
    costs = [(moves.per_move, "move"), (moves.per_distance, unit)]
    said = ", and ".join(f"{number(cost, 6)} for each {what}" for cost, what in costs if cost)
    return [f"What it costs to go to an arm is weighed against what it may bring: {said}."]


def prior_of(arms: Any) -> Belief:
    """Return the prior of arms of which nothing is told but where they lie, if they lie anywhere.

    >>> prior_of({"name": ["brook", "hill"], "x": [0.0, 3.0]}).in_words()
    'told nothing; all is learnt'
    """
    if arms is None:
        raise ValueError("a study needs arms, got none. Give arms=..., their names or columns, or a prior.")
    known = Arms.of(arms)
    if known.coordinates is None:
        return Vague(arms=known.count)
    distance: Any = "great_circle" if "latitude" in known.axes else "euclidean"
    return Vague(coordinates=known.coordinates, distance=distance)


def policy_for(prior: Belief, policy: Policy | None, rounds: int | None, *, weighed: bool = False) -> Policy:
    """Return the policy that was given, or the recommended one for so many rewards in all; refuse both.

    Where moves are weighed, it is them that need the rounds of a policy without a horizon.
    """
    if policy is None:
        return recommend(prior, rounds).policy
    if rounds is not None and not (weighed and not hasattr(policy, "horizon")):
        raise ValueError(
            f"rounds must be left out with a policy, got {rounds!r:.60}. Give the policy its horizon, if it has one: "
            f"Gittins({rounds!r:.9})."
        )
    return policy
