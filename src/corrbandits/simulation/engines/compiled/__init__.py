"""The compiled engine: the arithmetic of beliefs and rules in place, in loops without Python.

    name        shape          meaning                                                        paper
    S           (N(N-1)/2,)    covariance below the diagonal, row by row                      Sigma(t)
    d           (N,)           its diagonal                                                   sigma_i^2(t)
    mu          (N,)           posterior means                                                mu_i(t)
    w           (N,)           what the width multiplies: s_i, or s_i sqrt(sum_j rho_ij^2)    -
    inverse     (N,)           1 / d, and 0 where d is only rounding                          -
    floor       (N,)           variances at or below it are rounding                          -
    sums        (N,)           sums of rewards                                                n_i(t) mbar_i(t)
    counts      (N,)           numbers of rewards                                             n_i(t)
    noise       (N,)           variances of a reward                                          sigma_s^2

Who calls whom, from the outside in:

    engine    `Compiled` plays runs. For each it makes the state of the belief and finds the loop of the rule; for each
              block of steps it calls that loop with the noise and the rule's schedule.
    loops     A loop repeats: choose an arm (the initialisation phase first, then the rule), pull it, observe its
              reward. `LOOPS` says which rule has which loop:
                  printed_limits               CorrelatedUCL on correlated arms
                  limits_joint, _apart         UCL, CorrelatedUCL without its factor, BayesUCB, GPUCB, Greedy,
                                               EpsilonGreedy, Uniform
                  draws_joint, _apart          Thompson
                  gains_joint, _apart          KnowledgeGradient
                  averages                     UCB1
    given     first_arm -> pending_arm.
    choose    arm_at_random; largest_limit; draw; likely_printed_limit -> find_candidates -> measure, then row for each
              candidate.
    gains     largest_gain_joint -> row, gain_of_lines; largest_gain_apart -> gain_alone.
    update    pull gives the reward. observe_joint ends the streak of another arm (settle, or defer -> carry), begins
              one of this arm (start) and takes the reward into it (take); printed_limits does the same itself, since
              it needs every w between settle and start. observe_apart changes one arm.
    state     the belief (`Joint`, `Apart`) and the steps (`Steps`) that all of these read and write.
    mixed_    the same on a belief told nothing. mixed_loops: limits_mixed plays HorizonUCL, GPUCB and Greedy,
              indices_mixed Gittins. mixed_choose: opening_arm, then weigh_parts -> under_part, index_parts ->
              under_part. mixed_update: observe_mixed -> observe_lasting -> begin_streak -> take_products or, where mean
              rewards change, observe_fading -> take_products, then fade. mixed_state: `Mixed`, `Told`.
    changing_loops  the same on beliefs that change with time. TURNS says for each kind of state how time passes, how
              every w is set and how a reward is taken in; limits_of, printed_of and indices_of make loops of these.
    drifting_ a drifting belief of known scale. drifting_update: relax_joint, _apart and _printed let time pass;
              observe_drifting -> row_drifting, carry_drifting; observe_printed. drifting_state: `DriftingJoint`,
              `DriftingPrinted`, `DriftingApart`.
    scales    one whose scale is not known: drifting beliefs side by side, and how likely each is (`Scales`).
    forgetting_  a windowed or discounted belief. forgetting_update: forget_joint, _apart let go of what no longer
              counts; observe_windowed -> lean; observe_forgetting -> infer_apart; discount_joint -> take_average.
              forgetting_state: `WindowedJoint`, `DiscountedJoint`, `ForgettingApart`.
    weighed   a belief on correlated arms computed anew from averages: take_average -> row_less.
    around_   rules around another rule, on any of these beliefs. around_state: `Layers`, what the rules around it are
              and remember, and `Within`, what the rule within needs. around_loops: loop_of makes a loop of the
              functions that give values to arms and take in a reward. around_write: those values. around_choose:
              certify, early_arm, outer_arm, inner_arm and on_the_way, what the layers make of them. around_changing
              and around_mixed begin such loops on the other beliefs.
    cache     how functions are compiled: a loop as a whole (`compiled`, or `distinct` where no two of its arrays
              overlap), what it calls as a part of it (`part`).

Nothing in loops, choose, update and their forms on other beliefs and around rules allocates, raises or calls
Python, so runs go side by side in threads. Random numbers are those NumPy would draw.
"""

from corrbandits.simulation.engines.compiled.engine import Compiled

__all__ = ["Compiled"]
