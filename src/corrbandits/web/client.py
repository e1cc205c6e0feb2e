"""A study that a server keeps: the calls of `Study`, made over HTTP; those that only read are `Looking`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, final, overload
from urllib.parse import quote

from corrbandits._core import checks
from corrbandits.study.arms import Arms, checked_name
from corrbandits.study.batch import Observed, Told, rows_of
from corrbandits.study.measured import When
from corrbandits.study.trial import Trial
from corrbandits.web.answers import (
    allowed_of,
    columns_of,
    costs_of,
    key_of,
    number_of,
    reward_of,
    trial_of,
    when_in,
    when_of,
)
from corrbandits.web.looking import Looking, Trials
from corrbandits.web.transport import Transport, parted

if TYPE_CHECKING:
    from corrbandits.moves import Moves

API = "/api/v1"


@final
class Client(Looking):
    """A study on a server: ask what to try, tell its reward, as with `Study`; so a script changes one line.

    `url` is the address of the study's page, such as `https://field.example.org/s/meadow`, or that of the server, with
    `study`. `token` is what `corrbandits token` made; without one, the variable CORRBANDITS_TOKEN, if there is one.
    Where the server cannot be reached a call is made again for `patience` seconds: each has a key, so that it is
    counted once. After that it raises `JournalError`, as a study does whose database cannot be reached.

    >>> client = Client("https://field.example.org/s/north%20meadow", "secret")
    >>> client
    <Client 'north meadow' at https://field.example.org>
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        study: str | None = None,
        by: str | None = None,
        patience: float = 60.0,
        timeout: float = 60.0,
    ) -> None:
        self._server, named = parted(url)
        if study is None and named is None:
            raise ValueError(
                f"the address of a study such as {url.rstrip('/')}/s/meadow was expected, got {url!r:.100}."
            )
        self.name = checked_name("the name of a study", study if study is not None else named)
        patience = checks.number("patience", patience, least=0)
        self._transport = Transport(self._server, token, by=by, patience=patience, timeout=timeout)
        self._path = f"{API}/studies/{quote(self.name, safe='')}"

    @classmethod
    def create(
        cls,
        url: str,
        name: str,
        *,
        arms: Any,
        rounds: int | None = None,
        seed: int = 0,
        goal: Literal["max", "min"] = "max",
        repeat: bool = True,
        timeout: float | None = None,
        unit: str | None = None,
        moves: Moves | None = None,
        told: Mapping[str, Any] | None = None,
        token: str | None = None,
        by: str | None = None,
    ) -> Client:
        """Begin a study on a server; `told` may say mean, sd, length, noise_sd and drift, as `Vague` does.

        `moves` is what it costs to go from arm to arm, `Moves(per_move=3.0, per_distance=0.1)`: then `ask` weighs it.
        """
        known = Arms.of(arms)
        columns = {"name": [known.name(k) for k in range(known.count)]} | columns_of(known)
        data: dict[str, Any] = {
            "name": name,
            "arms": columns,
            "rounds": rounds,
            "seed": seed,
            "goal": goal,
            "repeat": repeat,
        }
        data |= {"timeout": timeout, "unit": unit, "told": None if told is None else dict(told)}
        data |= {} if moves is None else {"moves": costs_of(moves)}
        made = cls(url, token, study=name, by=by)
        made._transport.post(f"{API}/studies", data)
        return made

    @staticmethod
    def list(url: str, token: str | None = None) -> tuple[str, ...]:
        """Return the names of the studies on a server."""
        transport = Transport(parted(url)[0], token, by=None, patience=60.0, timeout=60.0)
        found = transport.get(f"{API}/studies")
        transport.close()
        return tuple(one["name"] for one in found["studies"])

    @overload
    def ask(
        self,
        n: None = None,
        *,
        allowed: Any = None,
        repeats: bool = False,
        start: int | str | None = None,
        key: str | None = None,
    ) -> Trial: ...
    @overload
    def ask(
        self,
        n: int,
        *,
        allowed: Any = None,
        repeats: bool = False,
        start: int | str | None = None,
        key: str | None = None,
    ) -> Trials: ...
    def ask(
        self,
        n: int | None = None,
        *,
        allowed: Any = None,
        repeats: bool = False,
        start: int | str | None = None,
        key: str | None = None,
    ) -> Trial | Trials:
        """Return what to try next; with `n`, a list of so many trials that take each other into account."""
        data: dict[str, Any] = {"n": n, "repeats": repeats}
        if start is not None:
            data["from"] = start if isinstance(start, str) else int(start)
        if allowed is not None:
            data["allowed"] = allowed_of(allowed)
        found = self._transport.post(f"{self._path}/ask", data, key_of(key))
        trials = [trial_of(one) for one in found["trials"]]
        return trials[0] if n is None else trials

    def tell(self, trial: Trial | int, reward: float, *, at: When = None) -> None:
        """Tell the reward of a trial. Telling the same again changes nothing; another is refused: see `amend`.

        `at` is when it was measured, by default now: as `Study.tell` takes it.
        """
        self._change(trial, "tell", {"reward": reward_of(reward)} | when_of(at))

    def observe(self, arm: int | str, reward: float, *, key: str | None = None, at: When = None) -> Trial:
        """Add a reward that was not asked for, of an arm given by index or name; return the trial it counts as."""
        data: dict[str, Any] = {"arm": arm if isinstance(arm, str) else int(arm), "reward": reward_of(reward)}
        data |= when_of(at)
        return trial_of(self._transport.post(f"{self._path}/observe", data, key_of(key)))

    def tell_all(self, rewards: Mapping[int, float] | Iterable[Told]) -> int:
        """Tell the rewards of many trials, all or none; return how many were new."""
        rows = rewards.items() if isinstance(rewards, Mapping) else rewards
        told = [(number_of(trial), reward_of(reward), *when_in(when)) for trial, reward, *when in rows]
        return int(self._transport.post(f"{self._path}/rewards", {"tell": told})["told"])

    def observe_all(self, rewards: Iterable[Observed]) -> int:
        """Add many rewards that were not asked for, as `Study.observe_all` takes them, all or none; return how many."""
        given = [
            (arm if isinstance(arm, str) else int(arm), reward_of(reward), key, when_of(at).get("at"))
            for arm, reward, key, at in rows_of(rewards)
        ]
        return int(self._transport.post(f"{self._path}/rewards", {"observe": given})["observed"])

    def cancel(self, trial: Trial | int) -> None:
        """Give a trial up: its reward is awaited no longer."""
        self._change(trial, "cancel", None)

    def amend(self, trial: Trial | int, reward: float, *, was: float | None = None) -> None:
        """Replace a wrong reward by another. The wrong one stays in the journal.

        With `was`, only if that is the reward now: refused if somebody else has changed it meanwhile, also while this
        call is made again because no answer came.
        """
        self._change(trial, "amend", {"reward": reward_of(reward), **_seen(was)})

    def retract(self, trial: Trial | int, *, was: float | None = None) -> None:
        """Take an observation back, as if it had never been made. It stays in the journal; `was` as in `amend`."""
        self._change(trial, "retract", _seen(was) or None)

    def add_arms(
        self,
        arms: Any,
        *,
        coordinates: Any = None,
        mean: Any = None,
        noise_variance: Any = None,
        key: str | None = None,
    ) -> None:
        """Add arms to a study whose prior is made of a kernel, as `Study.add_arms` does; with a `key`, once."""
        given = {"coordinates": coordinates, "mean": mean, "noise_variance": noise_variance}
        more = {name: checks.numbers(name, value).tolist() for name, value in given.items() if value is not None}
        self._transport.post(f"{self._path}/arms", {"arms": columns_of(Arms.of(arms)), **more}, key_of(key))
        self.__dict__.pop("arms", None)  # what was read of them before

    def close(self) -> None:
        """Close the connection to the server; a later call opens it again."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client {self.name!r} at {self._server}>"

    def _change(self, trial: Trial | int, verb: str, data: Any) -> None:
        self._transport.post(f"{self._path}/trials/{number_of(trial)}/{verb}", data)


def _seen(was: float | None) -> dict[str, float]:
    return {} if was is None else {"was": reward_of(was)}
