"""Files that visitors send: refused before they are read where uploads are off or room is short."""

import asyncio
import contextlib
import http.cookiejar
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from benchmarks.classroom import resident
from pages.ui.kit import intake
from tests.browser.app import serving

MEGABYTE = 1_000_000


class Session:
    """A visitor with a cookie and an open session, as a browser is."""

    def __init__(self, address: str) -> None:
        self.address = address
        jar = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        self.opener.open(f"{address}/_stcore/health", timeout=120).close()
        self.token = next(one.value for one in jar if one.name == intake.COOKIE)
        self.socket = connect(
            f"{address.replace('http', 'ws', 1)}/_stcore/stream",
            additional_headers={"Cookie": f"{intake.COOKIE}={self.token}"}, max_size=None,
        )  # fmt: skip
        asked = BackMsg(rerun_script=ClientState(page_name="learn"))
        self.socket.send(asked.SerializeToString())
        self.id = kind = ""
        while kind != "script_finished":  # what a page loads is no part of a file's memory
            message = ForwardMsg.FromString(self.socket.recv(timeout=120))
            self.id = message.new_session.initialize.session_id or self.id
            kind = message.WhichOneof("type") or ""

    def send(self, file: str, megabytes: float, chunked: bool = False) -> int:
        """The status that the server answers to a file."""
        parts = (b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\n',
                 bytes(int(megabytes * MEGABYTE)), b"\r\n--x--\r\n")  # fmt: skip
        request = urllib.request.Request(
            f"{self.address}/_stcore/upload_file/{self.id}/{file}", method="PUT",
            data=iter(parts) if chunked else b"".join(parts),
            headers={"Content-Type": "multipart/form-data; boundary=x", "X-Xsrftoken": self.token},
        )  # fmt: skip
        try:
            with self.opener.open(request, timeout=120) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code


def memory(address: str) -> float:
    """Megabytes that the process of an app holds."""
    port = address.rpartition(":")[2].encode()
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (words := (place / "cmdline").read_bytes().split(b"\0")) and port in words:
                return resident(int(place.name))
    raise LookupError(f"expected the process of {address}")


def settled(address: str) -> float:
    """Megabytes once the app has loaded what it loads after its first page."""
    looks, deadline = [memory(address)], time.monotonic() + 300.0
    while len(looks) < 3 or max(looks[-3:]) - min(looks[-3:]) > 0.5:  # one may be in a lull
        assert time.monotonic() < deadline, f"expected the app to come to rest, got {looks}"
        time.sleep(2.0)
        looks.append(memory(address))
    return looks[-1]


@pytest.mark.thorough
def test_uploads_that_are_off_take_no_file_and_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EXPLORER_UPLOADS", "off")
    with serving(tmp_path) as address:
        session = Session(address)
        assert session.send("warm", 0.1) == 403
        before = settled(address)
        statuses: list[int] = []
        senders = [
            threading.Thread(target=lambda i=i: statuses.append(session.send(f"f{i}", 60)))
            for i in range(4)
        ]
        for one in senders:
            one.start()
        for one in senders:
            one.join()
        assert statuses == [403] * 4
        assert memory(address) - before < 50


@pytest.mark.slow
def test_a_visitor_and_the_process_have_a_budget_of_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EXPLORER_TABLE_MB", "2")
    monkeypatch.setenv(intake.ALL_MEGABYTES, "5")
    with serving(tmp_path) as address:
        one, other = Session(address), Session(address)
        assert one.send("large", 3) == 413
        assert one.send("unmeasured", 1, chunked=True) == 411
        assert [one.send(f"f{i}", 1.9) for i in range(3)] == [204, 204, 413]
        assert one.send("f1", 1.9) == 204  # in the place of the one before
        assert [other.send(f"g{i}", 0.9) for i in range(2)] == [204, 413]
        one.socket.close()


def test_files_that_are_gone_count_no_longer(monkeypatch: pytest.MonkeyPatch):
    manager = SimpleNamespace(file_storage={"s": {"a": object()}})
    held = SimpleNamespace(uploaded_file_mgr=manager)
    monkeypatch.setattr(intake.runtime, "get_instance", lambda: held)
    gate = intake.Intake(lambda *_: asyncio.sleep(0))
    gate.taken = {("s", "a"): ("v", 9), ("s", "b"): ("v", 9), ("t", "c"): ("v", 9)}
    gate.coming = {("t", "c")}
    gate.forget()
    assert set(gate.taken) == {("s", "a"), ("t", "c")}
