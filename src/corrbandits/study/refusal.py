"""A call that a study refuses, with the call that may be meant instead: in Python or, for the shell, as a command."""

from __future__ import annotations

import shlex
from typing import Any, final


@final
class RefusedError(ValueError):
    """Why a call is refused, and in `instead`, at {call}, another: a verb of a study and its arguments.

    An argument that is ... stands for the reward; options have names.

    >>> refused = RefusedError("trial 3 was told 5 already.", "If that is wrong, {call}.", "amend", 3, 31.2)
    >>> print(refused)
    trial 3 was told 5 already. If that is wrong, amend(3, 31.2).
    >>> print(refused.for_shell("my meadow"))
    trial 3 was told 5 already. If that is wrong: corrbandits study amend 'my meadow' 3 31.2
    """

    def __init__(self, why: str, instead: str, verb: str, *arguments: Any, **options: Any) -> None:
        words = ["reward" if argument is ... else repr(argument) for argument in arguments]
        call = f"{verb}({', '.join([*words, *(f'{name}={value!r}' for name, value in options.items())])})"
        super().__init__(f"{why} {instead.format(call=call)}")
        self._why, self._instead, self._verb, self._arguments = why, instead, verb, arguments
        self._options = options

    def for_shell(self, study: str, besides: str = "") -> str:
        """Return the same with a command in place of the call, at the end; before it, what is to be said besides."""
        words = ["REWARD" if argument is ... else _typed(argument) for argument in self._arguments]
        dashes = ["--"] if study.startswith("-") or any(word.startswith("-") for word in words) else []
        options = [word for name, value in self._options.items() for word in _option(name, value)]
        command = " ".join(["corrbandits study", self._verb, *options, *dashes, shlex.quote(study), *words])
        why = f"{self._why} {besides}".rstrip()
        return f"{why} {self._instead.replace(', {call}', ': {call}').rstrip('.').format(call=command)}"


def _option(name: str, value: Any) -> list[str]:
    """Return an option as one would type it.

    >>> _option("n", 3), _option("repeats", True)
    (['-n', '3'], ['--repeats'])
    """
    return [f"-{name}" if len(name) == 1 else f"--{name}", *([] if value is True else [_typed(value)])]


def _typed(argument: Any) -> str:
    """Return an argument as one would type it."""
    return f"{argument!r}".removesuffix(".0") if isinstance(argument, float) else shlex.quote(str(argument))
