"""What is put into the template after the merge, piece by piece; the whole is looked at in `tests/deployed`."""

import pytest

from deploy import template


def _listening(queue):
    function = {
        "Type": "AWS::Serverless::Function",
        "Properties": {"Events": {"Source": {"Type": "SQS", "Properties": {"Queue": queue}}}},
    }
    return {"Resources": {**template.resources()["Resources"], "Worker": function}}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("AudienceQueue", "AudienceQueue"),
        (
            {"Fn::Sub": "arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:gna-prod-audience"},
            "AudienceQueue",
        ),
        ({"Fn::Sub": "arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:gna-prod-events"}, "EventsQueue"),
        (
            {"Fn::Sub": "arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:gna-x-mail-events"},
            "MailEventsQueue",
        ),
    ],
)
def test_a_function_listens_to_the_queue_that_was_meant(given, meant):
    whole = _listening(given)
    template._connect_queues(whole)
    source = whole["Resources"]["Worker"]["Properties"]["Events"]["Source"]["Properties"]
    assert source["Queue"] == {"Fn::GetAtt": [meant, "Arn"]}
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_a_queue_that_is_not_there_ends_the_packaging_with_one_line():
    with pytest.raises(SystemExit, match="Worker listens to gna-prod-nothing"):
        template._connect_queues(_listening("gna-prod-nothing"))
