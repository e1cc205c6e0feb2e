"""A directory in which a long simulation keeps what is done, so that it can go on after whatever stopped it.

    simulation.json          which simulation it is
    POLICY-FIRST-LAST.npz    runs FIRST up to, not including, LAST of a policy: arrays, and a mark of what they are of

A file is written beside its place and renamed, so that it is whole or not there; a link is replaced, never followed.
Nothing in a file is ever executed.
Several processes may use one directory at once: each writes the same files.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, final

import numpy as np

from corrbandits._shell import outputs
from corrbandits.simulation.batches import Batch, Ensemble
from corrbandits.simulation.engines import Recorded
from corrbandits.simulation.fingerprint import fingerprint

FORMAT = "corrbandits checkpoint 1"
VERSION = "version of corrbandits"
DESCRIPTION = "simulation.json"
MARK = "of"
"""The name, among the arrays of a batch, of the digest that says which simulation and which batch they are of."""


@final
class Checkpoint:
    """The batches of one simulation that are done."""

    def __init__(self, directory: str | os.PathLike[str], description: Mapping[str, Any]) -> None:
        self.directory = _named(directory)
        self._each = _each(description)
        self._content = (json.dumps(description, indent=2) + "\n").encode()
        self._batches: dict[Path, int] = {}  # the runs of each that was loaded, or begun to be saved
        _open(self.directory, description, self._content)

    def load(self, batch: Batch, into: Recorded) -> bool:
        """Copy a batch that is here into arrays of its runs; return whether it was here, and whole."""
        place = self._place(batch)
        if not place.is_file():
            return False
        try:
            found = _arrays(place)
            self._refuse_another(batch, found.pop(MARK, None), forms(found), forms(into))
        except ValueError as error:
            warnings.warn(f"{place} cannot be used: {error}. Its runs are played again.", RuntimeWarning, stacklevel=2)
            return False
        for name, rows in into.items():
            rows[...] = found[name]
        self._batches[place] = batch.last - batch.first
        return True

    def save(self, batch: Batch, recorded: Recorded) -> None:
        """Write the arrays of a batch."""
        content, place = io.BytesIO(), self._place(batch)
        np.savez(content, allow_pickle=False, **{MARK: self._mark(batch)}, **recorded)
        self._batches[place] = batch.last - batch.first  # before: Ctrl-C may come as soon as the file is in place
        with content.getbuffer() as whole:  # released also if the disk is full and the error keeps these frames
            outputs.write_file(place, whole, follow_links=False, tidy=False)

    def state(self, total: int) -> str:
        """Return in words how many of all runs are here."""
        return (
            f"{self._runs():,} of {total:,} runs{self._each} are saved in {self.directory}. "
            "Run the same again, and it goes on from there."
        )

    def resumed(self, total: int) -> str:
        """Return in words how many of all runs were found."""
        return f"{self._runs():,} of {total:,} runs{self._each} were there already, in {self.directory}."

    def _runs(self) -> int:
        return sum(runs for place, runs in list(self._batches.items()) if place.is_file())

    def _place(self, batch: Batch) -> Path:
        return self.directory / f"{batch.player}-{batch.first}-{batch.last}.npz"

    def _mark(self, batch: Batch) -> Any:
        digest = hashlib.sha256(self._content + self._place(batch).name.encode()).digest()
        return np.frombuffer(digest, dtype=np.uint8)

    def _refuse_another(self, batch: Batch, mark: Any, found: dict[str, Any], expected: dict[str, Any]) -> None:
        if not np.array_equal(mark, self._mark(batch)):
            raise ValueError("it is of another simulation or of other runs")
        if found != expected:
            raise ValueError(f"it must hold {expected}, but it holds {found}")


def described(ensemble: Ensemble, names: list[str], runs: int, version: str) -> dict[str, Any]:
    """Return what makes a simulation the one it is, as entries of a JSON file."""
    return {
        "format": FORMAT,
        VERSION: version,
        "horizon": ensemble.horizon,
        "runs": runs,
        "seed": ensemble.seed,
        "record": "full" if ensemble.times is None else "summary",
        "times": None if ensemble.times is None else ensemble.times.tolist(),
        "policies": names,
        "environment": fingerprint(ensemble.environment),
        **ensemble.described(names),
    }


def forms(arrays: Recorded) -> dict[str, Any]:
    """Return the type and the shape of each array.

    >>> forms({"counts": np.zeros((2, 3))})
    {'counts': ('<f8', (2, 3))}
    """
    return {name: (array.dtype.str, array.shape) for name, array in arrays.items()}


def _named(directory: Any) -> Path:
    """Return the place; refuse what is no name, or names something other than a directory."""
    name = os.fspath(directory) if isinstance(directory, (str, os.PathLike)) else None
    if not name or not isinstance(name, str):
        raise TypeError(f"checkpoint must be the name of a directory, got {directory!r:.60}.")
    if "\0" in name:
        raise ValueError(
            f"checkpoint must be the name of a directory, got {name!r:.60}: no name holds a null character. "
            "Name another."
        )
    place = Path(directory)
    is_lost = place.is_symlink() and not place.exists()
    if is_lost or (place.exists() and not place.is_dir()):
        is_what = f"a link to {place.readlink()}, which is not there" if is_lost else "a file"
        raise OSError(f"a checkpoint must be a directory or not be there yet, but {place} is {is_what}. Name another.")
    return place


def _each(description: Mapping[str, Any]) -> str:
    """Return in words how runs are counted, where a simulation has several policies."""
    names, runs = description.get("policies"), description.get("runs")
    if not isinstance(names, list) or not isinstance(runs, int) or len(names) < 2:
        return ""
    return f" ({runs:,} of each of {len(names)} policies)"


def _arrays(place: Path) -> dict[str, Any]:
    try:
        with np.load(place, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except OSError as error:
        raise ValueError(error.strerror or "it is damaged, or was not written by corrbandits") from error
    except Exception as error:  # there is no telling what a damaged archive raises, nor what it advises
        raise ValueError("it is damaged, or was not written by corrbandits") from error


def _open(directory: Path, description: Mapping[str, Any], content: bytes) -> None:
    """Make the directory one of this simulation, or see that it is."""
    outputs.make_directory(directory, "runs")
    place = directory / DESCRIPTION
    others = sorted(path.name for path in directory.iterdir() if not path.name.startswith("."))
    if not place.exists():  # looked at last: where another process has begun, its description comes before its runs
        if others:
            raise ValueError(
                f"{directory} must be empty, new, or the checkpoint of this simulation, but it holds "
                f"{others[0]!r:.60}{' and more' if others[1:] else ''}. Name another directory."
            )
        outputs.write_file(place, content, follow_links=False, tidy=False)
    there = _read(place)  # also what was written just now: another process may have come first
    if differences := _differences(there, description):
        raise ValueError(
            f"{directory} is the checkpoint of another simulation: {'; '.join(differences)}. "
            "Give the same arguments as then, or name another directory."
        )


def _read(place: Path) -> dict[str, Any]:
    try:
        there = json.loads(place.read_bytes())
    except (ValueError, RecursionError):
        there = None
    if not isinstance(there, dict) or there.get("format") != FORMAT:
        raise ValueError(f"{place} must be written by corrbandits ({FORMAT}), but it is not. Name another directory.")
    return there


def _differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """Return what differs, in words; of another version only that, since it may describe the same in another way."""
    differing = [name for name in here if there.get(name, here[name]) != here[name]]
    if VERSION in differing:
        differing = [VERSION]
    missing = [f"{name} is not said there" for name in here if name not in there]
    missing += [f"{name} is said there alone" for name in there if name not in here]
    return [_difference(name, there[name], here[name]) for name in differing] or missing


def _difference(name: str, there: Any, here: Any) -> str:
    if name == "times":
        return "other times"
    if str(here).startswith("sha256:"):
        return f"another {name}"
    return f"{name} {there!r:.60} there, {here!r:.60} here"
