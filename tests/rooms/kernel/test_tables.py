"""Single writes that meet a transaction."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from pynamodb.exceptions import UpdateError

from chalicelib.kernel import limits
from chalicelib.kernel.aws import tables
from chalicelib.kernel.errors import Unavailable
from chalicelib.kernel.limits import LimitRow

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
