"""Studies for the tests that ask for them."""

import pytest

import corrbandits as cb
from corrbandits.study import Study
from tests.support.studies import related


@pytest.fixture
def begin(tmp_path):
    """Create studies in a file of this test, and close them afterwards."""
    made = []

    def create(name="meadow", *, prior=None, policy=None, **settings):
        given = {"prior": prior or related(), "policy": policy or cb.CorrelatedUCL(a=2.0)} | settings
        study = Study.create(f"sqlite:///{tmp_path}/survey.db", name, **given)
        made.append(study)
        return study

    create.url = f"sqlite:///{tmp_path}/survey.db"
    create.also = lambda study: made.append(study) or study
    yield create
    for study in made:
        study.close()
