"""How the functions of this folder are compiled, and where the result is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache
from glob import escape
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, TypeVar, cast

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler import CompilerBase, DefaultPassBuilder

from corrbandits._shell.turns import turns_in

_F = TypeVar("_F", bound=Callable[..., Any])

Part = Callable[..., Any]
"""A function that is a part of loops."""

FOLDER = Path(__file__).parent
"""The sources: a change in any of them makes what was compiled before useless."""

PACKAGE = FOLDER.parents[2]
ELSEWHERE = tuple(
    PACKAGE / name
    for name in ("_core/tally.py", "belief/vague/factors.py", "policies/gittins/table.py", "policies/base.py")
)
"""Sources of numbers that are compiled in, too."""

OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "contract", "nsz", "arcp"}, "error_model": "numpy"}
"""`fastmath` is limited to what reorders sums and fuses products: NaN and infinity keep their meaning."""


LONGEST = 120.0
"""For so many seconds a process waits for another that compiles what it needs: longer than any loop takes."""


@cache
def stamp(folder: Path) -> str:
    """Return a digest of all sources in a folder, and of those elsewhere whose numbers they have.

    numba compares the file of the function alone, but what a loop does is written in the files of its parts too.
    """
    digest = hashlib.sha256()
    for source in (*sorted(folder.glob("*.py")), *ELSEWHERE):
        content = source.read_bytes()
        digest.update(f"{source.name} {len(content)} ".encode() + content)
    return digest.hexdigest()


class Tolerant:
    """A cache of compiled code on disk, of which a damaged file or a full disk only costs the time to compile again.

    What several processes need at once is compiled by one of them, and the others wait for it. They read and write
    one after the other: an index must not name code that another process has not written yet.

    It goes before one of numba's caches, for cores or for devices: types are ignored where those are called, since this
    class alone does not have their methods.
    """

    _cache_path: str
    _impl: Any

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code, or None: then it is this process's turn to compile it, until it is kept."""
        found = self._loaded(sig, target_context)
        if found is None:
            turns_in(self._cache_path).take(self._one(sig), LONGEST)
            found = self._loaded(sig, target_context)  # by whoever had the turn before
            if found is not None:
                self._leave(sig)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code; an index that cannot be read is replaced."""
        with suppress(Exception), self._files():
            try:
                super().save_overload(sig, data)  # type: ignore[misc]
            except (EOFError, ValueError, UnpicklingError):
                self.flush()  # type: ignore[attr-defined]
                super().save_overload(sig, data)  # type: ignore[misc]
        self._leave(sig)

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        with suppress(Exception), self._files():
            return super().load_overload(sig, target_context)  # type: ignore[misc]
        return None

    def _files(self) -> AbstractContextManager[None]:
        """Have a turn at the files of this function."""
        return turns_in(self._cache_path).turn(self._impl.filename_base, LONGEST)

    def _one(self, sig: Any) -> str:
        return f"{self._impl.filename_base} {sig}"

    def _leave(self, sig: Any) -> None:
        turns_in(self._cache_path).leave(self._one(sig))


class Stamped:
    """The files of a cache, whose names say what the code in them is made of.

    numba writes the index first and uses names again: where the code could then not be written, because a disk was full
    or the process was killed, the index would name code of other sources. It goes before numba's files.
    """

    _cache_path: str

    def __init__(self, cache_path: str, filename_base: str, source_stamp: str) -> None:
        super().__init__(cache_path, filename_base, source_stamp)  # type: ignore[call-arg]  # numba's class takes them
        self._base, self._mark = filename_base, hashlib.sha256(source_stamp.encode()).hexdigest()[:16]
        self._data_name_pattern = f"{filename_base}.{self._mark}.{{number:d}}.nbc"

    def _save_index(self, overloads: Any) -> None:
        """Write the index, and remove code of other sources."""
        super()._save_index(overloads)  # type: ignore[misc]  # numba's class has it
        for file in Path(self._cache_path).glob(f"{escape(self._base)}.*.nbc"):
            if not file.name.startswith(f"{self._base}.{self._mark}."):
                file.unlink(missing_ok=True)


class _Files(Stamped, IndexDataCacheFile):
    """Those of loops."""


class _Cache(Tolerant, FunctionCache):
    """Loops on disk."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        own = Path(function.__code__.co_filename).parent  # loops of teams lie elsewhere, and use parts from here too
        stamps = "".join(map(stamp, dict.fromkeys((FOLDER, own))))
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, stamps)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        """Return what compiled code is found by; the functions a loop is made of are named in its own name."""
        return sig, codegen.magic_tuple(), self._py_func.__qualname__


class _Distinct(CompilerBase):
    """A compiler for which no two arguments lie in the same memory."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes of `njit`."""
        self.state.flags.noalias = True
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]


def compiled(function: _F, **options: Any) -> _F:
    """Compile a function, and keep the result on disk where a directory can be written."""
    result: Any = njit(**OPTIONS, **options)(function)
    with suppress(RuntimeError):  # no directory can be
        result._cache = _Cache(function)
    return cast("_F", result)


def distinct(function: _F) -> _F:
    """Compile a function that changes no array which overlaps another of its arguments, and allocates nothing.

    Otherwise every short loop over several arrays begins with tests whether they do, which take as long as the loop,
    and every part counts who refers to the arrays that it is given, which takes longer.
    """
    return compiled(function, pipeline_class=_Distinct, _nrt=False)


def assembled(loop: _F, pieces: Sequence[Part], how: Callable[[_F], _F]) -> _F:
    """Compile a loop that is made of these pieces, under a name of its own: by that compiled code is found again."""
    every: list[Part] = [loop, *pieces]
    loop.__qualname__ = "_".join(piece.__name__ for piece in every)
    return how(loop)


def part(function: _F) -> _F:
    """Make a function a part of the loops that call it.

    Compiled on its own as well, it would exist twice, optimised and so rounded differently; which of the two a loop
    calls would depend on whether the loop was just compiled or read from the cache.
    """
    result: _F = njit(inline="always", **OPTIONS)(function)
    return result
