"""What Lambda passes to every function beside the event: a request id, and how much time remains."""

import time
import uuid


class LambdaContext:
    def __init__(self, function_name: str, timeout_seconds: float = 60) -> None:
        self.function_name = function_name
        self.function_version = "$LATEST"
        self.invoked_function_arn = f"arn:aws:lambda:eu-west-1:000000000000:function:{function_name}"
        self.memory_limit_in_mb = 512
        self.aws_request_id = str(uuid.uuid4())
        self._ends = time.monotonic() + timeout_seconds

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self._ends - time.monotonic()) * 1000))
