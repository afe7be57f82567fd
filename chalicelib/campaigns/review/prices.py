"""AWS prices, in one place: US dollars, Ireland (eu-west-1), on demand, as published in November 2026.

Without the free tiers, which are shared by everything in an account. In Virginia (us-east-1) DynamoDB costs 0.625 and
0.125; the other prices are the same.
"""

SES_PER_MAIL = 0.10 / 1000

LAMBDA_PER_GB_SECOND = 0.0000133334  # arm64
LAMBDA_PER_REQUEST = 0.20 / 1_000_000
DYNAMODB_PER_WRITE_UNIT = 0.705 / 1_000_000
DYNAMODB_PER_READ_UNIT = 0.1415 / 1_000_000
SQS_PER_REQUEST = 0.40 / 1_000_000

# Functions, tables and queues together, for a million mails; the bench measures it.
MACHINERY_PER_MAIL = 0.10 / 1_000_000


def sending_cost(recipients: int) -> float:
    return recipients * (SES_PER_MAIL + MACHINERY_PER_MAIL)
