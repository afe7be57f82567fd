"""Single writes that meet a transaction."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from pynamodb.exceptions import UpdateError

from chalicelib.kernel import limits
from chalicelib.kernel.aws import connection, tables
from chalicelib.kernel.errors import Unavailable
from chalicelib.kernel.limits import LimitRow
from tests.fixtures.emitters import table_emitters

_REFUSAL = {"Error": {"Code": "TransactionConflictException", "Message": "Transaction is ongoing for the item"}}


@pytest.mark.parametrize("times", [3, 99])
def test_a_write_turned_away_by_a_transaction_on_its_row_comes_again(
    aws: None, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    real, refused = LimitRow.update, []
    monkeypatch.setattr(tables, "rest", lambda attempt, base: None)

    def update(row: LimitRow, **given: Any) -> Any:
        if len(refused) < times:
            refused.append(row)
            raise UpdateError("busy", ClientError(_REFUSAL, "UpdateItem"))
        return real(row, **given)

    monkeypatch.setattr(LimitRow, "update", update)
    if times == 3:
        assert limits.allows("x", "y", 1, 60)
        assert not limits.allows("x", "y", 1, 60), "it was counted once"
    else:
        with pytest.raises(Unavailable):
            limits.allows("x", "y", 1, 60)


def test_many_rows_are_read_in_few_requests_and_what_is_left_out_is_asked_for_again(
    aws: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [f"key {number}" for number in range(130)]
    tables.write_all(LimitRow, put=[LimitRow(key, spent=1, expires_at=1) for key in keys])
    asked: list[int] = []
    real = connection.SharedConnection._make_api_call

    def busy(self: Any, name: str, given: Any) -> Any:
        """Answers the first half of the keys only."""
        (request,) = given["RequestItems"].values()
        assert request["ConsistentRead"]
        asked.append(len(request["Keys"]))
        held, request["Keys"] = request["Keys"][60:], request["Keys"][:60]
        answer = real(self, name, given)
        (table,) = given["RequestItems"]
        return answer | ({"UnprocessedKeys": {table: {"Keys": held}}} if held else {})

    monkeypatch.setattr(connection.SharedConnection, "_make_api_call", busy)
    assert sorted(row.key for row in tables.get_many(LimitRow, [*keys, keys[0], "unknown"])) == sorted(keys)
    assert asked == [100, 40, 31]
    assert tables.get_many(LimitRow, []) == []


@pytest.mark.parametrize("first", [0, 1])
def test_rows_of_two_kinds_share_a_table_whichever_is_used_first(aws: None, first: int) -> None:
    """pynamodb knows a table by the indexes of the row that was used first."""
    from chalicelib.sightings.form_store import FormRow
    from chalicelib.sightings.store import SightingRow

    connection.patient()._tables.pop(tables.name("sightings"), None)
    kinds: list[Any] = [SightingRow, FormRow]
    for kind in (kinds[first], kinds[1 - first]):
        kind._connection = None
        assert tables.get(kind, "nobody", "nothing") is None
    for index in ("shared", "due"):
        assert list(tables.query(SightingRow, "nobody", index_name=index)) == []


@pytest.mark.parametrize(("times", "works"), [(0, True), (2, True), (99, False)])
def test_reading_what_is_being_written_waits_a_moment(
    aws: None, monkeypatch: pytest.MonkeyPatch, times: int, works: bool
) -> None:
    """DynamoDB cancels a transaction that reads a row which another one writes at that moment."""
    tables.put(LimitRow("there", spent=1, expires_at=1))
    asked: list[str] = []
    reason = {"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}
    said = {"Error": {"Code": "TransactionCanceledException", "Message": "x"}, "CancellationReasons": [reason]}

    def interfere(event_name: str, **_: Any) -> None:
        asked.append(event_name)
        if len(asked) <= times:
            raise ClientError(said, "TransactGetItems")

    monkeypatch.setattr("chalicelib.kernel.aws.tables.rest", lambda attempt, base: None)
    emitters = table_emitters()
    for emitter in emitters:
        emitter.register_first("before-send.dynamodb.TransactGetItems", interfere)
    try:
        if works:
            [found, missing] = tables.get_together((LimitRow, "there", None), (LimitRow, "nowhere", None))
            assert (found.spent, missing) == (1, None)
            assert len(asked) == times + 1
        else:
            with pytest.raises(Unavailable):
                tables.get_together((LimitRow, "there", None))
    finally:
        for emitter in emitters:
            emitter.unregister("before-send.dynamodb.TransactGetItems", interfere)
