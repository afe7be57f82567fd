"""botocore's session is not safe while it makes clients, so a process with threads makes them before any runs."""

from chalicelib.kernel import aws, limits, queues


def warm_up() -> None:
    for service in ("sesv2", "sns", "ssm"):
        aws.client(service)
    limits.probe()
    queues.probe()
