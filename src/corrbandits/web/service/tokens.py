"""Named secrets with roles, kept as hashes in a file of lines: name, role and SHA-256, apart by tabs.

A token has 256 random bits, so that a plain hash tells nothing of it. The file is read anew when it changes: whoever is
struck out of it is out at once.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import secrets
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final, get_args

from corrbandits._shell.texts import read_text
from corrbandits.study.arms import checked_name

Role = Literal["read", "tell", "manage"]
ROLES: tuple[Role, ...] = get_args(Role)

LOG = logging.getLogger("corrbandits")
_GONE = 0, 0, 0


@final
@dataclass(frozen=True)
class Person:
    """Who makes a request: a name, if there is one, and what they may do; `token` if they proved who they are."""

    name: str | None
    role: Role
    token: bool = False

    def may(self, role: Role) -> bool:
        """Return whether they may do what this role does: who manages may tell, who tells may read."""
        return ROLES.index(self.role) >= ROLES.index(role)


@final
class Tokens:
    """The tokens of a file."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._state: tuple[int, int, int] | None = None
        self._known: dict[bytes, Person] = {}
        self._refresh()

    @property
    def count(self) -> int:
        """How many tokens there are."""
        self._refresh()
        return len(self._known)

    def person(self, token: str) -> Person | None:
        """Return whose token this is; compared with every one in constant time."""
        self._refresh()
        given, found = _hashed(token), None
        for known, person in self._known.items():
            if hmac.compare_digest(known, given):
                found = person
        return found

    def _refresh(self) -> None:
        try:
            about = self._path.stat()
        except OSError as error:
            if self._state is None:
                raise ValueError(_not_there(self._path, error)) from None
            self._known, self._state = {}, _GONE  # taken away: nobody is let in until it is back
            return
        state = about.st_mtime_ns, about.st_size, about.st_ino
        with self._lock:
            if state != self._state:
                self._known, self._state = self._read_again(), state

    def _read_again(self) -> dict[bytes, Person]:
        """Return the tokens of the file; if it cannot be read any more, those known before, and say so once."""
        try:
            return _read(self._path)
        except (ValueError, OSError) as error:
            if self._state is None:
                raise
            LOG.warning("the tokens stay as they were, because the file cannot be read: %s", error)
            return self._known


def _not_there(path: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{path} must be a file of tokens, but there is no such file. `corrbandits token` makes one."
    return f"{path} must be a file of tokens, but it cannot be read ({error.strerror}). See who may read it."


def new_token(path: Path, name: str, role: Role) -> str:
    """Return a new token, whose hash is added to the file; refuse a name that is there."""
    checked_name("the name of a token", name)
    if name.startswith("#"):
        raise ValueError(f"the name of a token cannot begin with #, as remarks in the file do, got {name!r:.60}.")
    if role not in ROLES:
        raise ValueError(f"a role must be one of {', '.join(ROLES)}, got {role!r:.40}.")
    known = _read(path) if path.exists() else {}
    if any(person.name == name for person in known.values()):
        raise ValueError(f"there is a token of {name!r} in {path}. Choose another name, or strike that line out first.")
    token = secrets.token_urlsafe(32)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        file.write(f"{name}\t{role}\t{_hashed(token).hex()}\n")
    return token


def _read(path: Path) -> dict[bytes, Person]:
    known: dict[bytes, Person] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split("\t")
        if len(parts) != 3 or parts[1] not in ROLES or len(parts[2]) != 64:
            raise ValueError(
                f"{path}, line {number}: expected a name, a role ({', '.join(ROLES)}) and a hash, apart by tabs. Make "
                "tokens by `corrbandits token`."
            )
        role: Role = parts[1]
        known[bytes.fromhex(parts[2])] = Person(checked_name("the name of a token", parts[0]), role, token=True)
    return known


def _hashed(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
