"""The responses API Gateway gives by itself, read from the templates that define them when deployed."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_ROOT = Path(__file__).parents[2]

# Used where no template defines one.
_DEFAULTS = {
    "MISSING_AUTHENTICATION_TOKEN": (404, "Not found"),
    "UNAUTHORIZED": (401, "Unauthorized"),
    "ACCESS_DENIED": (403, "Forbidden"),
    "AUTHORIZER_CONFIGURATION_ERROR": (500, "Server misconfiguration"),
    "AUTHORIZER_FAILURE": (500, "Internal server error"),
    "REQUEST_TOO_LARGE": (413, "The request is too large"),
    "INTEGRATION_FAILURE": (502, "Internal server error"),
}


@dataclass(frozen=True)
class GatewayResponse:
    status: int
    headers: tuple[tuple[str, str], ...]
    template: str

    def body(self, context: Mapping[str, Any]) -> bytes:
        """The template with its `$context.…` names filled in, as far as they are known; unknown ones are empty."""
        return re.sub(r"\$context\.([\w.]+\w)", lambda name: _looked_up(context, name[1]), self.template).encode()


@cache
def load(folder: Path = _ROOT / "deploy") -> dict[str, GatewayResponse]:
    """Every kind of answer: what the templates in `folder` define, and defaults for the rest."""
    found = {kind: _default(status, reason) for kind, (status, reason) in _DEFAULTS.items()}
    for file in sorted(folder.glob("*.yaml")):
        for resource in ((yaml.safe_load(file.read_text()) or {}).get("Resources") or {}).values():
            if resource.get("Type") == "AWS::ApiGateway::GatewayResponse":
                kind = resource["Properties"]["ResponseType"]
                found[kind] = _defined(resource["Properties"], found.get(kind))
    return found


def _default(status: int, reason: str) -> GatewayResponse:
    return GatewayResponse(status, (("Content-Type", "application/json"),), json.dumps({"error": reason}))


def _defined(properties: Mapping[str, Any], otherwise: GatewayResponse | None) -> GatewayResponse:
    prefix = "gatewayresponse.header."
    headers = {"Content-Type": "application/json"}
    for name, value in (properties.get("ResponseParameters") or {}).items():
        if name.startswith(prefix):
            headers[name.removeprefix(prefix)] = str(value).strip("'")
    templates = properties.get("ResponseTemplates") or {}
    template = templates.get("application/json", otherwise.template if otherwise else "")
    status = properties.get("StatusCode", otherwise.status if otherwise else 500)
    return GatewayResponse(int(status), tuple(headers.items()), template)


def _looked_up(context: Mapping[str, Any], path: str) -> str:
    value: Any = context
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return "" if value is None else str(value)
