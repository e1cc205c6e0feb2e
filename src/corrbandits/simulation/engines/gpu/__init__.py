"""The engine on an NVIDIA device: all runs of a batch at once, by kernels of numba-cuda.

Who calls whom, from the outside in:

    engine      `Gpu` plays a batch of runs launch by launch, a tenth of a second each; `GpuSameNoise` also games that
                differ, at once those that `together` puts into one lot. `refusing` says what cannot be played, `device`
                whether there is a device, `paying` whether it is worth asking.
    game        `Game` is a batch on the device: what is uploaded (`problems`, `stacking`), launched and fetched.
                `shapes` says how runs are laid out in blocks and threads (`team_shapes`: in teams of blocks), `memory`
                how many fit at once.
    joint       A block of threads plays a run on correlated arms, a thread an arm, as long as half the covariance fits
                into its shared memory: 235 arms. A step: `first_arm` or the rule chooses (joint_choose, joint_draw),
                `settle` and `start` change the streak, `take` takes the reward in (joint_update).
    team        On more arms one or more blocks play a run, the covariance in the device's memory (`strips`), or, on a
                grid, nowhere (team_state). A step is as in `joint` (team_choose, team_draw, team_update); a `sweep`
                passes over the covariance; blocks meet in `meeting`.
    mixed       A block of threads plays a run on a belief told nothing, a thread an arm under some parts (mixed_state):
                `weigh` weighs the parts and `mix` adds them up (mixed_choose), `begin_streak` changes the arm, `take`
                takes the reward in (mixed_update).
    apart       A thread plays a run on independent arms, by the parts of the compiled engine.
    parts       What all do, first of all take the problem of a run. `counted` draws random numbers, `lanes` compares
                over the threads of a block.
    compiling   How all this is compiled: for a device, or not at all, for numba's simulator.

The arithmetic is that of `engines.compiled`, streaks included: `compiled.update` derives it.
"""

from corrbandits.simulation.engines.gpu.engine import Gpu, GpuSameNoise, OnDevice
from corrbandits.simulation.engines.gpu.paying import sooner

__all__ = ["Gpu", "GpuSameNoise", "OnDevice", "sooner"]
