"""What an engine is given, what it fills in, and what every engine offers.

    recorded         shape      meaning
    arms, rewards    (n, T)     every decision, if all is recorded
    regret           (n, K)     cumulative regret at the K chosen times, if a summary is; at all T if means change
    counts           (n, N)     how often each arm was taken
    initialisation   (n,)       steps of initialisation
    moves            (n, K)     moves so far, at the times of the regret or at all T; only if moves are asked for
    move_cost        (n, K)     and what they cost (`engines.walking.Walk` counts both)

n is the number of runs in a batch, T the horizon, N the number of arms. Run k draws from
`SeedSequence(seed, spawn_key=(k,))`, with one stream for the environment and one for the policy, so it is the same
whatever runs beside it: other runs, other policies, other threads, other machines.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar, final

import numpy as np

from corrbandits._core.checks import Integers
from corrbandits.belief import Belief
from corrbandits.environments import Environment
from corrbandits.moves import Moves
from corrbandits.policies import Policy

Recorded = dict[str, Any]
"""Arrays of runs, by name."""

Advanced = Callable[[int], None]
"""Called with the number of steps made since the last call; it may raise to stop the engine."""

MOST_BATCHES = 512
"""By default the runs of a policy are divided into at most this many batches."""


def generators(seed: int, run: int) -> tuple[np.random.Generator, np.random.Generator]:
    """Return the generator of the environment's noise and that of the policy's random choices, of one run."""
    noise, choices = np.random.SeedSequence(seed, spawn_key=(run,)).spawn(2)
    return np.random.default_rng(noise), np.random.default_rng(choices)


@final
@dataclass(frozen=True)
class Runs:
    """Some runs of one policy, from number `first` up to, not including, `last`.

    >>> from corrbandits import UCL, GaussianBandit, Independent
    >>> flat = Independent(noise_variance=1.0, arms=2)
    >>> runs = Runs(UCL(), flat, GaussianBandit([0.0, 1.0], 1.0), horizon=50, seed=0, first=3, last=5)
    >>> len(runs), runs.room()["arms"].shape
    (2, (2, 50))
    """

    policy: Policy
    belief: Belief
    """What the policy believes at the start of every run."""

    environment: Environment
    horizon: int
    seed: int
    first: int
    last: int
    times: Integers | None = None
    """When the regret is recorded; None if every decision is."""

    moves: Moves | None = None
    """What moves cost, if they are to be recorded."""

    def __len__(self) -> int:
        return self.last - self.first

    def generators(self) -> Iterator[tuple[np.random.Generator, np.random.Generator]]:
        """Yield, run by run, the generator of the environment's noise and that of the policy's random choices."""
        for run in range(self.first, self.last):
            yield generators(self.seed, run)

    def room(self, *outer: int) -> Recorded:
        """Return arrays to record the runs in, with further dimensions before them if these are given."""
        shape = (*outer, len(self))
        always: Recorded = {
            "counts": np.zeros((*shape, self.environment.arms), dtype=np.int64),
            "initialisation": np.zeros(shape, dtype=np.int64),
        }
        if self.moves is not None:
            recorded = (*shape, self.horizon if self.times is None else self.times.size)
            always |= {"moves": np.zeros(recorded, dtype=np.int64), "move_cost": np.zeros(recorded)}
        if self.times is not None:
            return {"regret": np.empty((*shape, self.times.size)), **always}
        arms = np.empty((*shape, self.horizon), dtype=np.int32)
        if self.environment.changes:  # otherwise the regret follows from the arms
            always["regret"] = np.empty(arms.shape)
        return {"arms": arms, "rewards": np.empty(arms.shape), **always}


class Engine(ABC):
    """Plays runs, a batch at a time.

    An engine is stateless: several threads may play different batches at once. It makes the noise of a batch from
    the runs' generators, `environment.noise(generator, n)`, in pieces of any size: the same numbers come in the same
    order. All engines see the same noise, so that they make the same decisions except where rounding decides; only
    `gpu` counts its own on the device, and `gpu-same-noise` shows that it decides alike.
    """

    name: ClassVar[str]
    """What `simulate(engine=...)` calls it; checkpoints are those of one engine."""

    @abstractmethod
    def refuses(self, runs: Runs) -> str:
        """Return why it cannot play these runs, as the rest of a sentence after "because", or "" if it can."""

    @abstractmethod
    def play(self, runs: Runs, into: Recorded, advanced: Advanced) -> None:
        """Play the runs and record them in arrays such as `runs.room()` returns.

        `advanced` must be called several times a second if the work is long, with numbers of steps that sum to
        `len(runs) * runs.horizon`; what it raises must be passed on at once.
        """

    def play_each(self, games: Sequence[Runs], into: Sequence[Recorded], advanced: Advanced) -> None:
        """Play games that may differ in everything, each recorded in its own arrays; by default one after the other."""
        for runs, recorded in zip(games, into, strict=True):
            self.play(runs, recorded, advanced)

    def pays(self, runs: Runs) -> bool:
        """Return whether engine="auto" may take it for these runs, if it can play them; by default it may."""
        return True

    def batch_size(self, runs: Runs) -> int:
        """Return how many of these runs it wants to play at a time: a checkpoint loses at most so many."""
        return -(-len(runs) // MOST_BATCHES)


_R = TypeVar("_R", contravariant=True)


class _Choosy(Protocol[_R]):
    def refuses(self, runs: _R) -> str: ...


_E = TypeVar("_E", bound=_Choosy[Any])


def chosen(engines: Mapping[str, _E], runs: Any, name: str) -> _E:
    """Return the engine of that name or, if it is "auto", the first that can play the runs; refuse one that cannot."""
    names = ["auto", *engines]
    if name not in names:
        raise ValueError(f"engine must be {', '.join(names[:-1])} or {names[-1]}, got {name!r:.60}.")
    if name == "auto":
        return next(engine for engine in engines.values() if not engine.refuses(runs))
    if why_not := engines[name].refuses(runs):
        raise ValueError(f"the {name} engine cannot play this because {why_not}. Use engine='auto'.")
    return engines[name]
