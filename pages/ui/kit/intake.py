"""What the server takes in: files that visitors bring, before a byte of them is read.

Streamlit's own route for uploads takes a file from every open session, whether or not a page shows
a widget for it, and keeps it in memory. `Intake` stands before that route: it refuses all files
where uploads are off, and those for which a visitor or the process has no room left.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection
from streamlit import runtime
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string

from datasets import own_limits
from engine.core import settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

ROUTE = re.compile(r"/_stcore/upload_file/(?P<session>[^/]+)/(?P<file>[^/]+)$")
UPLOADS = "EXPLORER_UPLOADS"
"""The setting that turns uploads on or off."""
ALL_MEGABYTES, USUAL = "EXPLORER_UPLOADS_MB", 600
"""The setting of the most megabytes of files that the process holds, and its default."""
EACH = 2
"""Files of full size that one visitor may have open: one, and one in its place."""
COOKIE = "_streamlit_xsrf"
"""Drawn by Streamlit for each browser, and sent back with every page."""
PATIENCE = 60.0
"""Seconds for which the rest of a refused file is dropped."""
MARGIN = 10_000
"""Bytes that a form adds to its file."""


def drawn(cookie: str) -> bytes:
    """What Streamlit drew for a browser; empty where its cookie is missing or no such thing."""
    return decode_xsrf_token_string(cookie)[0] or b""


class Intake:
    """Refuses files before they are read.

    Attributes:
        app: What answers every other request.
        taken: The visitor and the bytes of each file that is on its way or held, by its session and
            its own number.
        coming: The files that are on their way.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.taken: dict[tuple[str, str], tuple[str, int]] = {}
        self.coming: set[tuple[str, str]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request; a file is refused before its first byte is read."""
        place = ROUTE.search(scope["path"]) if scope["type"] == "http" else None
        if place is None or scope["method"] not in ("PUT", "POST"):
            await self.app(scope, receive, send)
            return
        key = (place["session"], place["file"])
        asked = HTTPConnection(scope)
        cookie = drawn(asked.cookies.get(COOKIE, ""))
        who = hashlib.sha256(cookie or key[0].encode()).hexdigest()
        status, why = self.refusal(key, who, asked.headers.get("content-length", ""))
        if status:
            await self.refuse(status, why, receive, send)
            return
        self.coming.add(key)
        try:
            await self.app(scope, receive, send)
        finally:
            self.coming.discard(key)

    async def refuse(self, status: int, why: str, receive: Receive, send: Send) -> None:
        """Answers at once, and drops what still comes: a sender reads no answer before its end."""
        kind = [(b"content-type", b"text/plain; charset=utf-8")]
        await send({"type": "http.response.start", "status": status, "headers": kind})
        await send({"type": "http.response.body", "body": why.encode(), "more_body": True})
        with contextlib.suppress(asyncio.TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while (await receive()).get("more_body"):
                    pass
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def refusal(self, key: tuple[str, str], who: str, length: str) -> tuple[int, str]:
        """The status and the sentence that refuse a file; (0, "") where it is taken and counted."""
        if not settings.switch(UPLOADS, True):
            return 403, f"upload: expected no file, because uploads are off here ({UPLOADS})"
        if not length.isdecimal():
            return 411, "upload: expected the length of the file (Content-Length), got none"
        self.forget()
        file = own_limits.most(own_limits.MEGABYTES) * 1_000_000
        each, whole = EACH * file, settings.whole(ALL_MEGABYTES, USUAL) * 1_000_000
        others = [(one, size) for known, (one, size) in self.taken.items() if known != key]
        size = int(length)
        mine = sum(held for one, held in others if one == who)
        for most, held, whose in (
            (file + MARGIN, 0, "a file"),
            (each + MARGIN, mine, "all files that you have open"),
            (whole + MARGIN, sum(held for _, held in others), "the files of all visitors"),
        ):
            if held + size > most:
                return 413, (
                    f"upload: expected at most {most / 1e6:,.0f} MB for {whose}, got "
                    f"{(held + size) / 1e6:,.0f} MB: close a page with a file, or try again later"
                )
        self.taken[key] = (who, size)
        return 0, ""

    def forget(self) -> None:
        """Drops the files that have arrived and that Streamlit holds no longer."""
        held = getattr(runtime.get_instance().uploaded_file_mgr, "file_storage", {})
        for key in set(self.taken) - self.coming:
            if key[1] not in held.get(key[0], {}):
                del self.taken[key]
