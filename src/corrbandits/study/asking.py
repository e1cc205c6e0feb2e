"""One call of `ask`: trials that are chosen, and saved if nothing came between that they depend on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from corrbandits.study import following
from corrbandits.study.choosing import Moment, moment
from corrbandits.study.codec import Data
from corrbandits.study.ledger import Ledger
from corrbandits.study.refusal import RefusedError
from corrbandits.study.replica import Events, Replica, now
from corrbandits.study.trial import Trial


@final
class Asking:
    """One call of `ask`: a choice, which stands if nothing but rewards is appended before it.

    So a choice that takes long is not made again and again because others tell rewards meanwhile.
    """

    def __init__(
        self,
        replica: Replica,
        count: int,
        allowed: tuple[int, ...] | None,
        *,
        repeats: bool,
        by: str | None = None,
        start: int | None = None,
        each: Sequence[Data] = (),
    ) -> None:
        """`each` is what events have besides, one for each trial, if they are of several calls: keys and makers."""
        self._replica, self._count, self._allowed, self._repeats, self._by = replica, count, allowed, repeats, by
        self._start, self._each = start, each
        self._made: tuple[int, int, Events] | None = None  # moves, sequence, events
        self.insists = False  # whether the choice is to stand although more than rewards came

    def tried(self, key: str) -> list[Trial] | None:
        """Save the choice, and return its trials; None if others were faster."""
        with self._replica.lock:
            if self._replica.attempt(lambda ledger: self.events(ledger, key), self._by) is None:
                return None
            first = self._replica.ledger.keys[key]
            return [self._replica.ledger.trial(number) for number in range(first, first + self._count)]

    def events(self, ledger: Ledger, key: str) -> Events:
        """Return the events that are due: trials that have expired, and those chosen; none if they are there."""
        if not self._each and following.asked_with(ledger, key, self._count, self._allowed, self._start):
            return []
        expired = following.expiring(ledger, now())
        if self._made is not None and not expired and self._stands(ledger, *self._made):
            made = enumerate(self._made[2], ledger.number)
            return [event | {"seen": self._made[1], "trial": number} for number, event in made]
        gone, at = [event["trial"] for event in expired], now()
        chosen = self._chosen(moment(ledger, self._replica.deciding(at), gone, self._allowed, self._start), key)
        if ledger.recipe.in_real_time:  # what is believed depends on it, so that it is replayed as of this moment
            chosen = [event | {"at": at} for event in chosen]
        self._made = None if expired else (ledger.moves, ledger.sequence, chosen)
        return expired + chosen

    def _stands(self, ledger: Ledger, moves: int, _: int, events: Events) -> bool:
        """Return whether a choice is still good: nothing but rewards came; or it insists, and none has asked since."""
        if moves == ledger.moves:
            return True
        since = ledger.trials[events[0]["trial"] - 1 :]
        tried = set() if ledger.settings.repeat else {entry.arm for entry in since}
        alone = all(entry.asked is None for entry in since) and not tried & {event["arm"] for event in events}
        return self.insists and alone

    def _chosen(self, at: Moment, key: str) -> Events:
        events: Events = []
        common: Data = {} if self._allowed is None else {"allowed": self._allowed}
        once = not self._replica.ledger.settings.repeat
        for k in range(self._count):
            if at.candidates is not None and not at.candidates.size:
                raise self._too_many(k, once=once)
            arm = at.choose()
            apart: Data = {"apart": k} if k and not once and not self._repeats else {}
            apart |= {"from": self._start} if self._start is not None and not k else {}
            events.append({"event": "asked", "trial": at.trial, "arm": arm, **apart, **common})
            at = at.next(arm, repeat=self._repeats and not once)
        for event, more in zip(events, self._each or [{"key": key}], strict=False):
            event.update(more)
        return events

    def _too_many(self, left: int, *, once: bool) -> ValueError:
        if once:
            return ValueError(
                f"each arm may be tried once: asked for {self._count}, left of those allowed {left}. Ask for fewer, "
                "add arms, or stop: best says what was found."
            )
        return RefusedError(
            f"trials of one ask must be of different arms: asked for {self._count}, there are {left}. Ask for fewer.",
            "If repeats are welcome, {call}.",
            "ask",
            n=self._count,
            repeats=True,
        )
