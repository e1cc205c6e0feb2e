"""A fingerprint tells any two values apart, and does not change when a value is used."""

import copy
import pickle
import subprocess
import sys
import types
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.simulation.fingerprint import fingerprint

WHERE = cb.landscapes.grid(2, 3)
RNG = np.random.default_rng(0)


def correlated(mean=0.0, length=2.0, noise=1.0):
    return cb.Correlated(mean=mean, kernel=cb.Exponential(length), coordinates=WHERE, noise_variance=noise)


def independent(mean=0.0, variance=2.0, noise=1.0):
    return cb.Independent(mean=mean, variance=variance, noise_variance=noise, arms=6)


BELIEFS = {
    "correlated": correlated,
    "independent": independent,
    "implicit": lambda: cb.Implicit(kernel=cb.Exponential(2.0), coordinates=WHERE, noise_variance=1.0),
    "beta": lambda: cb.Beta(arms=6),
    "seen": lambda: correlated().observe([1, 1, 4], [0.5, 1.5, 2.0]),
    "awaiting": lambda: independent().assume([2, 2]),
}


@pytest.mark.parametrize("make", BELIEFS.values(), ids=BELIEFS)
def test_using_a_belief_does_not_change_its_fingerprint(make):
    belief, before = make(), fingerprint(make())
    belief.observe(1, 1.0).observe([0, 1], [1.0, 0.0])
    belief.observe_all([1, 0, 0, 0, 0, 2], [1.0, 0, 0, 0, 0, 2.0])
    belief.sample(RNG)
    belief.observe(2, 1.0).sample(RNG)
    belief.credible_limit(-3.0)
    belief.assume([1]).sample(RNG)
    belief.merge(belief)
    if hasattr(belief, "spread"):
        belief.spread()
        belief.covariance_with(1)
    bandit = cb.GaussianBandit(np.linspace(0, 1, 6), 1.0) if not isinstance(belief, cb.Beta) else None
    bandit = bandit or cb.BernoulliBandit(np.linspace(0, 1, 6))
    cb.simulate({"a": (cb.Thompson(), belief)}, bandit, 20, 2)
    assert fingerprint(belief) == before
    for twin in (copy.deepcopy(belief), pickle.loads(pickle.dumps(belief))):
        assert fingerprint(twin) == before


def vague(**told):
    return cb.Vague(coordinates=WHERE, parts=4, **told)


@pytest.mark.parametrize(
    "told", [{}, {"mean": 0.0, "sd": (0.5, 2.0), "length": 2.0, "noise_sd": 1.0}, {"drift": True}], ids=str
)
def test_using_a_belief_told_little_does_not_change_its_fingerprint(told):
    belief, before = vague(**told), fingerprint(vague(**told))
    seen = belief.observe([0, 1, 5, 2, 2], [1.0, 0.0, 2.0, 3.0, 2.5])
    after = fingerprint(seen)
    seen.sample(RNG)
    seen.covariance_with(1)
    seen.credible_limit(-3.0)
    seen.assume([1]).observe(2, 1.0).learnt()
    for policy in (cb.Gittins(20), cb.Thompson()):
        cb.simulate({"a": (policy, belief)}, cb.GaussianBandit(np.linspace(0, 1, 6), 1.0), 10, 2)
    assert (fingerprint(belief), fingerprint(seen)) == (before, after)
    for twin in (copy.deepcopy(seen), pickle.loads(pickle.dumps(seen))):
        assert fingerprint(twin) == after


def test_using_an_environment_does_not_change_its_fingerprint():
    bandit = cb.GaussianBandit([0.0, 1.0], 1.0)
    before = fingerprint(bandit)
    assert bandit.gaps[0] == 1
    assert bandit.optimal[1]
    assert fingerprint(bandit) == before == fingerprint(pickle.loads(pickle.dumps(bandit)))


@dataclass(frozen=True)
class Own:
    schedule: object


def doubled(x, factor=2):
    return factor * x


