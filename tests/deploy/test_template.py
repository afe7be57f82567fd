"""What is added to the template after the merge; `tests/deployed` checks the complete template."""

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
def test_a_function_consumes_the_right_queue(given, meant):
    whole = _listening(given)
    template._connect_queues(whole)
    source = whole["Resources"]["Worker"]["Properties"]["Events"]["Source"]["Properties"]
    assert source["Queue"] == {"Fn::GetAtt": [meant, "Arn"]}
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_an_unknown_queue_ends_packaging_with_one_line():
    with pytest.raises(SystemExit, match="Worker listens to gna-prod-nothing"):
        template._connect_queues(_listening("gna-prod-nothing"))
