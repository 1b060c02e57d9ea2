"""The real huggingface_hub against a hub of ours on this machine; children, since it reads its settings at import."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import refprep

PACKAGE = Path(refprep.__file__).parents[1]
COMMITS = ("a" * 40, "b" * 40)

CATALOG = {
    "schema_version": 1,
    "model": [
        {
            "id": "toy",
            "role": "speaker",
            "size_bytes": 100,
            "size_is_estimate": True,
            "licence": "MIT",
            "description": "A toy.",
            "default_for": [],
            "sources": [
                {
                    "kind": "hub",
                    "repo": "us/toy",
                    "files": [
                        {"name": "config.json"},
                        {"any_of": ["model.safetensors", "pytorch_model.bin"]},
                        {"name": "nested/extra.json", "optional": True},
                    ],
                }
            ],
        }
    ],
}

CHILD = """
import json, sys
from pathlib import Path
from refprep.errors import RefprepError
from refprep.models.catalog import parse_catalog
from refprep.models.store import ModelStore
store = ModelStore(Path(sys.argv[1]), catalog=parse_catalog(json.loads(sys.argv[2])), offline=sys.argv[3] == "offline")
arrived = []
try:
    folder = store.pull("toy", progress=arrived.append)
    status = store.status("toy")
    print(json.dumps({"revision": status.revision, "state": status.state, "arrived": sum(arrived),
        "files": sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())}))
except RefprepError as error:
    print(json.dumps({"error": type(error).__name__, "what": error.what, "fix": error.fix}))
"""


class FakeHub:
    """What huggingface_hub asks of a hub: a model's files at a revision, and each file."""

    def __init__(self) -> None:
        self.commit = COMMITS[0]
        self.files = {
            COMMITS[0]: {"config.json": b"{}", "pytorch_model.bin": b"weights" * 100},
            COMMITS[1]: {
                "config.json": b"{}",
                "pytorch_model.bin": b"changed" * 100,
                "nested/extra.json": b"[]",
            },
        }
        self.gets: list[str] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self._answer(with_body=False)

            def do_GET(self) -> None:
                self._answer(with_body=True)

            def log_message(self, *args: Any) -> None:
                pass

            def _answer(self, *, with_body: bool) -> None:
                path = self.path.split("?")[0]
                body, headers = hub.find(path)
                self.send_response(404 if body is None else 200)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                if with_body and body is not None:
                    hub.gets.append(path)
                    self.wfile.write(body)

        return Handler

    def find(self, path: str) -> tuple[bytes | None, dict[str, str]]:
        if path.startswith("/api/models/us/toy"):
            revision = path.rpartition("/revision/")[2] if "/revision/" in path else self.commit
            files = self.files.get(revision)
            if files is None:
                return None, {"X-Error-Code": "RevisionNotFound"}
            info = {"id": "us/toy", "sha": revision, "siblings": [{"rfilename": n} for n in files]}
            return json.dumps(info).encode(), {"Content-Type": "application/json"}
        revision, _, name = path.removeprefix("/us/toy/resolve/").partition("/")
        body = self.files.get(revision, {}).get(name)
        if body is None:
            return None, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": revision}
        return body, {"X-Repo-Commit": revision, "ETag": f'"{hashlib.sha256(body).hexdigest()}"'}


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    fake = FakeHub()
    yield fake
    fake.server.shutdown()
    fake.server.server_close()


