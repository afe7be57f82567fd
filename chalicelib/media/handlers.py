"""What everybody may see: public copies of pictures."""

from chalicelib.kernel.errors import NotFound
from chalicelib.media import model, service
from chalicelib.web import responses
from chalicelib.web.request import Request
from chalicelib.web.responses import Response


def show_picture(request: Request) -> Response:
    """The same bytes for ever, or nothing."""
    name = request.path["name"]
    content = service.read_copy(name) if model.is_name(name) else None
    if content is None:
        raise NotFound("No such picture")
    return responses.picture(content, model.content_type(name))
