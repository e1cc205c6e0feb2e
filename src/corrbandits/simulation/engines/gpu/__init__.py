"""The engine on an NVIDIA device: all runs of a batch at once, by kernels of numba-cuda.

Who calls whom, from the outside in:

    engine      `Gpu` plays a batch of runs launch by launch, a tenth of a second each. `refusing` says what it cannot
                play, `device` whether there is a device.
    game        `Game` is a batch on the device: what is uploaded, launched and fetched. `shapes` says how runs are laid
                out in blocks and threads.
    joint       A block of threads plays a run on correlated arms, a thread an arm; half the covariance lies in shared
                memory up to 235 arms, in the device's beyond. A step: `first_arm` or the rule chooses (joint_choose,
                joint_draw), `settle` and `start` change the streak, `take` takes the reward in (joint_update).
    apart       A thread plays a run on independent arms, by the parts of the compiled engine.
    parts       What both do. `counted` draws random numbers, `lanes` compares over the threads of a block.
    compiling   How all this is compiled: for a device, or not at all, for numba's simulator.

The arithmetic is that of `engines.compiled`, streaks included: `compiled.update` derives it.
"""

from corrbandits.simulation.engines.gpu.engine import Gpu, GpuSameNoise

__all__ = ["Gpu", "GpuSameNoise"]