A_HAIR = np.nextafter(1.0, 2.0)
DIFFERENT = [
    *(make() for make in BELIEFS.values()),
    correlated(mean=1e-300),
    correlated(length=2 * A_HAIR),
    correlated(noise=[1, 1, 1, 1, 1, A_HAIR]),
    independent(mean=[0, 0, 0, 0, 0, 1e-300]),
    independent(variance=2 * A_HAIR),
    independent(variance=np.inf),
    independent(noise=A_HAIR),
    independent().observe(0, 0.0),
    correlated().observe([1, 1, 4], [0.5, A_HAIR + 0.5, 2.0]),
    independent().assume([2]),
    cb.Beta(successes=2.0, arms=6),
    vague(),
    vague(length=2.0),
    vague(length=(2.0, 3.0)),
    vague(mean=0.0),
    vague(mean=1e-300),
    vague(sd=1.0),
    vague(noise_sd=1.0),
    vague(site=0.5),
    vague(kernel="matern32"),
    vague(distance="cityblock"),
    vague(relative_noise=[1, 1, 1, 1, 1, A_HAIR]),
    vague().observe(0, 0.0),
    cb.Vague(coordinates=WHERE, parts=5),
    cb.Vague(arms=6, parts=4),
    vague(drift=True),
    vague(drift=5.0),
    vague(drift=(5.0, 6.0)),
    vague(drift=5.0).observe(0, 0.0),
    vague(drift=5.0).after(2.0).observe(0, 0.0),
    cb.Gittins(),
    cb.Gittins(20),
    cb.HorizonUCL(20),
    cb.GaussianBandit(np.zeros(6), 1.0),
    cb.GaussianBandit(np.zeros(6), A_HAIR),
    cb.GaussianBandit([0, 0, 0, 0, 0, 1e-300], 1.0),
    cb.GaussianBandit(np.zeros(6), 1.0, coordinates=WHERE),
    cb.GaussianBandit(np.zeros(6), 1.0, coordinates=WHERE, shape=(2, 3)),
    cb.BernoulliBandit(np.zeros(6)),
    cb.UCL(),
    cb.UCL(a=A_HAIR),
    cb.CorrelatedUCL(),
    cb.CorrelatedUCL(factor=False),
    cb.Greedy(),
    cb.Uniform(),
    *(None, 0, 1, True, False, 0.0, -0.0, 1.0, np.float64(1.0), np.float32(1.0), "1", b"1", "", (), [], {}, set()),
    *((1, 2), (2, 1), [1, 2], ((1,), 2), {1: 2}, {2: 1}, {1, 2}, ("ab", "c"), ("a", "bc"), "abc"),
    *(np.zeros(2), np.zeros((2, 1)), np.zeros(2, dtype=np.float32), np.zeros(2, dtype=np.int64), np.zeros(0)),
    np.array([1, "a"], dtype=object),
    *(Own(1), Own(2), Own(doubled), Own(lambda x: x), Own(lambda x: x + 1), Own(partial(doubled, factor=3))),
    *(Own(max), Own(float), Own((lambda k: lambda x: k * x)(1)), Own((lambda k: lambda x: k * x)(2))),
]


def test_whatever_differs_has_another_fingerprint():
    found = [fingerprint(value) for value in DIFFERENT]
    for i, one in enumerate(found):
        for j, other in enumerate(found[:i]):
            assert one != other, (DIFFERENT[i], DIFFERENT[j])


def test_the_order_in_which_rewards_came_does_not_matter():
    one, other = independent().observe([0, 1, 0], [1.0, 2.0, 3.0]), independent().observe([1, 0, 0], [2.0, 3.0, 1.0])
    assert fingerprint(one) == fingerprint(other)


def test_another_process_finds_the_same():
    code = (
        "import corrbandits as cb\nfrom corrbandits.simulation.fingerprint import fingerprint\n"
        "prior = cb.Correlated(kernel=cb.Exponential(2.0), coordinates=cb.landscapes.grid(2, 3), noise_variance=1.0)\n"
        "print(fingerprint((cb.UCL(), prior, {'a', 'b', 'c'})))"
    )
    said = {subprocess.check_output([sys.executable, "-c", code], text=True).strip() for _ in range(2)}
    assert said == {fingerprint((cb.UCL(), correlated(), {"a", "b", "c"}))}


def test_what_cannot_be_told_apart_is_refused_in_words():
    import threading

    with pytest.raises(TypeError, match=r"a checkpoint must be able to tell Own .* do without a checkpoint"):
        fingerprint(Own(threading.Lock()))
    around = []
    around.append(around)
    with pytest.raises(TypeError, match="do without a checkpoint"):
        fingerprint(around)


# what code depends on


def module_of(name, code, **others):
    """Return a module of one's own, as `import` would make it."""
    module = types.ModuleType(name)
    vars(module).update(others)
    exec(code, vars(module))
    return module


