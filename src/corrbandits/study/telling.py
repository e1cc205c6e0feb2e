"""What a study is told: rewards, that one was wrong or will not come, and more arms."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Mapping
from typing import Any

from corrbandits.study import batch, following
from corrbandits.study.arms import Arms
from corrbandits.study.batch import Advanced, Observed, Told
from corrbandits.study.measured import When, measured_at
from corrbandits.study.reading import Reading
from corrbandits.study.replica import Replica, key_of, naming, now
from corrbandits.study.trial import Trial


class Telling(Reading, ABC):
    """The calls that change what a study knows: each is on the disk when it returns."""

    by: str | None
    _replica: Replica

    def checked_reward(self, reward: Any) -> float:
        """Return a reward as a number; refuse what can be no reward of this study."""
        return self._replica.ledger.checked_reward(reward)

    def tell(self, trial: Trial | int, reward: float, *, at: When = None) -> None:
        """Tell the reward of a trial. Telling the same again changes nothing; another is refused: see `amend`.

        `at` is when it was measured, by default now: a `datetime`, a date, or such as "2026-03-14T09:30". It counts
        where the prior has `drift`, and is kept in any case.
        """
        value, measured = self.checked_reward(reward), measured_at(at, now())
        self._replica.record(
            lambda ledger: following.telling(ledger, ledger.number_of(trial), value, measured), self.by
        )

    def observe(self, arm: int | str, reward: float, *, key: str | None = None, at: When = None) -> Trial:
        """Add a reward that was not asked for, of an arm given by index or name; return the trial it counts as.

        With a `key`, such as the number of a receipt, the same observation made again is not counted again. Without
        one, every call is another observation; if it is not known whether one was saved, its error has the key. `at`
        is when it was measured, as in `tell`.
        """
        value, own, measured = self.checked_reward(reward), key_of(key), measured_at(at, now())
        with naming(own), self._replica.lock:
            k = self._replica.current().arms.index(arm)
            self._replica.record(lambda ledger: following.observing(ledger, k, value, own, measured), self.by)
            return self._replica.ledger.trial(self._replica.ledger.keys[own])

    def tell_all(self, rewards: Mapping[int, float] | Iterable[Told], *, advanced: Advanced | None = None) -> int:
        """Tell the rewards of many trials, all or none; return how many were new. The same again changes nothing.

        Each is a trial and its reward, and perhaps when it was measured, as in `tell`. If one cannot be taken,
        `BadRowError` says which. `advanced` is told how many were looked at.
        """
        given = [*(rewards.items() if isinstance(rewards, Mapping) else rewards)]
        return self._replica.record(lambda ledger: batch.telling(ledger, given, now(), advanced), self.by)

    def observe_all(self, rewards: Iterable[Observed], *, advanced: Advanced | None = None) -> int:
        """Add many rewards that were not asked for, all or none; return how many.

        Each is an arm, a reward, a key or None, and when it was measured, as in `tell`; what comes last may be left
        out, and a date or a `datetime` may follow the reward at once. Those whose keys are there already are not
        counted again; those without a key count every time.
        """
        given = batch.rows_of(rewards)
        return self._replica.record(lambda ledger: batch.observing(ledger, given, now(), advanced), self.by)

    def cancel(self, trial: Trial | int) -> None:
        """Give a trial up: its reward is awaited no longer."""
        self._replica.record(lambda ledger: following.cancelling(ledger, ledger.number_of(trial)), self.by)

    def amend(self, trial: Trial | int, reward: float, *, was: float | None = None) -> None:
        """Replace a wrong reward by another. The wrong one stays in the journal.

        With `was`, only if that is the reward now: refused if somebody else has changed it meanwhile.
        """
        value = self.checked_reward(reward)
        self._replica.record(lambda ledger: following.amending(ledger, ledger.number_of(trial), value, was), self.by)

    def retract(self, trial: Trial | int, *, was: float | None = None) -> None:
        """Take an observation back, as if it had never been made. It stays in the journal; `was` as in `amend`."""
        self._replica.record(lambda ledger: following.retracting(ledger, ledger.number_of(trial), was), self.by)

    def add_arms(
        self,
        arms: Any,
        *,
        coordinates: Any = None,
        mean: Any = None,
        noise_variance: Any = None,
        key: str | None = None,
    ) -> None:
        """Add arms to a study whose prior is made of a kernel; `arms` as in `create`, with the same columns.

        `coordinates` are where they lie for the prior, if that is not what their columns say. `mean` and
        `noise_variance` may be left out where all arms have the same. With a `key`, they are added once.
        """
        given = {"coordinates": coordinates, "mean": mean, "noise_variance": noise_variance}
        more = {name: value for name, value in given.items() if value is not None}
        new, own = Arms.of(arms), key_of(key)
        with naming(own):
            self._replica.record(lambda ledger: following.extending(ledger, new, more, own), self.by)
