"""How kernels and their parts are compiled: for a device, or not at all, for numba's simulator.

    part       a function that asks for its thread or waits for the others: of kernels alone
    pure       arithmetic, the same for any processor
    of_cpu     a part of the compiled engine, for a kernel

The simulator (NUMBA_ENABLE_CUDASIM=1) plays kernels as Python functions, a Python thread for each of a block's.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from numba import cuda

from corrbandits.simulation.engines.compiled import cache
from corrbandits.simulation.engines.gpu.device import simulated

_F = TypeVar("_F", bound=Callable[..., Any])

SIMULATED = simulated()


def made_of() -> str:
    """Return what kernels are made of: the sources of both engines, and the compiler."""
    from numba_cuda import __version__  # the simulator does without

    sources = "".join(map(cache.stamp, (cache.FOLDER, Path(__file__).parent)))
    return f"{sources} {__version__}"


if not SIMULATED:
    from numba.cuda.core import config as of_devices
    from numba.cuda.core.caching import IndexDataCacheFile
    from numba.cuda.dispatcher import CUDACache

    of_devices.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # a few runs are worth no warning

    class _Files(cache.Stamped, IndexDataCacheFile):  # type: ignore[misc]  # numba-cuda has no types
        """Those of kernels."""

    class _Kernels(cache.Tolerant, CUDACache):  # type: ignore[misc]  # numba-cuda has no types
        """Kernels on disk: found by the name of the kernel, as long as nothing changes that they are made of."""

        def __init__(self, function: Callable[..., Any]) -> None:
            super().__init__(function)
            self._cache_file = _Files(self._cache_path, self._impl.filename_base, made_of())

        def _index_key(self, sig: Any, codegen: Any) -> Any:
            return sig, codegen.magic_tuple(), self._py_func.__qualname__


def kernel(function: Callable[..., Any], registers: int, *kind: object) -> Any:
    """Return a kernel whose threads have at most so many registers; one that is named by its kind is kept on disk."""
    if SIMULATED:
        return cuda.jit(function)
    result = cuda.jit(max_registers=registers)(function)
    if kind:
        function.__qualname__ = "_".join(map(str, (*kind, registers)))
        with suppress(RuntimeError):  # no directory can be written
            result._cache = _Kernels(function)
    return result


def part(function: _F) -> _F:
    """Make a function a part of the kernels that call it."""
    result: _F = cuda.jit(device=True)(function) if SIMULATED else cuda.jit(device=True, forceinline=True)(function)
    return result


def pure(function: _F) -> _F:
    """Make a function that touches nothing but its arguments a part of kernels and of compiled functions."""
    return function if SIMULATED else cache.part(function)


def of_cpu(compiled: _F) -> _F:
    """Return a part of the compiled engine as a part of kernels."""
    return compiled.py_func if SIMULATED else compiled  # type: ignore[attr-defined]
