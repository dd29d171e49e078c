"""The files for a server name what is there: paths, settings, the address of the health check."""

import configparser
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from datasets import own_limits
from tests.engine.conftest import until

ROOT = Path(__file__).parents[1]
DOCKER = (ROOT / "Dockerfile").read_text(encoding="utf-8")
UNIT = (ROOT / "docs/deploy/epsilon-explorer.service").read_text(encoding="utf-8")
CLUSTER = (ROOT / "docs/cluster.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs/class.md").read_text(encoding="utf-8")


def sources() -> str:
    """All code of the program."""
    files = [ROOT / "app.py"]
    files += [
        file for part in ("engine", "datasets", "pages") for file in (ROOT / part).rglob("*.py")
    ]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def copied() -> list[str]:
    """What the image takes from the repository."""
    lines = re.findall(r"^COPY (.+) \S+$", DOCKER, re.M)
    return [name for line in lines for name in line.split()]


def test_the_image_holds_the_program_and_nothing_else():
    assert all((ROOT / name).exists() for name in copied())
    assert {"app.py", ".streamlit", "pages", "engine", "datasets", "reference"} <= set(copied())


def test_a_copy_of_what_the_image_takes_lists_every_paper(tmp_path: Path):
    for name in copied():
        (tmp_path / name).symlink_to(ROOT / name)
    done = subprocess.run(
        [sys.executable, "-m", "engine", "list", "--json"],
        cwd=tmp_path,
        env={**os.environ, "EXPLORER_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_what_starts_on_a_cluster_is_installed_and_finds_the_program():
    containers = re.findall(r"- name: \w+\n(?: {10}.*\n)+", CLUSTER)
    assert len(containers) == 2
    (place,) = re.findall(r"^WORKDIR (\S+)$", DOCKER, re.M)
    for text in containers:
        (said,) = re.findall(r"args: (\[.*\])", text)
        program, verb, *_ = json.loads(said)
        assert [*entry_points(group="console_scripts", name=program)], program
        assert [*entry_points(group=f"{program}_cli", name=verb)], verb
        assert f"{{name: PYTHONPATH, value: {place}}}" in text


def test_the_image_does_not_run_as_root():
    *_, last = re.findall(r"^USER (\S+)$", DOCKER, re.M)
    assert last not in ("root", "0")
    assert DOCKER.index("USER ") < DOCKER.index('CMD ["streamlit"')


def test_the_health_check_asks_the_port_that_is_served():
    (served,) = re.findall(r'"--server.port", "(\d+)"', DOCKER)
    (asked,) = re.findall(r"127\.0\.0\.1:(\d+)/_stcore/health", DOCKER)
    assert served == asked == re.findall(r"^EXPOSE (\d+)$", DOCKER, re.M)[0]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_what_root_restores_by_the_guide_is_its_user_s(tmp_path: Path):
    lines = re.findall(r"^    ((?:tar|cp|chown) .*)$", GUIDE, re.M)
    assert [line.split()[0] for line in lines] == ["tar", "cp", "tar", "chown"]
    backup, before, after = (tmp_path / name for name in ("backup", "before", "after"))
    for folder in (backup, before / "artifacts", after):
        folder.mkdir(parents=True)
    for path in (before / "store.sqlite", before / "artifacts" / "x.npz", backup / "store.sqlite"):
        path.touch(0o600)
    for path in (before, *before.rglob("*")):
        os.chown(path, 65534, 65534)
    for home, some in ((before, lines[:1]), (after, lines[1:])):
        told = "\n".join(("set -e", "umask 077", *some)).replace("/backup/", f"{backup}/")
        env = {**os.environ, "EXPLORER_HOME": str(home)}
        subprocess.run(["bash", "-c", told], env=env, check=True)
    found = [after, *after.rglob("*")]
    assert {path.name for path in found} == {"after", "store.sqlite", "artifacts", "x.npz"}
    assert {path.stat().st_uid for path in found} == {65534}


def test_every_setting_that_is_named_is_one():
    named = set(re.findall(r"EXPLORER_[A-Z]+(?:_[A-Z]+)*", DOCKER + UNIT + GUIDE))
    assert named
    code = sources()
    assert not [name for name in named if name not in code]


def test_the_proxy_lets_through_what_the_app_takes():
    (passed,) = re.findall(
        r"client_max_body_size (\d+)m;", (ROOT / "docs/deploy/nginx.conf").read_text()
    )
    (taken,) = re.findall(r"maxUploadSize = (\d+)", (ROOT / ".streamlit/config.toml").read_text())
    assert int(passed) == int(taken) == own_limits.most(own_limits.MEGABYTES)


def test_every_setting_of_the_program_is_in_the_guide():
    """But two: one that tests alone set, and the cluster's, which have a page of their own."""
    code = set(re.findall(r'"(EXPLORER_[A-Z_]+)"', sources()))
    own = {"EXPLORER_GRACE_SECONDS", "EXPLORER_EXECUTOR", "EXPLORER_CLUSTER_TABLES"}
    assert code - own <= set(re.findall(r"EXPLORER_[A-Z_]+", GUIDE))


@pytest.mark.parametrize("text", [DOCKER, UNIT, GUIDE], ids=["image", "unit", "guide"])
def test_paths_of_the_repository_exist(text: str):
    for name in re.findall(r"docs/[\w./-]+\w", text):
        assert (ROOT / name).exists(), name


def test_the_unit_is_read_by_a_parser_and_starts_the_app():
    parsed = configparser.ConfigParser(strict=False, interpolation=None)
    parsed.read_string(UNIT)
    assert set(parsed.sections()) == {"Unit", "Service", "Install"}
    assert "streamlit run app.py" in parsed["Service"]["ExecStart"]
    assert parsed["Service"]["StateDirectoryMode"] == "0700"


@pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("nginx") is None,
    reason="needs nginx, and many addresses of one machine",
)
def test_a_class_in_one_room_is_spread_over_several_apps(tmp_path: Path):
    """Forty addresses of one network reach both apps, and each address its own one again.

    How many reach which app depends on the ports, which are drawn: others have a second try.
    """
    (key,) = re.findall(r"`upstream`\s+with\s+`([^`;]+);?`", GUIDE)
    (tmp_path / "logs").mkdir()
    fewest = (fewer(tmp_path, key) for _ in range(2))
    assert any(count >= 8 for count in fewest)


def fewer(folder: Path, key: str) -> int:
    """How many of forty addresses reach the one of two apps that fewer of them reach."""
    front, *apps = (free() for _ in range(3))
    (folder / "nginx.conf").write_text(
        "daemon off; pid nginx.pid; error_log logs/error.log; events {}\n"
        "http { access_log off; default_type text/plain;\n"
        + "".join(f"server {{ listen 127.0.0.1:{one}; return 200 {one}; }}\n" for one in apps)
        + f"upstream app {{ {key}; {' '.join(f'server 127.0.0.1:{one};' for one in apps)} }}\n"
        f"server {{ listen 127.0.0.1:{front}; location / {{ proxy_pass http://app; }} }} }}\n"
    )
    done = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")])
    try:
        until(lambda: done.poll() is not None or reached(front, 2))
        first, again = ([reached(front, host) for host in range(2, 42)] for _ in range(2))
    finally:
        done.terminate()
        done.wait(120.0)
    assert first == again
    return min(first.count(str(one)) for one in apps)


def free() -> int:
    """A port that nobody uses."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def reached(port: int, host: int) -> str:
    """What answers a browser at an address of this machine; nothing where nobody does."""
    asks = http.client.HTTPConnection(
        "127.0.0.1", port, timeout=5.0, source_address=(f"127.0.0.{host}", 0)
    )
    try:
        asks.request("GET", "/")
        return asks.getresponse().read().decode()
    except OSError:
        return ""
    finally:
        asks.close()
