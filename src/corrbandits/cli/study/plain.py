"""The commands whose arguments are all text, parsed without typer where there is nothing to ask of it.

Typer checks arguments with a library that takes longer to load than the command to run. So if a line has just the
arguments of such a command, --json or --db, the command is called with them. Anything else, a mistake or --help for
example, is left to typer, which knows what to say.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial

ARGUMENTS = {"tell": 3, "amend": 3, "cancel": 2, "retract": 2}
_NEGATIVE = re.compile(r"-[\d.][^-]*", re.ASCII)


def plain_call(arguments: Sequence[str]) -> Callable[[], None] | None:
    """Return the call that a command line says in so many words; None if it is not as plain as that."""
    command, as_json = "".join(arguments[:1]), False
    words: list[str] = []
    db, rest = os.environ.get("CORRBANDITS_DB") or None, iter(arguments[1:])
    for text in rest:
        if text == "--json":
            as_json = True
        elif text == "--db":
            db = next(rest, "")
        elif text.startswith("-") and not (_NEGATIVE.fullmatch(text) and len(words) == 2):
            return None
        else:
            words.append(text)
    if len(words) != ARGUMENTS.get(command) or (db is not None and (not db or db.startswith("-"))):
        return None
    from corrbandits.cli.study import trials

    return partial(getattr(trials, command), *words, db=db, as_json=as_json)


def run(call: Callable[[], None]) -> None:
    """Make a call and end the program."""
    call()
    sys.exit(0)
