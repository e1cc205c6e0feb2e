"""The engine on an NVIDIA device."""

from corrbandits.simulation.engines.gpu.engine import Gpu, GpuSameNoise

__all__ = ["Gpu", "GpuSameNoise"]
