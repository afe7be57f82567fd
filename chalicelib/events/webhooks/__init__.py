"""Where events are sent: webhooks, and the event bus of the account.

Other rooms use: `service`, `model`. The outbox and its relay also use: `destinations`, `dispatch`, `replay`.
"""
