"""Plotly's code comes with the page, and a browser keeps it."""

import asyncio
import gzip
from typing import Any

from pages.ui.kit import early, plot

PAGE = b"<!DOCTYPE html><html><head><title>One</title></head><body></body></html>"
NUMBERS = b'{"head": "<head>"}'


async def served(scope: Any, receive: Any, send: Any) -> None:
    """Answers with a page in two parts, and with numbers under their own name."""
    page = scope["path"] != "/numbers"
    kind = b"text/html; charset=utf-8" if page else b"application/json"
    headers = [(b"content-type", kind), (b"etag", b"as before"), (b"content-length", b"72")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for part in (PAGE[:9], PAGE[9:]) if page else (NUMBERS,):
        more = part == PAGE[:9]
        await send({"type": "http.response.body", "body": part, "more_body": more})


def asked(path: str) -> tuple[dict[bytes, bytes], bytes]:
    """Headers and body of what a browser gets that goes to an address."""
    scope = {"type": "http", "method": "GET", "path": path, "headers": [(b"accept", b"text/html")]}
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(early.Early(served)(scope, None, send))  # type: ignore[arg-type]
    start, *parts = sent
    return dict(start["headers"]), b"".join(part["body"] for part in parts)


def test_a_page_names_the_library_before_all_else():
    headers, body = asked("/survival")
    assert body == PAGE.replace(b"<head>", b"<head>" + early.tag())
    assert int(headers[b"content-length"]) == len(body)
    assert b"etag" not in headers


def test_the_library_is_served_whole_and_kept_for_ever():
    source = early.tag().decode().partition('src=".')[2].partition("?")[0]
    headers, body = asked(source)
    text = gzip.decompress(body).decode()
    assert text == f"{plot.LIBRARY.read_text(encoding='utf-8')}\n{early.READY}\n"
    assert b"immutable" in headers[b"cache-control"]


def test_what_is_no_page_is_left_as_it_is():
    headers, body = asked("/numbers")
    assert (body, headers[b"etag"]) == (NUMBERS, b"as before")