CODE = """
import math
from functools import cached_property, lru_cache
import numba, numpy as np
from numpy import exp
import corrbandits as cb

LENGTH = 2.0
TABLE = np.arange(3.0)
UNUSED = 1.0
PLACE = {"scale": 3.0}

def helper(x):
    return x / LENGTH

def around(n):
    return n and again(n - 1)

def again(n):
    return around(n) + TABLE[0]

def direct(x, y=None): return exp(-x / LENGTH)
def nested(x, y=None): return [z / LENGTH for z in x] + (lambda: PLACE["scale"])()
def called(x, y=None): return math.exp(helper(x))
def cyclic(x, y=None): return around(int(x))
cached = lru_cache(helper)
compiled = numba.njit(helper)
by_name = np.vectorize(helper)

class Base:
    power = 1
    def __call__(self, x, y=None): return self.scaled(x) ** self.power
    def scaled(self, x): return x / 2

class Kernel(Base):
    @property
    def prop(self): return 1
    @staticmethod
    def static(): return LENGTH
    @cached_property
    def kept(self): return 5

class Policy(cb.Policy):
    def __init__(self, kernel): self.kernel = kernel
    def _choose(self, belief, t, rng, arms): return int(TABLE[1])

kernel, policy = Kernel(), Policy(called)
"""
NAMES = ["direct", "nested", "called", "cyclic", "cached", "compiled", "by_name", "kernel", "policy"]
CHANGES = [
    (
        "LENGTH = 2.0",
        "LENGTH = 2.5",
        {"direct", "nested", "called", "cached", "compiled", "by_name", "kernel", "policy"},
    ),
    ("arange(3.0)", "arange(4.0)", {"cyclic", "policy"}),
    ('"scale": 3.0', '"scale": 3.5', {"nested"}),
    ("return x / LENGTH", "return x * LENGTH", {"called", "cached", "compiled", "by_name", "policy"}),
    ("power = 1", "power = 2", {"kernel"}),
    ("return x / 2", "return x / 3", {"kernel"}),
    ("prop(self): return 1", "prop(self): return 2", {"kernel"}),
    ("kept(self): return 5", "kept(self): return 6", {"kernel"}),
    ("return int(TABLE[1])", "return int(TABLE[2])", {"policy"}),
    ("UNUSED = 1.0", "UNUSED = 2.0", set()),
    ("LENGTH = 2.0", "\n\nLENGTH = 2.0", set()),
]


@pytest.mark.parametrize(("before", "after", "other"), CHANGES, ids=[after.strip() for _, after, _ in CHANGES])
def test_code_of_ones_own_is_compared_with_the_globals_it_names(before, after, other):
    assert CODE.count(before) == 1
    one, two = module_of("own", CODE), module_of("own", CODE.replace(before, after))
    differing = {name for name in NAMES if fingerprint(getattr(one, name)) != fingerprint(getattr(two, name))}
    assert differing == other


def test_what_is_taken_from_modules_of_ones_own_is_compared():
    code = "def kernel(x): return settings.deep.LENGTH * x"
    found = set()
    for length in (1.0, 2.0):
        settings = module_of("settings", "", deep=module_of("settings.deep", f"LENGTH = {length}\nOTHER = {length}"))
        settings.deep.settings = settings
        found.add(fingerprint(module_of("own", code, settings=settings).kernel))
    assert len(found) == 2


def test_another_process_finds_the_same_of_code_of_ones_own(tmp_path):
    (tmp_path / "own.py").write_text(CODE)
    code = (
        "import own\nfrom corrbandits.simulation.fingerprint import fingerprint\n"
        f"print([fingerprint(getattr(own, name)) for name in {NAMES}])"
    )
    said = {subprocess.check_output([sys.executable, "-c", code], text=True, cwd=tmp_path) for _ in range(2)}
    assert len(said) == 1


def test_a_global_without_content_is_refused_by_name():
    own = module_of("own", "import threading\nLOCK = threading.Lock()\ndef f(): return LOCK\ndef kernel(x): return f()")
    with pytest.raises(TypeError, match=r"cannot: LOCK, which f uses, is a lock\. Keep .* do without a checkpoint"):
        fingerprint(own.kernel)


def test_a_kernel_whose_global_has_changed_does_not_get_the_results_of_the_one_before(tmp_path):
    bandit, found = cb.GaussianBandit(np.arange(6.0), 1.0, coordinates=WHERE), []
    for length in (1.0, 3.0):
        own = module_of(
            "own", f"import corrbandits as cb\nL = {length}\ndef kernel(x, y=None): return cb.Exponential(L)(x, y)"
        )
        players = {"a": (cb.UCL(), cb.Implicit(kernel=own.kernel, coordinates=WHERE, noise_variance=1.0))}
        if found:
            with pytest.raises(ValueError, match="another belief of 'a'"):
                cb.simulate(players, bandit, 5, 1, checkpoint=tmp_path)
        else:
            found.append(cb.simulate(players, bandit, 5, 1, checkpoint=tmp_path))
