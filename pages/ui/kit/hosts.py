"""Under which names the app answers: another one gets a sentence, not a page that stays empty.

Streamlit gives its page to every name and then refuses the page's session without a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

SETTING = "STREAMLIT_SERVER_ALLOWED_HOSTS"
"""The setting of the names, as the guide for a server lists it."""
SAID = (
    "Epsilon Explorer: expected one of the names under which this app is served, got another one. "
    f"Ask the person who runs it for its address; {SETTING} sets the names.\n"
)


class Hosts:
    """Refuses pages under names that the app is not served under."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request; checks of health and sessions keep their own rules."""
        page = scope["type"] == "http" and "/_stcore/" not in scope["path"]
        named = dict(scope["headers"]).get(b"host", b"").decode("latin-1") if page else ""
        if not page or is_host_allowed(named or None):
            await self.app(scope, receive, send)
            return
        await PlainTextResponse(SAID, 403)(scope, receive, send)
