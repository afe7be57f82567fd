"""A botocore session is not thread-safe while it creates clients, so they are created before any thread runs."""

import threading

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.kernel import limits, log
from chalicelib.kernel.aws import queues, session
from chalicelib.kernel.errors import Unavailable


def warm_up(ended: threading.Event) -> None:
    """Wait until AWS answers, or until the process is stopped."""
    while not ended.is_set():
        try:
            for service in ("sesv2", "sns", "ssm"):
                session.client(service)
            limits.probe()
            queues.probe()
            return
        except (Unavailable, BotoCoreError, ClientError) as failure:
            log.exception("aws.not_there_yet", failure)
            ended.wait(1)
