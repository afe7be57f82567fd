"""Calls to the local SES, made with botocore."""

import json
from typing import Any

import boto3
from botocore.config import Config

from local.ses.main import Client

SIMPLE = {
    "Subject": {"Data": "Hello"},
    "Body": {"Html": {"Data": "<p>Hi</p>"}, "Text": {"Data": "Hi"}},
    "Headers": [{"Name": "List-Id", "Value": "<news.example.org>"}],
}
TEMPLATE = {"Subject": "To {{name}}", "Html": "<p>{{ name_html }}</p>", "Text": "{{name}} {{link}}"}


def connect(ses: Client) -> Any:
    return boto3.client("sesv2", endpoint_url=ses.url, config=Config(retries={"total_max_attempts": 1}))


def send(sesv2: Any, to: str = "ada@example.org", **content: Any) -> Any:
    return sesv2.send_email(
        FromEmailAddress="News <news@example.org>",
        Destination={"ToAddresses": [to]},
        Content={"Simple": SIMPLE | content},
    )


def entry_to(to: str, headers: dict[str, str] | None = None, **data: str) -> dict[str, Any]:
    return {
        "Destination": {"ToAddresses": [to]},
        "ReplacementEmailContent": {"ReplacementTemplate": {"ReplacementTemplateData": json.dumps(data)}},
        "ReplacementHeaders": [{"Name": name, "Value": value} for name, value in (headers or {}).items()],
    }


def bulk(sesv2: Any, *entries: dict[str, Any], **template: Any) -> list[dict[str, Any]]:
    template = {"TemplateContent": TEMPLATE, "TemplateData": "{}"} | template
    answer = sesv2.send_bulk_email(
        FromEmailAddress="news@example.org", DefaultContent={"Template": template}, BulkEmailEntries=list(entries)
    )
    return list(answer["BulkEmailEntryResults"])
