"""DynamoDB as the stores use it: rows, single writes, transactions. pynamodb's exceptions end here, as `failures`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from msgspec import Struct
from pynamodb.connection.table import TableConnection
from pynamodb.constants import ALL_OLD
from pynamodb.exceptions import DoesNotExist, PynamoDBException, TransactGetError, TransactWriteError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.models import Model
from pynamodb.transactions import TransactGet, TransactWrite

from chalicelib.kernel import settings
from chalicelib.kernel.aws import connection
from chalicelib.kernel.aws.failures import (
    CONDITION_FAILED,
    CONFLICTS,
    TRANSACTION_CANCELLED,
    Contended,
    Stale,
    failed_condition,
    is_transient,
    lost_to_another,
    rest,
)
from chalicelib.kernel.errors import Unavailable
from chalicelib.kernel.wording import for_readers

_BUSY = for_readers("The database is busy")
_CONFLICT_ATTEMPTS = 6
_REST = 0.02

R = TypeVar("R", bound="Row")
Result = TypeVar("Result")


def name(table: str) -> str:
    return f"{settings.current().prefix}-{table}"


class Row(Model):
    """A row of a table. All rows share one connection: a client each would cost a TLS handshake a table."""

    @classmethod
    def _get_connection(cls) -> TableConnection:
        fresh = cls._connection is None
        table = super()._get_connection()
        if fresh:
            meta = table.get_meta_table()
            table.connection = connection.patient()
            table.connection.add_meta_table(meta)
        return table


class Put(Struct, frozen=True):
    row: Row
    condition: Condition | None = None
    show: bool = False


class Update(Struct, frozen=True):
    row: Row
    actions: Sequence[Action]
    condition: Condition | None = None
    show: bool = False


class Delete(Struct, frozen=True):
    row: Row
    condition: Condition | None = None


class Check(Struct, frozen=True):
    row: Row
    condition: Condition


Write = Put | Update | Delete | Check


def get(kind: type[R], key: str, sort: Any = None) -> R | None:
    """The row as it is now (strongly consistent), or None."""
    with _reaching():
        try:
            return kind.get(key, sort, consistent_read=True)
        except DoesNotExist:
            return None


def get_together(*wanted: tuple[type[Row], str, Any]) -> list[Any]:
    """Several rows as of one moment, in one request; None where there is none."""
    with _reaching():
        return _patiently(lambda: _get_together(wanted))


def get_many(kind: type[R], keys: Iterable[str | tuple[str, str]]) -> list[R]:
    """The rows there are, as they are now, in no order; a hundred a request. What DynamoDB leaves out of an answer is
    asked for again."""
    wanted = set(keys)
    if not wanted:
        return []
    with _reaching():
        return list(kind.batch_get(wanted, consistent_read=True))


def put(row: Row, condition: Condition | None = None) -> None:
    with _reaching():
        _patiently(lambda: row.save(condition=condition))


def update(row: R, actions: Sequence[Action], condition: Condition | None = None) -> R:
    """Apply, and bring `row` to what is stored now."""
    with _reaching():
        _patiently(lambda: row.update(actions=list(actions), condition=condition))
    return row


def delete(row: Row, condition: Condition | None = None) -> None:
    with _reaching():
        _patiently(lambda: row.delete(condition=condition))


def write_all(kind: type[R], put: Iterable[R] = (), delete: Iterable[R] = ()) -> None:
    """Many rows, 25 a request, at half the price of a transaction; a crash may leave some of it undone."""
    with _reaching(), kind.batch_write() as batch:
        for row in put:
            batch.save(row)
        for row in delete:
            batch.delete(row)


def query(kind: type[R], key: str, **options: Any) -> Iterator[R]:
    with _reaching():
        yield from kind.query(key, **options)


def query_pages(kind: type[R], key: str, **options: Any) -> Iterator[tuple[list[R], dict[str, Any] | None]]:
    """Request by request, with the key of the last row looked at, or None after the last one. With a filter, a
    request may find nothing and yet not be the last."""
    with _reaching():
        pages = kind.query(key, **options).page_iter
        for page in pages:
            yield [kind.from_raw_data(item) for item in page["Items"]], pages.last_evaluated_key


def query_index(index: Any, key: str, **options: Any) -> Iterator[Any]:
    with _reaching():
        yield from index.query(key, **options)


def scan(kind: type[R], **options: Any) -> Iterator[R]:
    with _reaching():
        yield from kind.scan(**options)


def transact(*writes: Write) -> None:
    """All of them or none. A collision with another transaction is waited out; a failed condition is `Stale`."""
    for attempt in range(_CONFLICT_ATTEMPTS):
        try:
            _transact(writes)
            return
        except TransactWriteError as failure:
            reasons = _reasons(failure, writes)
            codes = [reason.code if reason else None for reason in reasons]
            if failed_condition(codes):
                raise Stale(_found(writes, reasons)) from failure
            if not lost_to_another(codes) and _code(failure) not in CONFLICTS:
                raise _translated(failure) from failure
        rest(attempt, _REST)
    raise Contended(_BUSY)


def _patiently(act: Callable[[], Result]) -> Result:
    """A single write that meets a transaction on its row, and a transaction that reads what another one writes, are
    turned away, and come again."""
    for attempt in range(_CONFLICT_ATTEMPTS):
        try:
            return act()
        except PynamoDBException as failure:
            # A transaction that only reads has no conditions: if it is cancelled, something was being written.
            cancelled = isinstance(failure, TransactGetError) and _code(failure) == TRANSACTION_CANCELLED
            if not cancelled and _code(failure) not in CONFLICTS:
                raise
        rest(attempt, _REST)
    raise Unavailable(_BUSY)


def _get_together(wanted: Sequence[tuple[type[Row], str, Any]]) -> list[Any]:
    futures = []
    with TransactGet(connection=connection.patient()) as transaction:
        for kind, key, sort in wanted:
            futures.append(transaction.get(kind, key, sort))
    return [_resolved(future) for future in futures]


def _transact(writes: Sequence[Write]) -> None:
    with TransactWrite(connection=connection.patient()) as transaction:
        for write in writes:
            match write:
                case Put(row, condition, show):
                    transaction.save(row, condition, ALL_OLD if show else None)
                case Update(row, actions, condition, show):
                    transaction.update(row, list(actions), condition, ALL_OLD if show else None)
                case Delete(row, condition):
                    transaction.delete(row, condition)
                case Check(row, condition):
                    key, sort = _keys(row)
                    transaction.condition_check(type(row), key, sort, condition)


def _reasons(failure: TransactWriteError, writes: Sequence[Write]) -> list[Any]:
    """Reasons in the order of `writes`: pynamodb sends checks first, then deletes, puts and updates."""
    given = list(failure.cancellation_reasons)
    if len(given) != len(writes):
        return [None] * len(writes)
    order = {Check: 0, Delete: 1, Put: 2, Update: 3}
    sent = sorted(range(len(writes)), key=lambda i: order[type(writes[i])])
    reasons: list[Any] = [None] * len(writes)
    for position, reason in zip(sent, given, strict=True):
        reasons[position] = reason
    return reasons


def _found(writes: Sequence[Write], reasons: list[Any]) -> list[Row | None]:
    return [
        type(write.row).from_raw_data(reason.raw_item) if reason and reason.raw_item else None
        for write, reason in zip(writes, reasons, strict=True)
    ]


@contextmanager
def _reaching() -> Iterator[None]:
    try:
        yield
    except PynamoDBException as failure:
        if _code(failure) in (CONDITION_FAILED, TRANSACTION_CANCELLED):
            raise Stale from failure
        raise _translated(failure) from failure


def _translated(failure: PynamoDBException) -> Exception:
    return Unavailable() if is_transient(_code(failure), _status(failure)) else failure


def _code(failure: PynamoDBException) -> str | None:
    """pynamodb's own reading of it breaks on a timeout, which has no response."""
    code: str | None = _response(failure).get("Error", {}).get("Code")
    return code


def _status(failure: PynamoDBException) -> int:
    return int(_response(failure).get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _response(failure: PynamoDBException) -> dict[str, Any]:
    return getattr(failure.cause, "response", None) or {}


def _resolved(future: Any) -> Any:
    try:
        return future.get()
    except DoesNotExist:
        return None


def _keys(row: Row) -> tuple[Any, Any]:
    attributes = row.get_attributes().items()
    key = next(getattr(row, python_name) for python_name, attribute in attributes if attribute.is_hash_key)
    sort = next((getattr(row, python_name) for python_name, attribute in attributes if attribute.is_range_key), None)
    return key, sort
