"""Who may open a session: pages of this machine's own names, and no page from elsewhere."""

import http.client
from urllib.parse import urlsplit

import pytest

from pages.ui.kit import hosts
from tests.browser.conftest import App

pytestmark = pytest.mark.browser


def handshake(address: str, host: str, origin: str | None) -> int:
    """The status with which the app answers a websocket handshake under these names."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection("localhost", place.port, timeout=120)
    connection.putrequest("GET", "/_stcore/stream", skip_host=True)
    headers = {
        "Host": host,
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
    }
    for name, value in (headers | ({"Origin": origin} if origin else {})).items():
        connection.putheader(name, value)
    connection.endheaders()
    try:
        return connection.getresponse().status
    finally:
        connection.close()


def test_this_machines_names_open_a_session_and_others_are_refused(app: App):
    port = urlsplit(app.address).port
    for name in ("localhost", "127.0.0.1"):
        assert handshake(app.address, f"{name}:{port}", f"http://{name}:{port}") == 101, name
    for host, origin in (
        ("evil.example", "http://evil.example"),
        ("localhost", "http://evil.example"),
        ("evil.example", None),
    ):
        assert handshake(app.address, host, origin) == 403, (host, origin)


def test_a_name_that_is_not_served_gets_a_sentence_and_not_an_empty_page(app: App):
    port = urlsplit(app.address).port
    for host, status in ((f"localhost:{port}", 200), ("evil.example", 403)):
        connection = http.client.HTTPConnection("localhost", port, timeout=120)
        connection.request("GET", "/mean", headers={"Host": host})
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        assert (answer.status, body == hosts.SAID) == (status, status == 403), host
