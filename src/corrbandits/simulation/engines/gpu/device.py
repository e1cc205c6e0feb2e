"""The device: whether there is one, how much it holds, and how kernels are launched on it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

INSTALL = "Install it, in a clone of the repository: pip install '.[gpu]'"

REGISTERS = 65_536
"""Of a multiprocessor."""

RESERVED = 0.1
"""The share of the device's memory that is left to others."""


@cache
def missing() -> str:
    """Return why there is no device to play on, as the rest of a sentence after "because", or ""."""
    try:
        import numba_cuda  # noqa: F401  the part of numba that knows devices; numba's own is older
        from numba import cuda
    except ImportError:
        return f"numba-cuda is not installed. {INSTALL}"
    return "" if simulated() else _without_device(cuda)


def _without_device(cuda: Any) -> str:
    """Return why numba-cuda finds no device that it can use, or ""."""
    from numba.cuda.cudadrv.error import CudaSupportError

    try:
        found = len(cuda.gpus)
        if found:
            cuda.current_context()
    except CudaSupportError as error:
        words = " ".join(str(error).split()).rstrip(" :.")  # of several lines, the last of which may say nothing
        return f"its driver is not there or does not match: {words}"
    except Exception as error:
        return f"the device cannot be used: {type(error).__name__}: {error}"
    return "" if found else "there is no NVIDIA device here"


def simulated() -> bool:
    """Return whether kernels are played by numba's simulator, which is for tests."""
    from numba import config

    return bool(getattr(config, "ENABLE_CUDASIM", False))


def present() -> bool:
    """Return whether there is a device that is worth asking; the simulator never is."""
    return not simulated() and not missing()


@cache
def shared_limit() -> int:
    """Return how many bytes a block may share."""
    if simulated():
        return 232_448
    from numba import cuda

    return int(cuda.get_current_device().MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)


@cache
def processors() -> int:
    """Return how many multiprocessors there are; the simulator has one."""
    if simulated():
        return 1
    from numba import cuda

    return int(cuda.get_current_device().MULTIPROCESSOR_COUNT)


@cache
def threads_at_once() -> int:
    """Return how many threads a multiprocessor has at once."""
    if simulated():
        return 2048
    from numba import cuda

    return int(cuda.get_current_device().MAX_THREADS_PER_MULTIPROCESSOR)


def blocks_at_once(threads: int, registers: int) -> int:
    """Return how many blocks of so many threads with so many registers each are on the device at once.

    The simulator plays one after the other: of several that wait for each other the first would wait for ever.
    """
    if simulated():
        return 1
    return processors() * min(REGISTERS // (registers * threads), threads_at_once() // threads)


def free_memory() -> int:
    """Return how many bytes of the device's memory may be taken."""
    if simulated():
        return 1 << 34
    from numba import cuda

    free, _ = cuda.current_context().get_memory_info()
    return int(free * (1 - RESERVED))


def uploaded(arrays: Any) -> Any:
    """Return a tuple of arrays and numbers with every array on the device."""
    return type(arrays)(*(sent(one) if isinstance(one, np.ndarray) else one for one in arrays))


def sent(array: Any) -> Any:
    """Return an array on the device; the simulator takes it as it is."""
    if simulated():
        return array
    from numba import cuda

    return cuda.to_device(np.ascontiguousarray(array))


def room(*shape: int, of: Any = np.float64) -> Any:
    """Return an array on the device, not yet written; zeros in the simulator."""
    if simulated():
        return np.zeros(shape, dtype=of)
    from numba import cuda

    return cuda.device_array(shape, dtype=of)


def zeros(*shape: int) -> Any:
    """Return an array of whole numbers on the device, all 0."""
    return sent(np.zeros(shape, dtype=np.int64))


def fetched(array: Any) -> Any:
    """Return an array of the device as one of NumPy's, once what was launched has ended."""
    return array if isinstance(array, np.ndarray) else array.copy_to_host()


def launch(
    kernel: Any, blocks: int, threads: int, shared: int, arguments: tuple[Any, ...], *, together: bool = False
) -> None:
    """Launch a kernel whose blocks share so many bytes each, and wait for it.

    Blocks that wait for each other must be on the device `together`: too many are refused.
    """
    if simulated():
        kernel[blocks, threads, 0, shared](*arguments)
        return
    from numba import cuda

    compiled = kernel.compile(tuple(map(kernel.typeof_pyval, arguments)))
    allow(compiled, shared)
    most = compiled.max_cooperative_grid_blocks(threads, shared) if together else blocks
    if blocks > most:  # they would wait for each other for ever
        raise RuntimeError(
            f"{blocks} blocks must be on the device at once, but it takes {most}. Use engine='compiled'."
        )
    kernel[blocks, threads, 0, shared](*arguments)
    cuda.synchronize()


def allow(compiled: Any, shared: int) -> None:
    """Let the blocks of a compiled kernel share more than the 48 kB that need no leave.

    numba-cuda has no public way to do so (its issue 94): this is what its own carveout does, with another attribute.
    """
    from cuda.bindings import driver

    function = compiled._codelibrary.get_cufunc()
    attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    (status,) = driver.cuKernelSetAttribute(attribute, shared, function.handle, function.device.id)
    if status != driver.CUresult.CUDA_SUCCESS:
        raise MemoryError(f"a block must share {shared:,} bytes, but the device refuses: {status.name}.")
