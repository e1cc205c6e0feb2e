"""Text from outside: read as UTF-8, compared with the words that are known, and shown without doing anything."""

from __future__ import annotations

import codecs
import difflib
import os
import unicodedata
from collections.abc import Collection, Sequence
from pathlib import Path

from corrbandits._core.characters import unprintable

SPREADSHEETS = {b"PK\x03\x04": ".xlsx or .ods", b"\xd0\xcf\x11\xe0": ".xls"}
"""How files begin that programs make of sheets."""

MOST_COMPARED = 10_000
"""Of more words than this, none is looked for that is near."""


def composed(name: str) -> str:
    """Return a name in Unicode's normal form C: an é is one character, whether or not it was typed as e and an accent.

    >>> composed("pre\u0301") == "pr\u00e9"
    True
    """
    return unicodedata.normalize("NFC", name)


def by_name(names: Sequence[str]) -> dict[str, int]:
    """Return the place of each name, to be looked up as it is, or in normal form C where it is not found.

    >>> by_name(["hill", "pre\u0301"])["pr\u00e9"]
    1
    """
    return {composed(name): place for place, name in enumerate(names)} | {name: k for k, name in enumerate(names)}


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a UTF-8 file, with or without a byte order mark."""
    unreadable = f"{path}: expected a text file, but it cannot be read"
    try:
        content = Path(path).read_bytes().removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise type(error)(f"{unreadable} ({error.strerror}). Check its name and folder.") from None
    except ValueError as error:
        raise ValueError(f"{unreadable} ({error}). Check its name.") from None
    if kind := SPREADSHEETS.get(content[:4]):
        raise ValueError(
            f"{path}: expected a text file, got a spreadsheet ({kind}). Open it in the program it is of, and save the "
            "sheet as CSV UTF-8."
        )
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}, line {line}: expected text in UTF-8, got the byte {content[error.start]:#04x}. "
            "Save it as UTF-8 (in a spreadsheet: CSV UTF-8)."
        ) from None


def near(word: object, known: Collection[str], count: int = 1) -> list[str]:
    """Return the known words nearest to this one, whatever their capitals; none if none is near.

    >>> near("medow", ["hill", "Meadow"]), near("zebra", ["hill", "Meadow"])
    (['Meadow'], [])
    """
    if len(known) > MOST_COMPARED:
        return []
    by_lower = {name.lower(): name for name in known}
    return [by_lower[found] for found in difflib.get_close_matches(str(word).lower()[:200], by_lower, n=count)]


def printable(text: str) -> str:
    r"""Return a text in which characters that a terminal would obey, and not show, are written out; lines stay.

    >>> print(printable("plain\n\x1b[2Jred\u202e"))
    plain
    \x1b[2Jred\u202e
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_written_out(c) if c != "\n" and unprintable(c) else c for c in text)


def cut(text: str, longest: int) -> str:
    """Return a text, or its beginning where it is longer than this.

    >>> cut("meadow", 10), cut("a very long name", 10)
    ('meadow', 'a very lo…')
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _written_out(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode()
