"""What a finding is, and what its check raises when it does not hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from corrbandits._shell.progress import bar


class ErratumError(AssertionError):
    """A finding that its own check does not confirm; the message has the figures."""


@final
@dataclass(frozen=True)
class Erratum:
    """One mistake in the print: where, what it says, what is right, what shows it, and a check that computes that.

    `check()` returns nothing if the finding holds and raises `ErratumError` if not.
    """

    number: int
    where: str
    printed: str
    corrected: str
    evidence: str
    check: Callable[[], None]


def require(holds: object, found: str) -> None:
    """Raise `ErratumError` with what was found unless the condition holds.

    >>> require(1 < 2, "1 is not below 2")
    """
    if not holds:
        raise ErratumError(f"the finding does not hold: {found}")


def failed_checks(errata: Sequence[Erratum]) -> dict[int, str]:
    """Run the check of each finding and return what those that fail say, by number."""
    failed = {}
    with bar(len(errata), label="checking") as show:
        for done, erratum in enumerate(errata, start=1):
            try:
                erratum.check()
            except ErratumError as error:
                failed[erratum.number] = str(error)
            show(done)
    return failed
