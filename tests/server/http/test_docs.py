"""docs/service.md on HTTP: its examples run, and its tables are those of the code."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from distsearch.server.http.limits import reference

from ..fake_queue import FakeDesk
from .asking import OverHttp

PAGE = (Path(__file__).parents[3] / "docs" / "service.md").read_text(encoding="utf-8")
HTTP = PAGE.partition("\n## HTTP\n")[2].partition("\n## ")[0]


def test_the_page_has_the_tables():
    assert f"\n{reference()}\n" in HTTP


def test_the_examples_run(tmp_path):
    pytest.importorskip("uvicorn", reason="the extra http is not installed")
    if not shutil.which("curl"):
        pytest.skip("no curl")
    blocks = re.findall(r"```sh\n(.*?)```", HTTP, re.DOTALL)
    assert len(blocks) == 4
    with OverHttp(FakeDesk(), tmp_path) as service:
        variables = {"URL": service.gateway.url.rstrip("/"), "TOKEN": service.token, "PATH": "/usr/bin:/bin"}
        for block in blocks:
            subprocess.run(["sh", "-ec", block], check=True, env=variables, cwd=tmp_path)
    assert [json.loads(line)["line"] for line in (tmp_path / "answers.jsonl").read_text().splitlines()] == [1, 2, 3, 4]
