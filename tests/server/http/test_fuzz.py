"""Requests that schemathesis makes of the OpenAPI document: none finds a mistake, none without a token an answer."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ..fake_queue import FakeDesk
from .asking import OverHttp

pytest.importorskip("uvicorn", reason="the extra http is not installed")
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,ignored_auth,"
    "unsupported_method"
)


def fuzz(url, token, examples, seed, folder):
    """Run schemathesis in a folder; return its CompletedProcess."""
    program = Path(sys.executable).with_name("schemathesis")
    if not program.exists():
        pytest.skip("schemathesis is not installed")
    asked = ["run", f"{url}openapi.json", "--header", f"Authorization: Bearer {token}", "--checks", CHECKS]
    asked += ["--exclude-path", "/watch"]  # which has no end: see ``test_watch``
    size = ["--max-examples", str(examples), "--seed", str(seed), "--no-color", "--request-timeout", "60"]
    return subprocess.run([program, *asked, *size], cwd=folder, check=False, capture_output=True, text=True)


def test_no_request_finds_a_mistake(tmp_path, full, seed, capfd):
    with OverHttp(FakeDesk(), tmp_path, rate=1e9, strangers=1e9) as service:
        done = fuzz(service.gateway.url, service.token, 1500 if full else 2, seed, tmp_path)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        with service.client() as client:
            assert client.search()[0] == 200
            counts = re.findall(
                r"^distsearch_http_requests_total\{.*\} (\S+)$", client.get("/metrics")[1].decode(), re.M
            )
        requests = sum(map(float, counts))
        print(f"{requests:.0f} requests with seed {seed}")
        assert requests >= (10_000 if full else 50)
        assert service.serving.queue.submitted
        assert not service.serving.queue.requests  # nothing is open
    assert "Traceback" not in capfd.readouterr().err
