"""Whether the studies of a journal are whole: event by event, and replayed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from corrbandits._shell.numbers import counted
from corrbandits.study.choosing import checked
from corrbandits.study.journal import DamagedError, Journal, JournalProtocol


@final
@dataclass(frozen=True)
class Finding:
    """What was found of a study: whether it is whole, how many events are, and in words.

    `study` is None if it is about the database itself.

    >>> Finding("meadow", True, 12, "12 events, 5 trials").whole
    True
    """

    study: str | None
    whole: bool
    events: int
    says: str

    def __str__(self) -> str:
        return f"{self.study or 'the database'}: {'whole' if self.whole else 'damaged'}, {self.says}"


def findings(journal: JournalProtocol) -> list[Finding]:
    """Return what is found of the database, if it is damaged, and of each study."""
    found = [Finding(None, False, 0, fault) for fault in _faults(journal)]
    try:
        studies = journal.studies()
    except DamagedError as error:
        studies = dict(error.whole or {})
        found.append(Finding(None, False, 0, str(error)))
    return found + [_finding(journal, name, number) for name, number in studies.items()]


def _faults(journal: JournalProtocol) -> list[str]:
    if not isinstance(journal, Journal):
        return []
    try:
        return journal.faults()
    except DamagedError as error:
        return [str(error)]


def _finding(journal: JournalProtocol, name: str, number: int) -> Finding:
    try:
        bodies = journal.read(number, 0)
    except DamagedError as error:
        sound = error.sound or 0
        return Finding(name, False, sound, f"only its first {counted(sound, 'event')}" if sound else str(error))
    try:
        ledger = checked(bodies)
    except (ValueError, ArithmeticError) as error:
        return Finding(name, False, 0, f"{counted(len(bodies), 'event')} as saved, but {error}")
    says = f"{counted(len(bodies), 'event')}, {counted(len(ledger.trials), 'trial')}"
    return Finding(name, True, len(bodies), says)
