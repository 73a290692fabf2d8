"""``distsearch serve --http`` in processes of its own: what it prints, how it ends, and that nothing of it stays."""

import json
import os
import signal
import urllib.request

import pytest

from .running import SOON, TRACEBACK, Job, run, send, wait_for

pytest.importorskip("uvicorn", reason="the extra http is not installed")
EASY, SCORE = "67773775553433522221211211515", -2  # Connect 4
_STARTING = 300  # seconds: kernels may have to be compiled


def answer(url, token):
    """Return the answer to a search."""
    body = json.dumps({"game": "connect4", "position": EASY, "exact": True}).encode()
    asked = urllib.request.Request(f"{url}search", body, {"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked, timeout=_STARTING) as response:
        return json.loads(response.read())["answers"][0]


def state(url):
    """Return what the service says that it does."""
    with urllib.request.urlopen(f"{url}health", timeout=_STARTING) as response:
        return json.load(response)["state"]


@pytest.mark.parametrize("ranks", [0, 3])
def test_it_serves_and_ends(ranks):
    with Job("serve", "--http", "0", ranks=ranks) as job:
        url, token = job.hear().split("#token=")
        assert url.startswith("http://127.0.0.1:")
        found = answer(url, token)
        assert (found["score"], found["ranks"]) == (SCORE, max(ranks, 1))
        send(job, ranks, signal.SIGTERM)
        done = job.finish(SOON)
        wait_for(lambda: not job.left, SOON)
    assert done.status == 0
    assert done.out == ""
    assert f"serving {url} with" in done.err
    assert token not in done.err
    assert TRACEBACK not in done.err


def test_it_ends_with_rank_0():
    with Job("serve", "--http", "0") as job:
        url, token = job.hear().split("#token=")
        assert answer(url, token)["score"] == SCORE
        wait_for(lambda: state(url) == "serving", _STARTING)  # what compiles ends what it is at
        os.kill(job.ranks()[0], signal.SIGKILL)
        job.finish(SOON)
        wait_for(lambda: not job.left, SOON)


@pytest.mark.any_mpi
@pytest.mark.parametrize(
    ("address", "words"), [("localhost:x", "is not HOST:PORT"), ("192.0.2.1:80", "cannot listen at 192.0.2.1:80")]
)
def test_an_address_that_cannot_be(address, words):
    done = run("serve", "--http", address)
    assert done.status == 2
    assert words in done.err.splitlines()[-1]
    assert TRACEBACK not in done.err
