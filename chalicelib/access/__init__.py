"""Who may use `/admin`: the authorizer behind Cloudflare Access, and the audit log of what was done there.

Other rooms use: `audit`.

The Lambda function of the authorizer is `authorizer.handle`.
"""
