"""Characters that a terminal would obey and not show; by the standard library alone, so that it loads at once."""

from __future__ import annotations

import unicodedata


def unprintable(character: str) -> bool:
    """Return whether a character is for control, not for reading; those that join letters are for reading."""
    category = unicodedata.category(character)
    return (category[0] == "C" or category in ("Zl", "Zp")) and character not in "\u200c\u200d"
