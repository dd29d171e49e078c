"""Plotly's code comes with the page: the browser reads it while it waits for Streamlit's own.

Streamlit would send it to every session again, and the browser would read it once all else is
there. Here it is a file like Streamlit's own, which a browser keeps.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
from typing import TYPE_CHECKING

from starlette.responses import Response

from pages.ui.kit import plot

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

READY = 'window.dispatchEvent(new Event("explorer.plotly"))'
"""Tells charts that are waiting that the library is there."""
FOR_EVER = "public, max-age=31536000, immutable"
"""For a file whose address changes with its content."""
UNCHANGED = (b"accept-encoding", b"if-none-match", b"if-modified-since")
"""What a browser says to get a page packed, or not at all."""


@functools.cache
def library() -> bytes:
    """Plotly's code, packed once."""
    text = f"{plot.LIBRARY.read_text(encoding='utf-8')}\n{READY}\n"
    return gzip.compress(text.encode(), mtime=0)


@functools.cache
def tag() -> bytes:
    """The line of a page that names it."""
    digest = hashlib.sha256(library()).hexdigest()[:12]
    source = f"{plot.LIBRARY.name}?{digest}"
    return f'<script async fetchpriority="high" src="./{source}"></script>'.encode()


class Early:
    """Names Plotly's code in the head of every page, and serves it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request; all but pages and the library as before."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
        elif scope["path"].endswith(f"/{plot.LIBRARY.name}"):
            await _served()(scope, receive, send)
        elif b"text/html" in dict(scope["headers"]).get(b"accept", b""):
            headers = [one for one in scope["headers"] if one[0] not in UNCHANGED]
            await self.app({**scope, "headers": headers}, receive, _Named(send))
        else:
            await self.app(scope, receive, send)


def _served() -> Response:
    """The library; every browser that runs the app unpacks what is packed."""
    headers = {"content-encoding": "gzip", "cache-control": FOR_EVER}
    return Response(library(), headers=headers, media_type="text/javascript")


class _Named:
    """Sends what comes, and a page with the line of the library in its head.

    Args:
        send: Where it goes.
    """

    def __init__(self, send: Send) -> None:
        self.send, self.body = send, b""
        self.start: Message = {}

    async def __call__(self, message: Message) -> None:
        """Keeps the parts of a page until all are there."""
        if message["type"] == "http.response.start":
            kind = dict(message["headers"]).get(b"content-type", b"")
            if kind.startswith(b"text/html"):
                self.start = message
                return
        if self.start:
            self.body += message.get("body", b"")
            if not message.get("more_body"):
                await self._page()
            return
        await self.send(message)

    async def _page(self) -> None:
        body = self.body.replace(b"<head>", b"<head>" + tag(), 1)
        changed = (b"content-length", b"etag", b"last-modified")
        headers = [one for one in self.start["headers"] if one[0] not in changed]
        headers.append((b"content-length", str(len(body)).encode()))
        await self.send({**self.start, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})
