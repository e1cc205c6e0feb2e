"""schemathesis tries the whole interface as its description says, and as it does not: nothing else comes back."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import missing_required_header, positive_data_acceptance

from tests.support.serving import ARMS, served

pytestmark = pytest.mark.slow

NOT_ASKED = [positive_data_acceptance, missing_required_header]
"""What JSON Schema cannot say, such as that arms have different names, is refused though it fits."""

ANY_TEXT = "/live$|/preview$"
"""Not tried: a stream has no end, and every text may be looked at as a table."""

CALLS = 25


@pytest.fixture(scope="module")
def line(tmp_path_factory):
    with served(tmp_path_factory.mktemp("openapi") / "studies.db", demo=True, seconds=20.0) as found:
        study = found.create("meadow")
        for k in range(8):
            trial = found.post(f"{study}/ask").data["trials"][0]
            found.post(f"{study}/trials/{trial['trial']}/tell", {"reward": 20.0 + trial["arm"] + k / 10})
        yield found


EVERY_TIME = settings(derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
"""The same calls every time."""


def aimed(case):
    """Turn half of the calls to a study that there is, and to trials and arms of it."""
    place = case.path_parameters or {}
    if "study" in place and len(str(place["study"])) % 2:
        place["study"] = "meadow"
        for name, most in (("number", 12), ("arm", 30)):
            if isinstance(place.get(name), int):
                place[name] = 1 + place[name] % most
    return case


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_answer_is_as_described(line, mode):
    interface = schemathesis.openapi.from_url(f"{line.url}/api/v1/openapi.json").exclude(path_regex=ANY_TEXT)
    found, tried = {}, 0
    for result in interface.get_all_operations():
        operation = result.ok()
        try:
            strategy = operation.as_strategy(generation_mode=mode)

            @settings(EVERY_TIME, max_examples=CALLS)
            @given(case=strategy)
            def call(case):
                aimed(case).call_and_validate(excluded_checks=NOT_ASKED)

            call()
        except Unsatisfiable:  # nothing about this one can be wrong
            continue
        except Exception as error:
            found[operation.label] = str(error)[:1500]
        tried += 1
    assert not found, "\n\n".join(f"{label}: {error}" for label, error in found.items())
    assert tried > 15


def test_the_description_names_every_route(line):
    described = line.get("/api/v1/openapi.json").data
    assert described["openapi"].startswith("3.1")
    assert len(described["paths"]) > 25
    for path, operations in described["paths"].items():
        for operation in operations.values():
            assert operation["summary"], path
            assert operation["description"], path
            codes = operation["responses"]
            assert codes["400"]["content"].keys() == {"application/problem+json"}


def test_a_method_that_is_not_taken_says_which_are(line):
    refused = line.request("PUT", "/api/v1/studies", ARMS)
    assert (refused.status, refused.headers["Allow"]) == (405, "GET, POST")
