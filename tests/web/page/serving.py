"""A server in a thread of the tests, and what its database holds."""

import json
import threading
import time

import numpy as np
import uvicorn

from corrbandits import Study, Vague
from corrbandits.web.service.app import application
from corrbandits.web.service.options import Options
from corrbandits.web.service.running import Server as Listening
from corrbandits.web.service.running import free_port
from tests.support import waiting

MESSY = "\ufeffPlot;COL;Row;Soil\r\n" + "".join(
    f"{'ABCDEF'[c]}{r + 1};{c},0;{r},0;{'sand' if c < 3 else 'clay'}\r\n" for r in range(4) for c in range(6)
)

PLACES = [(column, row) for row in range(4) for column in range(6)]


def until(holds, seconds=30):
    """Wait until something holds; fail if it does not."""
    assert waiting.until(holds, seconds)


def texts(page, selector):
    """Return what is shown of all elements at one moment; a locator finds them first and reads them later."""
    return page.evaluate("(css) => [...document.querySelectorAll(css)].map((one) => one.innerText)", selector)


class Server:
    """A server that can be stopped and started on the same port, over the same database."""

    def __init__(self, path, prefix=None, **options):
        self.database, port = str(path), free_port("127.0.0.1")
        proxy = None if prefix is None else f"http://127.0.0.1:{port}{prefix}"
        self.options = Options(self.database, port=port, rate=1000.0, burst=2000, proxy=proxy, **options)
        self.url = f"http://127.0.0.1:{self.options.port}{self.options.prefix}"
        self.places = {f"{'ABCDEF'[c]}{r + 1}": (100 * c, 100 * r) for c, r in PLACES}

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        app, service = application(self.options)
        config = uvicorn.Config(app, port=self.options.port, log_level="error", access_log=False, ws="none")
        self._server = Listening(config)
        self._server.service = service
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)

    def stop(self):
        if self._server.service is not None:
            self._server.service.live.end()
        self._server.should_exit = True
        self._thread.join(20)

    def study(self, name, *, rewards=0, trials=0, by=None, unit=None, **more):
        """Create a meadow of 24 sites, with some rewards and some open trials; `more` is for `Study.create`."""
        arms = {"name": list(self.places), "x": [x for x, _ in self.places.values()]}
        arms["y"] = [y for _, y in self.places.values()]
        self._create(name, arms, rewards, trials, by, unit, lambda arm: 26.0 + 2 * (arm % 6), **more)

    def drifting(self, name, *, rewards=0, trials=0, **more):
        """Create the same meadow, whose rewards say less the longer ago they were measured."""
        prior = Vague(coordinates=list(self.places.values()), drift=30.0)
        self.study(name, rewards=rewards, trials=trials, prior=prior, **more)

    def scattered(self, name, rewards, **more):
        rng = np.random.default_rng(3)
        arms = {"name": [f"site {k}" for k in range(20)], "latitude": (54 + rng.uniform(0, 0.02, 20)).tolist()}
        arms["longitude"] = (10 + rng.uniform(0, 0.03, 20)).tolist()
        self._create(name, arms, rewards, 2, "Ben", None, lambda arm: 20.0 + arm, **more)

    def line(self, name, rewards):
        arms = {"name": [f"km {k}" for k in range(30)], "x": list(range(30))}
        self._create(name, arms, rewards, 0, None, None, lambda arm: 10.0 + np.sin(arm / 4))

    def nowhere(self, name, rewards):
        self._create(name, {"name": [f"price {k}" for k in range(6)]}, rewards, 0, None, None, lambda arm: 3.0 + arm)

    def large(self, name, side, rewards):
        arms = {"x": [k % side for k in range(side**2)], "y": [k // side for k in range(side**2)]}
        self._create(name, arms, rewards, 0, None, None, lambda arm: 10 + np.sin(arm / 90), spread=True)

    def _create(self, name, arms, rewards, trials, by, unit, truth, spread=False, **more):
        rng = np.random.default_rng(0)
        with Study.create(self.database, name, arms=arms, rounds=40, unit=unit, by=by, **more) as study:
            for k in range(rewards):
                arm = int(rng.integers(study.arms.count)) if spread else study.ask().arm
                value = round(float(truth(arm) + 0.7 * rng.standard_normal()), 1)
                if spread:
                    study.observe(arm, value, key=f"k{k}")
                else:
                    study.tell(k + 1, value)
            if trials:
                study.ask(trials)

    def told(self, name):
        """Return the rewards that count, by trial."""
        with Study.open(self.database, name) as study:
            now = study.snapshot()
            return {t.number: now.reward(t) for t in now.trials if now.reward(t) is not None}

    def measured(self, name):
        """Return when the rewards that count were measured, and when they were told, by trial."""
        with Study.open(self.database, name) as study:
            entries = enumerate(study.snapshot().ledger.trials, 1)
            return {trial: (entry.when, entry.told) for trial, entry in entries if entry.status == "told"}

    def events(self, name, kind):
        """Return the events of a kind, as they are kept."""
        with Study.open(self.database, name) as study:
            return [event for event in map(json.loads, study._replica.events()) if event["event"] == kind]

    def settings(self, name):
        with Study.open(self.database, name) as study:
            return study.settings

    def open(self, name):
        with Study.open(self.database, name) as study:
            return [trial.number for trial in study.open_trials]

    def tell(self, name, trial, reward):
        with Study.open(self.database, name) as study:
            study.tell(trial, reward)

    def observe(self, name, arm, reward):
        with Study.open(self.database, name) as study:
            study.observe(arm, reward, key=f"{arm} {reward}")

    def amend(self, name, trial, reward):
        with Study.open(self.database, name) as study:
            study.amend(trial, reward)

    def retract(self, name, trial):
        with Study.open(self.database, name) as study:
            study.retract(trial)

    def cancel(self, name, trial):
        with Study.open(self.database, name) as study:
            study.cancel(trial)

    def prior(self, name):
        with Study.open(self.database, name) as study:
            return study.snapshot().prior.in_words()
