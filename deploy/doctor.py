"""`make doctor`: what is wrong, why it matters and how to fix it, one line each. Before a deployment and after it."""

import argparse
from collections.abc import Callable, Iterator

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.admin import diagnostics
from chalicelib.admin.diagnostics import Finding, error, note
from chalicelib.kernel import settings
from chalicelib.kernel.errors import Misconfigured
from chalicelib.kernel.settings import Settings
from deploy import stack, stage, template
from deploy.checks import account, sending, web
from deploy.stack import Clients
from deploy.stage import Stage


def examine(chosen: Stage, clients: Clients, lookup: sending.Lookup = sending.resolve) -> Iterator[Finding]:
    try:
        parameters = stage.parameters(chosen, template.to_merge())
        configured = settings.load({**chosen.environment, "AWS_LAMBDA_FUNCTION_NAME": "gna"})
    except (Misconfigured, stage.Refused) as failure:
        yield error("the settings are not valid", str(failure), f"Correct deploy/stages/{chosen.name}.env")
        return
    yield from diagnostics.check(configured)
    if bool(parameters.get("DomainName")) != bool(parameters.get("CertificateArn")):
        why = "API Gateway needs both to serve a custom domain"
        yield note("only one of DOMAIN_NAME and CERTIFICATE_ARN is set", why, "Set both, or neither")
    yield from _before(chosen, configured, clients, lookup)
    yield from _after(chosen, configured, clients)


def _before(chosen: Stage, configured: Settings, clients: Clients, lookup: sending.Lookup) -> Iterator[Finding]:
    """What must be true before a first deployment is of use."""
    yield from _asking("SES for the account", lambda: sending.account(clients))
    if configured.from_email:
        yield from _asking("SES for the sender", lambda: sending.identity(clients, configured.from_email))
        yield from _asking("the DNS records", lambda: sending.names(clients, configured.from_email, lookup))
    yield from _asking("the parameter store", lambda: account.kept_secrets(clients, chosen))
    yield from web.keys(configured.access_certs_url)


def _after(chosen: Stage, configured: Settings, clients: Clients) -> Iterator[Finding]:
    """What can be seen once there is a stack."""
    try:
        outputs = stack.outputs(clients, chosen.prefix)
    except (ClientError, BotoCoreError):
        yield note(
            f"there is no stack {chosen.prefix} yet", "the rest was not checked", f"make deploy STAGE={chosen.name}"
        )
        return
    wanted = template.resources()
    yield from _asking("DynamoDB", lambda: account.tables(clients, chosen, wanted))
    yield from _asking("SQS", lambda: account.queues(clients, chosen, wanted))
    yield from web.health(configured.site_url)
    yield from web.webhooks(configured.site_url)
    yield from web.door(configured.site_url)
    if "EndpointURL" in outputs:
        yield from web.door(outputs["EndpointURL"].rstrip("/"))


def _asking(whom: str, look: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    try:
        yield from look()
    except (ClientError, BotoCoreError) as failure:
        yield error(f"could not query {whom}", str(failure), "Check the credentials, permissions and region")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", default="dev")
    chosen = stage.read(parser.parse_args().stage)
    findings = list(examine(chosen, boto3.client))
    for finding in sorted(findings, key=lambda found: not found.serious):
        print(finding)
    serious = sum(finding.serious for finding in findings)
    print(f"{chosen.prefix}: {serious} to fix, {len(findings) - serious} to note")
    raise SystemExit(1 if serious else 0)


if __name__ == "__main__":
    main()
