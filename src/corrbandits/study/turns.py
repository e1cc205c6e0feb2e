"""Turns to ask, so that a choice that takes long is not overtaken for ever by others that do not.

Those who ask do not wait for each other at first: who appends first is first, and the others choose anew. But whoever
was overtaken a few times, and has spent some time on it, takes a ticket, which stands in the journal; and whoever finds
tickets there takes one too and waits until it is the oldest. A ticket expires if its holder does not renew it, because
it was killed for example. Those who tell or observe never look at tickets.
"""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from typing import final

from corrbandits.study.journal.protocol import JournalError, JournalProtocol, QueueProtocol

FREE = 3
"""So many tries are free,"""

SPENT = 5.0
"""and so many seconds; then one queues. Where choices are quick, nobody has to."""

LASTING = 5.0
"""How many seconds a ticket lasts at least."""

POLLING = 0.1
"""How many seconds pass between two looks at the queue."""


@final
class Turn:
    """The turn of one call of `ask`; a context that leaves the queue at its end."""

    def __init__(self, journal: JournalProtocol, study: int) -> None:
        self._journal, self._study = (journal if isinstance(journal, QueueProtocol) else None), study
        self._ticket = ""
        self._tries, self._longest, self._began, self._born = 0, 0.0, 0.0, time.monotonic()

    @property
    def queued(self) -> bool:
        """Whether it had to queue: then a choice is to stand if it can."""
        return bool(self._ticket)

    def wait(self) -> None:
        """Return when a choice may be made."""
        if self._began:
            self._longest = max(self._longest, time.monotonic() - self._began)
        overtaken = self._tries >= FREE and time.monotonic() - self._born >= SPENT
        if self._journal is not None and (self.queued or overtaken or self._journal.queued(self._study)):
            self._ticket = self._ticket or secrets.token_hex(8)
            while not self._journal.queue(self._study, self._ticket, max(LASTING, 4 * self._longest)):
                time.sleep(POLLING)
        self._tries += 1
        self._began = time.monotonic()

    def __enter__(self) -> Turn:
        return self

    def __exit__(self, *_: object) -> None:
        if self.queued and self._journal is not None:
            with suppress(JournalError):  # then it expires
                self._journal.leave(self._study, self._ticket)
