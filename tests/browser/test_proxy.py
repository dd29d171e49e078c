"""The app behind a real nginx: under a path of another site, and under another name."""

import contextlib
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from pages.ui.kit.hosts import SAID, SETTING
from tests.browser.app import PATIENCE, ROOT, free_port, serving, settled, temporary_home

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed"),
]
PATH = "lab"
SERVER = (ROOT / "docs/deploy/nginx.conf").read_text(encoding="utf-8")


@contextlib.contextmanager
def proxied(folder: Path, app: str) -> Iterator[str]:
    """An nginx with the server of the guide, without TLS, on a free port."""
    port = free_port()
    server = re.sub(r"listen 443 ssl;", f"listen 127.0.0.1:{port};", SERVER)
    server = re.sub(r" *ssl_certificate.*\n", "", server)
    server = server.replace("http://127.0.0.1:8501", app.replace("localhost", "127.0.0.1"))
    server = server.replace("location / {", f"location /{PATH}/ {{")
    own = "\n".join(
        f"{kind}_temp_path {folder}/{kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = folder / "nginx.conf"
    config.write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log;\nevents {{}}\n"
        f"http {{ access_log off;\n{own}\n{server} }}\n"
    )
    done = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(config)])
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        done.terminate()
        done.wait(timeout=120)


@contextlib.contextmanager
def behind(folder: Path) -> Iterator[str]:
    """The app on an empty store, and a proxy before it that answers."""
    with (
        temporary_home() as home,
        serving(home, path=f"{PATH}/") as app,
        proxied(folder, app) as address,
    ):
        for _ in range(600):
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=1),
            ):
                break
            time.sleep(0.1)
        yield address


def test_under_a_path_every_link_of_a_page_stays_there(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", PATH)
    with behind(tmp_path) as address:
        page = browser.new_context().new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"{address}/{PATH}/")
        settled(page)
        links = page.locator("a[href]").evaluate_all("all => all.map(one => one.href)")
        inner = [link for link in links if link.startswith(address)]
        assert len(inner) > 10
        assert [link for link in inner if not link.startswith(f"{address}/{PATH}/")] == []
        page.goto(f"{address}/{PATH}/nosuch")
        settled(page)
        page.get_by_role("heading", name="There is no page of this name").wait_for()
        assert not page.get_by_role("dialog").count()
        page.goto(f"{address}/{PATH}/survival?survival.epsilon=2")
        settled(page)
        page.wait_for_function("() => document.querySelector('.js-plotly-plot')?.data?.length")


def test_under_a_name_that_is_not_served_a_sentence_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", PATH)
    monkeypatch.setenv(SETTING, "explorer.example.org")
    with behind(tmp_path) as address:
        served = urllib.request.Request(
            f"{address}/{PATH}/", headers={"Host": "explorer.example.org"}
        )
        with urllib.request.urlopen(served, timeout=120) as answer:
            assert answer.status == 200
        other = urllib.request.Request(
            f"{address}/{PATH}/", headers={"Host": "elsewhere.example.org"}
        )
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(other, timeout=120)
        assert refused.value.code == 403
        assert refused.value.read().decode() == SAID
