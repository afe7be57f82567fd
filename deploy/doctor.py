"""`make doctor`: what is wrong, why it matters and how to fix it, one line each, before and after a deployment."""

import argparse
from collections.abc import Callable, Iterator

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.admin import diagnostics
from chalicelib.kernel import publication, settings
from chalicelib.kernel.errors import Misconfigured
from chalicelib.kernel.findings import Finding, Level, error, note
from chalicelib.kernel.publication import Publication
from chalicelib.kernel.settings import Settings
from chalicelib.site import current_store, effective
from deploy import stack, stage, template
from deploy.checks import account, following, sending, storage, web
from deploy.stack import Clients
from deploy.stage import Stage


def examine(chosen: Stage, clients: Clients, lookup: sending.Lookup = sending.resolve) -> Iterator[Finding]:
    try:
        parameters = stage.parameters(chosen, template.to_merge())
        configured = settings.load({**chosen.environment, "AWS_LAMBDA_FUNCTION_NAME": "gna"})
    except (Misconfigured, stage.Refused) as failure:
        yield error("the settings are not valid", str(failure), f"Correct deploy/stages/{chosen.name}.env")
        return
    yield from diagnostics.check(configured, _shown(chosen, configured, clients))
    if bool(parameters.get("DomainName")) != bool(parameters.get("CertificateArn")):
        why = "API Gateway needs both to serve a custom domain"
        yield note("only one of DOMAIN_NAME and CERTIFICATE_ARN is set", why, "Set both, or neither")
    yield from _check_before(chosen, configured, clients, lookup)
    yield from _check_after(chosen, configured, clients)


def _shown(chosen: Stage, configured: Settings, clients: Clients) -> Publication:
    """The publication with what editors have changed. Before the first deployment, and while AWS does not answer, as
    the settings describe it: other checks say why."""
    defaults = publication.from_settings(configured)
    key = {"id": {"S": current_store.KEY}, "number": {"N": str(current_store.CURRENT)}}
    try:
        item = clients("dynamodb").get_item(TableName=f"{chosen.prefix}-site", Key=key).get("Item")
    except (ClientError, BotoCoreError):
        return defaults
    return effective.apply(defaults, current_store.parse(item)) if item else defaults


def _check_before(chosen: Stage, configured: Settings, clients: Clients, lookup: sending.Lookup) -> Iterator[Finding]:
    """What can be checked, and must be right, before the first deployment."""
    yield from _try("SES for the account", lambda: sending.check_account(clients))
    if configured.from_email:
        yield from _try("SES for the sender", lambda: sending.check_identity(clients, configured.from_email))
        yield from _try("the DNS records", lambda: sending.check_dns(clients, configured.from_email, lookup))
    yield from _try("the parameter store", lambda: account.check_secrets(clients, chosen))
    yield from _try("the parameter store", lambda: following.check(clients, chosen, configured))
    yield from web.check_keys(configured.access_certs_url)


def _check_after(chosen: Stage, configured: Settings, clients: Clients) -> Iterator[Finding]:
    """What can be checked once there is a stack."""
    try:
        outputs = stack.outputs(clients, chosen.prefix)
    except (ClientError, BotoCoreError):
        yield note(
            f"there is no stack {chosen.prefix} yet", "the rest was not checked", f"make deploy STAGE={chosen.name}"
        )
        return
    wanted = template.resources()
    yield from _try("DynamoDB", lambda: account.check_tables(clients, chosen, wanted))
    yield from _try("SQS", lambda: account.check_queues(clients, chosen, wanted))
    yield from _try("S3", lambda: storage.check_bucket(clients, chosen))
    sets = (configured.configuration_set, configured.validating_configuration_set)
    yield from _try("SES for its reports", lambda: sending.check_reports(clients, sets))
    yield from web.check_health(configured.site_url)
    yield from web.check_webhooks(configured.site_url)
    yield from web.check_authentication(configured.site_url)
    if "EndpointURL" in outputs:
        endpoint = outputs["EndpointURL"].rstrip("/")
        yield from web.check_authentication(endpoint)
        if "DomainTarget" in outputs:
            yield from web.check_endpoint(endpoint, disabled=chosen.disables_execute_api)


def _try(service: str, check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """A service that cannot be asked is a finding too, and the other checks go on."""
    try:
        yield from check()
    except (ClientError, BotoCoreError) as failure:
        yield error(f"could not query {service}", str(failure), "Check the credentials, permissions and region")


def line(finding: Finding) -> str:
    """`ERROR`, `WARN` or `note`, and the finding in sentences."""
    prefix = {Level.ERROR: "ERROR", Level.WARNING: "WARN ", Level.NOTE: "note "}[finding.level]
    return f"{prefix} {finding.text}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stage", default="dev")
    chosen = stage.read(parser.parse_args().stage)
    findings = list(examine(chosen, boto3.client))
    for finding in sorted(findings, key=lambda finding: finding.level.rank):
        print(line(finding))
    to_fix = sum(finding.level is not Level.NOTE for finding in findings)
    print(f"{chosen.prefix}: {to_fix} to fix, {len(findings) - to_fix} to note")
    raise SystemExit(1 if to_fix else 0)


if __name__ == "__main__":
    main()
