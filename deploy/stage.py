"""The settings of a stage: read from its file, and as the parameters of its stack."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parseaddr
from pathlib import Path
from typing import Any

from chalicelib.kernel import addresses

FOLDER = Path(__file__).parent / "stages"

# Parameters of the stack that are not settings of the app.
_ONLY_PARAMETERS = {"DOMAIN_NAME": "DomainName", "CERTIFICATE_ARN": "CertificateArn"}
# Applied to the template itself: see `template.set_execute_api`.
_CLOSE = "DISABLE_EXECUTE_API"
# Secrets that a provider has issued, and nobody can generate.
_PUT_BY_HAND = {"YOUTUBE_API_KEY", "YOUTUBE_CLIENT_SECRET"}
_FROM_STAGE = {
    "GNA_PREFIX",
    "SECRETS_PATH",
    "CONFIGURATION_SET",
    "VALIDATING_CONFIGURATION_SET",
    "DOWNLOADS_BUCKET",
    "MEDIA_BUCKET",
}


class Refused(SystemExit):
    """Ends the program with one line that says what to do, and a non-zero exit code."""


@dataclass(frozen=True)
class Stage:
    name: str
    settings: Mapping[str, str]

    @property
    def prefix(self) -> str:
        return f"gna-{self.name}"

    @property
    def secrets_path(self) -> str:
        return f"/gna/{self.name}"

    @property
    def environment(self) -> dict[str, str]:
        """The settings as the deployed functions see them."""
        own = {"GNA_PREFIX": self.prefix, "SECRETS_PATH": self.secrets_path, "CONFIGURATION_SET": self.prefix}
        own["VALIDATING_CONFIGURATION_SET"] = f"{self.prefix}-imported"
        return {**self.settings, **own}

    @property
    def disables_execute_api(self) -> bool:
        """Whether the API answers only at its own domain, and not at API Gateway's URL."""
        value = self.settings.get(_CLOSE) or "false"
        if value not in ("true", "false"):
            raise Refused(f"{_CLOSE} must be true or false")
        if value == "true" and not (self.settings.get("DOMAIN_NAME") and self.settings.get("CERTIFICATE_ARN")):
            raise Refused(f"{_CLOSE} needs DOMAIN_NAME and CERTIFICATE_ARN: the API would not answer anywhere")
        return value == "true"


def read(name: str, environ: Mapping[str, str] | None = None) -> Stage:
    """Read `deploy/stages/<name>.env`. For the settings in it, environment variables take precedence."""
    file = FOLDER / f"{name}.env"
    if not file.exists():
        raise Refused(
            f"{file.name} is missing: copy deploy/stages/example.env to deploy/stages/{file.name} and fill it in"
        )
    written = parse(file.read_text())
    chosen = os.environ if environ is None else environ
    return Stage(name, {key: chosen.get(key, value) for key, value in written.items()})


def parse(text: str) -> dict[str, str]:
    settings = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            key, equals, value = line.partition("=")
            if not equals:
                raise Refused(f"line {number} of the stage's settings is not NAME=value")
            settings[key.strip()] = value.strip()
    return settings


def parameters(stage: Stage, template: Mapping[str, Any]) -> dict[str, str]:
    """The parameters of the stack. A setting without a parameter is refused rather than ignored."""
    variables = template["Globals"]["Function"]["Environment"]["Variables"]
    known = {name: value["Ref"] for name, value in variables.items() if name not in _FROM_STAGE} | _ONLY_PARAMETERS
    if "DISABLE_AUTH" in stage.settings:
        raise Refused("DISABLE_AUTH is for local use only: remove it, or anyone could use /admin")
    stage.disables_execute_api  # noqa: B018 - refused here if it makes no sense
    if written := sorted(set(stage.settings) & _PUT_BY_HAND):
        raise Refused(f"{', '.join(written)} must not be in {stage.name}.env: {how_to_put(stage, written[0])}")
    if unknown := sorted(set(stage.settings) - set(known) - {_CLOSE}):
        raise Refused(f"unknown in {stage.name}.env: {', '.join(unknown)} (secrets: `make secrets`)")
    given = {known[name]: value for name, value in stage.settings.items() if value and name in known}
    return {"Prefix": stage.prefix, "SecretsPath": stage.secrets_path} | given | sender(stage)


def how_to_put(stage: Stage, name: str) -> str:
    """What an operator does with a secret that somebody else has issued."""
    return f"aws ssm put-parameter --type SecureString --name {stage.secrets_path}/{name} --value …"


def sender(stage: Stage) -> dict[str, str]:
    """The sender as policies name it: exactly as the app puts it into the From of every email; without FROM_EMAIL
    nobody, and then no function may send."""
    address = addresses.wire(parseaddr(stage.settings.get("FROM_EMAIL", ""))[1])
    return {
        "SenderAddress": address,
        "SenderDomain": ".".join(address.rpartition("@")[2].split(".")[-2:]),
    }
