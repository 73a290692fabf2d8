"""``scripts/slurm/serve.sbatch`` as a job runs it, without Slurm; tests/hosts has it submitted to one."""

import json
import os
import re
import signal
import stat
import subprocess
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from .running import PATIENCE, TRACEBACK, wait_for

pytest.importorskip("uvicorn", reason="the extra http is not installed")
CHECKOUT = Path(__file__).parents[2]
EASY, SCORE = "67773775553433522221211211515", -2  # Connect 4
_STARTING = 300  # seconds: kernels may have to be compiled


def ask(page, **fields):
    """Return the answer to a search."""
    url, token = page.split("#token=")
    asked = urllib.request.Request(f"{url}search", json.dumps(fields).encode(), {"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked, timeout=_STARTING) as response:
        return json.loads(response.read())


@pytest.fixture
def job(tmp_path):
    """A function that starts the script with these variables; what it prints goes to the file ``log``."""
    started = []

    def start(*arguments, **more):
        slurm = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "2", "SLURM_SUBMIT_HOST": "login"}
        # the commands of the package under test
        (tmp_path / "distsearch").write_text('#!/bin/sh\nexec python -m distsearch "$@"\n')
        (tmp_path / "distsearch").chmod(0o755)
        path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
        site = {"LAUNCHER": "mpirun", "VENV": "", "RESULTS": str(tmp_path), "PATH": path, "PYTHONPATH": str(CHECKOUT)}
        with open(tmp_path / "log", "w") as log:
            command = ["bash", "scripts/slurm/serve.sbatch", *arguments]
            started.append(
                subprocess.Popen(
                    command, cwd=CHECKOUT, env={**os.environ, **slurm, **site, **more}, stdout=log, stderr=log
                )
            )
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.terminate()
            process.wait(PATIENCE)


def told(tmp_path):
    """What the job's log has, once it says where the page is."""
    log = tmp_path / "log"
    wait_for(lambda: "page:" in log.read_text(), _STARTING)
    return log.read_text()


def test_it_serves_saves_and_ends(job, tmp_path):
    script, url = job("--log-requests"), tmp_path / "serve-7.url"
    log = told(tmp_path)
    port = re.search(r"^tunnel: ssh -N -L (\d+):127\.0\.0\.1:\1 -J login \S+$", log, re.MULTILINE)[1]
    assert f"page:   ssh login cat {url}" in log
    assert stat.S_IMODE(url.stat().st_mode) == 0o600
    page = url.read_text().strip()
    assert page.startswith(f"http://127.0.0.1:{port}/#token=")
    assert ask(page, game="connect4", position=EASY, exact=True)["answers"][0]["score"] == SCORE

    ends = []
    long = threading.Thread(target=lambda: ends.append(_refused(page, game="othello", exact=True)))
    long.start()
    status = page.replace("#token=", "status?token=")
    wait_for(lambda: json.load(urllib.request.urlopen(status, timeout=PATIENCE))["active"] == 1, PATIENCE)
    script.send_signal(signal.SIGTERM)  # as --signal=B:TERM@120 does
    assert script.wait(PATIENCE) == 0
    long.join(PATIENCE)
    assert ends == [503]
    assert len(list((tmp_path / "serve-checkpoints").iterdir())) == 1
    log = (tmp_path / "log").read_text()
    assert "state=cancelled" in log
    assert page.partition("=")[2] not in log
    assert TRACEBACK not in log
    assert not url.exists()


def _refused(page, **fields):
    try:
        return ask(page, **fields)
    except urllib.error.HTTPError as error:
        return error.code


def test_where_nodes_take_no_ssh_the_login_node_is_the_end_of_the_tunnel(job, tmp_path):
    script = job(HTTP="0.0.0.0:0", SLURM_NTASKS="1", LOGIN="me@login.example")
    tunnel = r"^tunnel: ssh -N -L (\d+):(\S+):\1 me@login.example$"
    port, node = re.search(tunnel, told(tmp_path), re.MULTILINE).groups()
    assert node == os.uname().nodename
    page = (tmp_path / "serve-7.url").read_text().strip()
    assert page.startswith(f"http://127.0.0.1:{port}/#token=")
    assert ask(page, game="connect4", position=EASY, exact=True)["answers"][0]["score"] == SCORE
    script.send_signal(signal.SIGTERM)
    assert script.wait(PATIENCE) == 0
