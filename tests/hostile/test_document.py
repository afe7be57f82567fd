"""schemathesis over the API's own document: requests that fit it and requests that do not, and every answer must be
one the document describes, in its status, its type, its headers and its form."""

import re
from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import given
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from chalicelib.admin import openapi
from local.gateway.server import Server
from tests.hostile.anything import bounded

CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
OPERATIONS = [found.ok() for found in schemathesis.openapi.from_dict(openapi.document()).get_all_operations()]


def _places() -> dict[str, list]:
    """Operations that belong together share a house; what removes something comes last."""
    places = {}
    for operation in sorted(OPERATIONS, key=lambda one: one.method == "delete" or "signout" in one.path):
        place = re.match(r"/(admin/api/[a-z]+|api/[a-z]+)", operation.path)[0]
        places.setdefault(place, []).append(operation)
    return places


@pytest.fixture
def url(house) -> Iterator[str]:
    def handle(method, target, headers, *rest):
        """As a member's browser asks. Their password is not known here, so the account stays."""
        return house.http._gateway.handle(method, target, [*headers, ("Cookie", house.http.cookie)], *rest)

    server = Server(handle, 0)
    server.start()
    yield f"http://127.0.0.1:{server.port}"
    server.stop()


def _cases(operation):
    """Fitting ones; where anything can be wrong, wrong ones as well."""
    fitting = operation.as_strategy()
    can_be_wrong = operation.body or operation.query or operation.path_parameters
    return fitting | operation.as_strategy(generation_mode=GenerationMode.NEGATIVE) if can_be_wrong else fitting


@pytest.mark.parametrize("place", _places())
def test_every_answer_is_one_of_the_document(place, house, url):
    for operation in _places()[place]:

        @bounded()
        @given(case=_cases(operation), data=st.data())
        def holds(case, data):
            house.abroad.say(data)
            for name in sorted(set(case.path_parameters) & set(house.known)):
                kept = st.just(case.path_parameters[name])
                case.path_parameters[name] = data.draw(kept | st.sampled_from(house.known[name]), label=name)
            case.call_and_validate(base_url=url, timeout=20, checks=CHECKS)

        holds()
