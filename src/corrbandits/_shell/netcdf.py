"""NetCDF files from outside: what is damaged, or claims more than it can hold, is refused before it is read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr

MOST_PACKED = 1_100
"""Deflate makes numbers at most 1,032 times smaller: what claims to be more was not written."""

SLACK = 65_536  # bytes: a few numbers that nobody wrote do no harm
_ONLY_A_SIZE = b"This is a netCDF dimension but not a netCDF variable"


def load_dataset(path: str | os.PathLike[str], what: str) -> xr.Dataset:
    """Return a data set that was saved, all of it in memory; `what` it should be is for messages."""
    import xarray as xr

    name = os.fspath(path)
    try:
        _refuse_what_was_not_written(name)
        return xr.load_dataset(path, engine="h5netcdf")
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {name}. Name {what} that was saved.") from None
    except MemoryError:
        raise MemoryError(f"{name} takes more memory than there is here. Read it on a larger machine.") from None
    except Exception as error:  # there is no telling what a damaged file raises
        raise ValueError(
            f"{name} is not a NetCDF file that can be read: {str(error).rstrip('.')}. Name {what} that was saved."
        ) from error


def _refuse_what_was_not_written(name: str) -> None:
    """Look at all of a file but its numbers: h5netcdf leaves half an object behind where that is damaged."""
    import h5py

    with h5py.File(name) as file:
        _refuse(file)
        file.visititems(lambda _, part: _refuse(part))


def _refuse(part: Any) -> None:
    attributes = dict(part.attrs)
    if not hasattr(part, "shape") or bytes(attributes.get("NAME", b"")).startswith(_ONLY_A_SIZE):
        return
    written, claimed = part.id.get_storage_size(), part.nbytes
    if claimed > MOST_PACKED * written + SLACK:
        raise ValueError(
            f"{part.name} must hold what was written, {written:,} bytes, but it claims {claimed / 1e9:,.3g} GB"
        )
