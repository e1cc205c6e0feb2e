"""TOML files: tables whose errors name the line of the key at fault."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, final

from corrbandits._core.characters import unprintable
from corrbandits._shell.texts import near, read_text

KeyPath = tuple[str, ...]
LONGEST_NAME = 200
MOST_DEEP = 50
"""A key may have so many parts."""

T = TypeVar("T")

_TOML_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?!")|' + r"'''.*?'''(?!')|"  # strings of several lines, which may end in up to five quotes
    r'"(?:\\.|[^"\\])*"|' + r"'[^']*'|"
    r"#[^\n]*|[\[\]{}=,\n]|[\w+:-]+",
    re.DOTALL,
)

_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DEEP = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_DEEP},}}+")


@final
@dataclass(frozen=True)
class Table:
    """A table of a TOML file that knows the lines of its keys. What it refuses is an error of type `refusal`."""

    file: Path
    lines: Mapping[KeyPath, int]
    refusal: type[ValueError]
    values: dict[str, Any]
    path: KeyPath = ()

    def error(self, what: str, key: str | None = None) -> ValueError:
        """Return the error at a key, or where its line is not known, at the table nearest around it."""
        place = self.path if key is None else (*self.path, key)
        while place not in self.lines:
            place = place[:-1]
        where = f"in [{'.'.join(self.path)}], " if self.path else ""
        return self.refusal(f"{self.file}, line {self.lines[place]}: {where}{what}")

    def refuse_other_keys(
        self, allowed: Collection[str], flags: Collection[str] = (), either: Collection[str] = ()
    ) -> None:
        """Refuse keys that are not allowed, and true or false for any key but flags and those that may be either."""
        for key, value in self.values.items():
            if key not in allowed:
                kind, meant = "key" if self.path else "table", _meant(key, allowed)
                raise self.error(f"there is no {kind} {key!r}.{meant} The {kind}s here are {', '.join(allowed)}.", key)
            if key in flags and not isinstance(value, bool):
                raise self.error(f"{key} must be true or false, without quotes, got {value!r:.60}.", key)
            if key not in flags and _has_flag(value) and not (key in either and isinstance(value, bool)):
                raise self.error(f"{key} must not be true or false. Write a number or text in its place.", key)

    def need(self, key: str, example: str = "") -> Any:
        """Return a key's value; refuse its absence."""
        if key not in self.values:
            word = next(iter(near(key, self.values)), None)
            meant = f" Is {word!r} a misspelling of it?" if word else ""
            raise self.error(f"{key!r} is missing.{meant} Add it, such as: {example or f'{key} = ...'}", word)
        return self.values[key]

    def one_of(self, keys: Collection[str]) -> str:
        """Return which one of these keys there is; refuse none and several."""
        given = [key for key in self.values if key in keys]
        if not given:
            raise self.error(f"one of {', '.join(keys)} is needed, got none. Add one.")
        if len(given) > 1:
            both = " and ".join(given)
            raise self.error(f"only one of {', '.join(keys)} can be given, got {both}. Remove the others.", given[1])
        return given[0]

    def choice(self, key: str, choices: Mapping[str, T]) -> T:
        """Return what the text at a key names."""
        name = self.need(key, f'{key} = "{next(iter(choices), "...")}"')
        if not isinstance(name, str) or name not in choices:
            raise self.error(
                f"{key} must be one of {', '.join(choices)}, got {name!r:.60}.{_meant(name, choices)}", key
            )
        return choices[name]

    def table(self, key: str, example: str = "...") -> Table:
        """Return the table at a key."""
        value = self.need(key, example)
        if not isinstance(value, dict):
            raise self.error(f"{key} must be a table, such as {example}, got {value!r:.60}.", key)
        return replace(self, path=(*self.path, key), values=value)

    def tables(self, key: str, example: str) -> dict[str, Table]:
        """Return the named tables within the table at a key: one at least, and nothing beside them."""
        within = self.table(key, example)
        if not within.values or "" in within.values:
            raise within.error(f"a table with a name is needed, got none. Add one, such as: {example}", "")
        for name in within.values:
            if len(name) > LONGEST_NAME or any(map(unprintable, name)):
                raise within.error(
                    f"a name must be 1 to {LONGEST_NAME} printable characters, got {name!r:.60}. Rename it.", name
                )
        return {name: within.table(name, example) for name in within.values}

    @contextmanager
    def blame(self, key: str) -> Iterator[None]:
        """Turn what constructors refuse into errors of this table: at the key they name, otherwise at the one given."""
        try:
            yield
        except self.refusal:
            raise
        except (ValueError, TypeError, OSError, ArithmeticError, MemoryError) as error:
            short = isinstance(error, MemoryError)
            what = f"there is not enough memory. {error} Take fewer arms." if short else str(error)
            named = [k for k in self.values if re.search(rf"\b{re.escape(k)} (must|has|=|of) ", what)]
            raise self.error(what, named[0] if named else key) from error