def pull(
    tmp_path: Path, endpoint: str, *, offline: bool = False, root: str = "cache", **env: str
) -> dict[str, Any]:
    environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")} | {
        "PYTHONPATH": str(PACKAGE),
        "HF_ENDPOINT": endpoint,
        "HF_HOME": str(tmp_path / "hf"),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        **env,
    }
    mode = "offline" if offline else "online"
    command = [sys.executable, "-c", CHILD, str(tmp_path / root), json.dumps(CATALOG), mode]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_the_first_pull_records_the_commit_and_later_ones_are_held_against_it(
    tmp_path: Path, hub: FakeHub
) -> None:
    first = pull(tmp_path, hub.url)
    assert first == {
        "revision": COMMITS[0],
        "state": "present",
        "arrived": 702,
        "files": ["config.json", "pytorch_model.bin", "record.json"],
    }
    # Upstream moves on, and this machine loses the model: the recorded commit is what comes back.
    hub.commit = COMMITS[1]
    (tmp_path / "cache" / "models" / "toy" / "pytorch_model.bin").unlink()
    assert pull(tmp_path, hub.url)["revision"] == COMMITS[0]
    # Upstream rewrites that very commit, and the hub's own cache is gone: refused.
    hub.files[COMMITS[0]]["pytorch_model.bin"] = b"forged!" * 100
    (tmp_path / "cache" / "models" / "toy" / "pytorch_model.bin").unlink()
    refused = pull(tmp_path, hub.url, HF_HOME=str(tmp_path / "hf2"))
    assert refused["error"] == "IntegrityError"
    assert "the first pull has" in refused["what"]
    # Another store, which never pulled it, takes what there is now, the optional file included.
    fresh = pull(tmp_path, hub.url, root="other")
    assert fresh["revision"] == COMMITS[1]
    assert "nested/extra.json" in fresh["files"]


def test_damage_through_the_hard_link_into_the_hubs_cache_is_mended(tmp_path: Path, hub: FakeHub) -> None:
    pull(tmp_path, hub.url)
    weights = tmp_path / "cache" / "models" / "toy" / "pytorch_model.bin"
    with weights.open("r+b") as stream:  # in place: the hub's cached blob is the same inode
        stream.write(b"X")
    assert pull(tmp_path, hub.url)["state"] == "present"
    assert weights.read_bytes() == b"weights" * 100


def test_the_hubs_cache_serves_offline(tmp_path: Path, hub: FakeHub) -> None:
    environment = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_DISABLE_XET": "1"}
    code = (
        "from huggingface_hub import hf_hub_download as d\n"
        "for n in ('config.json', 'pytorch_model.bin'): d('us/toy', n)\n"
    )
    hub.files["main"] = hub.files[COMMITS[0]]
    original = hub.find

    def as_main(path: str) -> tuple[bytes | None, dict[str, str]]:
        body, headers = original(path)
        return body, {k: COMMITS[0] if k == "X-Repo-Commit" else v for k, v in headers.items()}

    hub.find = as_main  # type: ignore[method-assign]
    subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, check=True, capture_output=True
    )
    for kind in ({"offline": True}, {"HF_HUB_OFFLINE": "1", "root": "other"}):
        result = pull(tmp_path, "http://127.0.0.1:9", **kind)  # type: ignore[arg-type]
        assert result["revision"] == COMMITS[0]
        assert result["files"] == ["config.json", "pytorch_model.bin", "record.json"]


def test_offline_without_a_cache_says_what_to_do(tmp_path: Path) -> None:
    for kind in ({"offline": True}, {"HF_HUB_OFFLINE": "1"}):
        result = pull(tmp_path, "http://127.0.0.1:9", **kind)  # type: ignore[arg-type]
        assert result["error"] == "WeightsMissing"
        assert "refprep models pull toy" in result["fix"]


def test_a_hub_that_is_not_reached_is_a_backend_error(tmp_path: Path) -> None:
    result = pull(tmp_path, "http://127.0.0.1:9")
    assert result["error"] == "BackendError"
    assert "the hub did not deliver" in result["what"]


def test_a_repository_that_lacks_a_file_is_a_backend_error(tmp_path: Path, hub: FakeHub) -> None:
    del hub.files[COMMITS[0]]["pytorch_model.bin"]
    result = pull(tmp_path, hub.url)
    assert result == {
        "error": "BackendError",
        "what": f"has no model.safetensors or pytorch_model.bin at {COMMITS[0]}",
        "fix": "Take another source with --source, or another model",
    }
