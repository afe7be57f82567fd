"""Every handler of the app has a line in `deploy/functions.yaml`, or it could do nothing once deployed."""

from deploy import functions


def test_every_handler_is_a_function_with_permissions():
    import app

    handlers = {source.name for source in app.app.event_sources}
    handlers |= {handler.name for handler in app.app.builtin_auth_handlers}
    assert {function.name for function in functions.load()} == handlers | {"api_handler"}, "see functions.yaml"
