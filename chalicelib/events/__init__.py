"""What happens here, recorded for other systems and sent to them.

Other rooms use: `outbox`, `service`, `model`, `examples`, `webhooks.service`, `webhooks.model`.
"""
