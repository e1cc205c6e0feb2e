"""Where studies are kept: append events at (study, sequence), read those after a sequence."""

from corrbandits.study.journal.protocol import DamagedError, JournalError, JournalProtocol, QueueProtocol, Taken
from corrbandits.study.journal.sql import Journal

__all__ = ["DamagedError", "Journal", "JournalError", "JournalProtocol", "QueueProtocol", "Taken"]