def read_toml(path: str | os.PathLike[str], refusal: type[ValueError]) -> Table:
    """Return the whole of a TOML file as a table whose errors are of type `refusal`."""
    try:
        text = read_text(path)
    except (OSError, ValueError) as error:
        raise refusal(str(error)) from error
    if deep := _DEEP.search(text):  # tomllib takes a time that grows with the square of it
        line = text.count("\n", 0, deep.start()) + 1
        raise refusal(f"{path}, line {line}: a key must have at most {MOST_DEEP} parts, got more. Take fewer dots.")
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        found = re.search(r" \(at line (\d+), column (\d+)\)$", str(error))
        line = int(found[1]) if found else text.rstrip().count("\n") + 1
        what = f"{str(error)[: found.start()]} (column {found[2]})" if found else str(error)
        raise refusal(
            f"{path}, line {line}: expected TOML, got this: {what}. "
            "TOML is lines key = value below a [table], each key once; text takes double quotes, numbers none."
        ) from error
    return Table(Path(path), key_lines(text), refusal, values)


def key_lines(text: str) -> dict[KeyPath, int]:
    r"""Return the line of every table and key of a valid TOML text, by its path; of the whole text, by ().

    >>> key_lines('[a.b]\nc = [1,\n  2]\nd = { e = 3 }\n')
    {(): 1, ('a',): 1, ('a', 'b'): 1, ('a', 'b', 'c'): 2, ('a', 'b', 'd'): 4, ('a', 'b', 'd', 'e'): 4}
    """
    lines: dict[KeyPath, int] = {(): 1}
    table, path, key = KeyPath(), KeyPath(), KeyPath()
    brackets: list[tuple[str, KeyPath]] = []  # those open in a value, and the key whose value they open
    naming, line = True, 1  # a key is being read, not a value

    def mark(place: KeyPath) -> KeyPath:
        for n in range(1, len(place) + 1):
            lines.setdefault(place[:n], line)
        return place

    for token in _TOML_TOKEN.findall(text):
        if token in ("[", "{") and not naming:
            brackets.append((token, path))
            naming = token == "{"
        elif token in ("]", "}") and brackets:
            _, path = brackets.pop()
            naming = False
        elif token == "]" and key:  # the end of a [table] heading
            table, key = mark(key), ()
        elif token == "=":
            path, key = mark((brackets[-1][1] if brackets else table) + key), ()
            naming = False
        elif token == ",":
            naming = bool(brackets) and brackets[-1][0] == "{"
        elif token == "\n":
            naming = naming or not brackets
        elif naming and token[0] not in "[]#":
            key = (*key, tomllib.loads(f"key = {token}")["key"] if token[0] in "\"'" else token)
        line += token.count("\n")
    return lines


def _meant(word: Any, known: Collection[str]) -> str:
    return "".join(f" Did you mean {name!r}?" for name in near(word, known))


def _has_flag(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, list) and any(map(_has_flag, value)))
