"""What people do with their own account, as JSON."""

from chalicelib.members import bodies, download, model, service, sessions
from chalicelib.members.model import Member, SignedIn
from chalicelib.web import cookies, responses, schemas
from chalicelib.web.client_ip import client_ip, client_network
from chalicelib.web.operations import Answer, operation
from chalicelib.web.request import Request
from chalicelib.web.responses import Response

_TAG = "account"
_WRONG_PASSWORD = {401: f"`{model.WRONG_PASSWORD}`, or `{model.NOT_SIGNED_IN}`"}
_BAD_TOKEN = {401: model.BAD_TOKEN}


@operation(
    "Create an account, and sign in",
    tag=_TAG,
    body=bodies.NewAccount,
    answers={201: Answer("The account; the cookie is its session of seven days", bodies.Account)},
    refuses=(400, 429),
    because={403: f"`{model.NOT_INVITED}`, or cross-site request", 409: model.TAKEN},
)
def sign_up(request: Request) -> Response:
    body = schemas.read(bodies.NewAccount, request.fields)
    member, value = service.sign_up(
        body.email,
        body.password,
        body.password_confirm,
        body.invitation,
        client_ip(request),
        network=client_network(request),
        presented=cookies.read_session(request),
    )
    return _with_session(member, value, 201)


@operation(
    "Sign in",
    tag=_TAG,
    body=bodies.Credentials,
    answers={200: Answer("The account; the cookie is a session of seven days", bodies.Account)},
    refuses=(400, 429),
    because={401: model.BAD_SIGN_IN},
)
def sign_in(request: Request) -> Response:
    body = schemas.read(bodies.Credentials, request.fields)
    presented = cookies.read_session(request)
    member, value = service.sign_in(body.email, body.password, client_ip(request), presented=presented)
    return _with_session(member, value)


@operation("Sign out: the session ends at once", tag=_TAG, answers={204: Answer("Signed out")}, refuses=(400,))
def sign_out(request: Request) -> Response:
    service.sign_out(cookies.read_session(request))
    return cookies.without_session(responses.no_content())


@operation("Read the account", tag=_TAG, answers={200: Answer("The account", bodies.Account)})
def get_me(request: Request) -> Response:
    return responses.json(bodies.describe_account(_signed_in(request).member))


@operation(
    "Change the password; every session ends, and the cookie is a new one",
    tag=_TAG,
    body=bodies.PasswordChange,
    answers={200: Answer("The account; the cookie is a new session of seven days", bodies.Account)},
    refuses=(400, 429),
    because=_WRONG_PASSWORD,
)
def change_password(request: Request) -> Response:
    body = schemas.read(bodies.PasswordChange, request.fields)
    member, value = service.change_password(
        _signed_in(request), body.current_password, body.password, body.password_confirm, client_ip(request)
    )
    return _with_session(member, value)


@operation(
    "Delete the account; its address is free again",
    tag=_TAG,
    body=bodies.AccountDeletion,
    answers={204: Answer("Deleted")},
    refuses=(400, 429),
    because=_WRONG_PASSWORD,
)
def delete_me(request: Request) -> Response:
    body = schemas.read(bodies.AccountDeletion, request.fields)
    service.delete(_signed_in(request), body.password, client_ip(request))
    return cookies.without_session(responses.no_content())


@operation(
    "Download all that is stored about the member",
    tag=_TAG,
    answers={
        200: Answer("The file: `account`, `sessions`, `sightings`", dict),
        303: Answer("Large downloads: redirect to a signed link that works for five minutes"),
    },
)
def download_data(request: Request) -> Response:
    text, link = download.prepare(_signed_in(request).member)
    return responses.redirect(link) if link else responses.attachment(text, download.TYPE, download.NAME)


@operation(
    "Verify the address with an emailed link",
    tag=_TAG,
    body=bodies.Verification,
    answers={200: Answer("Verified", bodies.AddressVerified)},
    refuses=(400,),
    because=_BAD_TOKEN,
)
def verify(request: Request) -> Response:
    service.verify(schemas.read(bodies.Verification, request.fields).token)
    return responses.json(bodies.AddressVerified())


@operation(
    "Email another link to verify the address",
    tag=_TAG,
    answers={200: Answer("It is on its way, unless the address is verified already", bodies.LinkState)},
    refuses=(400, 429),
)
def request_verification(request: Request) -> Response:
    is_sent = service.request_verification(_signed_in(request).member, client_network(request))
    return responses.json(bodies.LinkState("sent" if is_sent else "verified"))


@operation(
    "Email a link to set a new password; the response is the same for every address",
    tag=_TAG,
    body=bodies.ResetRequest,
    answers={200: Answer("If there is such an account, a link is on its way", bodies.ResetSent)},
    refuses=(400, 429),
)
def request_reset(request: Request) -> Response:
    body = schemas.read(bodies.ResetRequest, request.fields)
    service.request_reset(body.email, client_ip(request), client_network(request))
    return responses.json(bodies.ResetSent())


@operation(
    "Set a new password with an emailed link; all sessions end, and the address is verified",
    tag=_TAG,
    body=bodies.PasswordReset,
    answers={200: Answer("The new password can be used to sign in", bodies.PasswordWasReset)},
    refuses=(400,),
    because=_BAD_TOKEN,
)
def reset_password(request: Request) -> Response:
    body = schemas.read(bodies.PasswordReset, request.fields)
    service.reset(body.token, body.password, body.password_confirm)
    return responses.json(bodies.PasswordWasReset())


def _signed_in(request: Request) -> SignedIn:
    assert isinstance(request.member, SignedIn)
    return request.member


def _with_session(member: Member, value: str, status: int = 200) -> Response:
    account = responses.json(bodies.describe_account(member), status)
    return cookies.with_session(account, value, sessions.MAX_AGE)
