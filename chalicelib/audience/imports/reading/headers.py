"""Which row is the header, and what names of columns usually mean."""

from chalicelib.audience.imports.reading import formats

_NAMES = {
    "email": (
        "email", "e mail", "mail", "email address", "e mail address", "emailaddress", "email id", "subscriber email",
        "deine e mail adresse", "e mail adresse", "email adresse", "mailadresse", "emailadresse", "adresse e mail",
        "adresse email", "adresse mail", "courriel", "adresse courriel", "adresse électronique", "correo electrónico",
        "correo electronico", "correo", "dirección de correo electrónico", "direccion de correo electronico",
        "dirección de correo", "dirección de email", "indirizzo email", "indirizzo e mail", "indirizzo mail",
        "e mailadres", "emailadres", "e mail adres", "email adres", "endereço de e mail", "endereço de email",
        "endereco de email", "correio eletrónico", "correio eletrônico", "adres e mail", "e post", "epost",
        "e postadresse", "sähköposti", "メールアドレス", "電子メール", "адрес электронной почты", "your email",
        "your email address", "votre adresse e mail", "tu correo electrónico", "la tua email", "je e mailadres",
    ),
    "name": (
        "name", "full name", "fullname", "nickname", "display name", "contact name", "subscriber name", "your name",
        "vollständiger name", "nom complet", "nombre completo", "nome completo", "volledige naam", "naam",
    ),
    "first_name": (
        "first name", "firstname", "fname", "given name", "vorname", "prénom", "prenom", "nombre", "nome", "voornaam",
        "primeiro nome",
    ),
    "last_name": (
        "last name", "lastname", "lname", "surname", "family name", "nachname", "nom", "nom de famille", "apellido",
        "apellidos", "cognome", "achternaam", "sobrenome", "apelido",
    ),
    "confirmed": (
        "confirmed", "is confirmed", "email confirmed", "verified", "is verified", "email verified", "double opt in",
        "double optin", "opt in", "optin", "opted in",
    ),
    "status": (
        "status", "subscription status", "email status", "subscriber status", "contact status", "member status",
        "marketing status", "email marketing status", "statut", "estado", "stato",
    ),
    "subscribed": (
        "subscribed", "subscribed to emails", "is subscribed", "active", "is active", "email subscribed",
        "accepts marketing", "accepts email marketing", "marketing consent",
        "email marketing consent",
    ),
    "mail_off": (
        "email disabled", "email blacklisted", "blacklisted", "blocklisted", "unsubscribed", "is unsubscribed",
        "opted out", "opt out", "email opt out", "has opted out of email", "opted out of email", "suppressed",
        "do not contact", "do not email", "unsubscribed from all email", "isexcludedfromcampaigns",
    ),
    "tags": ("tags", "tag", "labels", "groups", "segments", "lists", "schlagwörter", "étiquettes", "etiquetas"),
    "joined_at": (
        "joined at", "created at", "created", "creation date", "date created", "date added", "added time", "added at",
        "signup date", "sign up date", "signed up at", "subscribed at", "subscribed on", "subscription date",
        "subscribe date", "start date", "date", "date subscribed", "join date", "registered at", "timestamp",
        "angemeldet am", "anmeldedatum", "date d'inscription", "inscrit le", "fecha de alta", "fecha de suscripción",
        "data di iscrizione", "iscritto il", "aanmelddatum", "data de inscrição",
    ),
    "optin_at": ("optin time", "opt in time", "optin date", "opt in date", "optin at", "opted in at"),
    "confirmed_at": (
        "confirm time", "confirmed at", "confirmation date", "confirmation time", "confirmed on", "activated at",
        "verified at", "double opt in date",
    ),
    "left_at": (
        "unsub time", "unsubscribed at", "unsubscribed on", "unsubscribe date", "unsubscription date",
        "unsubscribe time", "date unsubscribed", "cancelled at", "deleted at",
    ),
    "bounced_at": (
        "clean time", "bounced at", "bounced", "bounce date", "undeliverability date", "cleaned at", "date bounced",
    ),
    "complained_at": ("complained at", "complained", "complaint date", "marked as spam", "spam complaint"),
    "reason": ("unsub reason", "unsubscribe reason", "unsubscription reason"),
    "optin_ip": ("optin ip", "opt in ip", "signup ip", "ip address", "ip"),
    "confirm_ip": ("confirm ip", "confirmation ip"),
    "origin": ("signup source", "sign up source", "subscription source"),
}  # fmt: skip
_FIELDS = {name: field for field, names in _NAMES.items() for name in names}


def find_field(name: str, format: formats.Format) -> str | None:
    """What a normalised name means in this format."""
    if name in format.without:
        return None
    return format.columns.get(name) or _FIELDS.get(name)


def is_header(rows: list[list[str]]) -> bool:
    """Whether the first row names the columns: it contains no address, and a known name, or addresses come below.
    In a list of addresses only a known name is a header: anything else may be a mistyped address."""
    if not rows:
        return False
    first = rows[0]
    if any("@" in cell or "%40" in cell for cell in first):
        return False
    if any(formats.normalise(cell) in _FIELDS for cell in first):
        return True
    named = sum(1 for cell in first if cell.strip() and not cell.strip()[0].isdigit())
    below = any("@" in cell for row in rows[1:] for cell in row)
    return len(first) > 1 and below and named > len(first) / 2
