"""The commands of `corrbandits study`: parse, call, and print from one snapshot.

Nothing loads before it is needed: to tell a reward, neither pandas nor SciPy, nor the other commands.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from typing import Any

import typer

HELP = """Keep a study: ask what to try, tell its reward.

    Studies are kept in a database: --db, or the variable CORRBANDITS_DB, or else a file of your own. Exit codes: 0
    done; 1 `best --stop-loss`: not yet enough; 2 bad input; 3 the database could not be reached, read or written, and
    the message says what to do; 4 done and saved, but not printed; 130 stopped by Ctrl-C.
    """

COMMANDS = {
    "create": "studies",
    "list": "reading",
    "show": "reading",
    "ask": "trials",
    "tell": "trials",
    "observe": "trials",
    "amend": "trials",
    "cancel": "trials",
    "retract": "trials",
    "best": "reading",
    "explain": "reading",
    "history": "reading",
    "export": "copying",
    "import": "copying",
    "check": "reading",
    "plot": "reading",
    "add-arms": "studies",
    "copy": "copying",
    "delete": "studies",
}
"""The commands, in the order of the help, and the modules beside this one that have them."""

WITH_REWARD = ("tell", "observe", "amend")
NEGATIVE: dict[str, Any] = {"ignore_unknown_options": True}  # otherwise -1.5 is taken for an option


def app(names: Iterable[str] = tuple(COMMANDS)) -> typer.Typer:
    """Return the commands of these names; all, unless some are named."""
    plain: dict[str, Any] = {"add_completion": False, "rich_markup_mode": None, "pretty_exceptions_enable": False}
    made = typer.Typer(help=HELP, no_args_is_help=True, **plain)
    made.callback(help=HELP)(_group)
    for name in names:
        module = importlib.import_module(f"corrbandits.cli.study.{COMMANDS[name]}")
        function = getattr(module, name.replace("-", "_") + ("_" if name in ("list", "import") else ""))
        made.command(name, context_settings=NEGATIVE if name in WITH_REWARD else None)(function)
    return made


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Return the commands that these arguments can be about: one, if they begin with its name."""
    return app(arguments[:1]) if arguments and arguments[0] in COMMANDS else app()


def _group() -> None:
    """Do nothing: the group has no options of its own."""
