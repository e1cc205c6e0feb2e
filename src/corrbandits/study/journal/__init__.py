"""Where studies are kept: append events at (study, sequence), read those after a sequence."""

from corrbandits.study.journal.sql import Journal, JournalError, Taken

__all__ = ["Journal", "JournalError", "Taken"]
