"""The connection to DynamoDB that all tables share: a client each would cost a TLS handshake a table."""

from functools import lru_cache
from typing import Any

from pynamodb.connection import Connection

from chalicelib.kernel import patience
from chalicelib.kernel.aws import session as aws


class SharedConnection(Connection):
    """pynamodb's, on the one session of this process: a second would read the same 60 ms of endpoints again."""

    @property
    def session(self) -> Any:
        return aws.botocore_session()

    @property
    def client(self) -> Any:
        with aws.making:
            return super().client

    def add_meta_table(self, meta_table: Any) -> None:
        """Rows of several kinds may share a table, and each kind knows only its own indexes."""
        known = self._tables.setdefault(meta_table.table_name, meta_table).data
        for part in ("AttributeDefinitions", "GlobalSecondaryIndexes"):
            known[part] = known[part] + [new for new in meta_table.data[part] if new not in known[part]]

    def _make_api_call(self, operation_name: str, operation_kwargs: dict[str, Any]) -> dict[str, Any]:
        """Every row has the same connection; whether somebody waits is known only when it is used."""
        if patience.is_limited() and self is not hurried():
            return hurried()._make_api_call(operation_name, operation_kwargs)
        with patience.counted():
            return super()._make_api_call(operation_name, operation_kwargs)


@lru_cache(maxsize=1)
def patient() -> SharedConnection:
    """For workers."""
    return _connect(2, 5, 3)


@lru_cache(maxsize=1)
def hurried() -> SharedConnection:
    """For requests, for which somebody waits."""
    return _connect(patience.CONNECT_SECONDS, patience.READ_SECONDS, patience.ATTEMPTS)


def _connect(connect: float, read: float, attempts: int) -> SharedConnection:
    return SharedConnection(
        connect_timeout_seconds=connect,
        read_timeout_seconds=read,
        max_pool_connections=50,
        retry_configuration={"mode": "standard", "total_max_attempts": attempts},
    )
