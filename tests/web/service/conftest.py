import pytest

from tests.support.serving import Line, served


@pytest.fixture
def line(tmp_path):
    """A server on this machine, without tokens."""
    with served(tmp_path / "studies.db") as found:
        yield found


@pytest.fixture
def guarded(tmp_path):
    """A server with a token for each role; `people[role]` is a line of who has it."""
    from corrbandits.web.service.tokens import ROLES, new_token

    file = tmp_path / "tokens"
    secrets = {role: new_token(file, f"who may {role}", role) for role in ROLES}
    with served(tmp_path / "studies.db", tokens=file) as found:
        found.secrets, found.file = secrets, file
        found.people = {
            role: Line(found.port, headers={"Authorization": f"Bearer {secret}"}) for role, secret in secrets.items()
        }
        yield found
