"""Mails that could not be delivered, and complaints: what SES reports after a mail has been sent.

Other rooms use: `service`, `model`, `failing`, `sent` and `tallies`.
"""
