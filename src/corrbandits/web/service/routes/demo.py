"""The study to play with: what a visitor would measure, and the truth when it is asked for."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from corrbandits.web.service.common import Service, Serving, answer, needs
from corrbandits.web.service.demo import Demo
from corrbandits.web.service.problems import Problem
from corrbandits.web.service.shapes import Measuring

routes = APIRouter(prefix="/demo", tags=["demo"])


def prepared(service: Service) -> Demo:
    """Return the demonstration of a server, with its study."""
    return Demo(service.shelf.journal)


@routes.post("/measure", dependencies=[needs("tell")])
async def measure(service: Serving, measuring: Measuring) -> Response:
    """Say what one would measure at a trial's place: the truth and some noise."""
    demo = _demo(service)
    if measuring.study != demo.study:
        raise Problem(404, f"only {demo.study!r} can be measured here; what grows elsewhere only its people know.")

    def arm() -> int:
        now = service.shelf.use(demo.study, lambda desk: desk.snapshot())
        if measuring.trial > len(now.ledger.trials):
            raise Problem(404, f"there is no trial {measuring.trial}. Ask first.")
        return now.ledger.entry(measuring.trial).arm

    return answer({"reward": demo.measured(measuring.trial, await service.work.run(arm))})


@routes.get("/truth", dependencies=[needs("read")])
async def truth(service: Serving) -> Response:
    """Reveal the true mean rewards of the study to play with."""
    demo = _demo(service)
    return answer({"study": demo.study, "mean": demo.truth.tolist(), "noise_sd": demo.noise})


def _demo(service: Service) -> Demo:
    if service.demo is None:
        raise Problem(404, "there is no demonstration here: start the server with --demo.")
    demo: Demo = service.demo
    return demo
