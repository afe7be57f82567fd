"""botocore's session is not safe while it makes clients, so a process with threads makes them before any runs."""

import threading

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.kernel import limits, log
from chalicelib.kernel.aws import queues, session
from chalicelib.kernel.errors import Unavailable


def warm_up(ended: threading.Event) -> None:
    """Whoever starts before AWS answers waits for it, as long as nobody asks for the end."""
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
