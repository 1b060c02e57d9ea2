"""Jobs for a peer: the form, the script that stands alone, and every way in which a peer can fail, as real processes."""

from __future__ import annotations

import ast
import json
import sys
from importlib.resources import files

import pytest
from peer_kit import script

from refprep.bench.peers.process import find_python, run_own, run_peer
from refprep.errors import BackendError, UsageError

WORKER = files("refprep.bench.peers") / "qwen_tts_worker.py"
JOB = {"task": "parity", "texts": [], "cases": []}


def ask(python, folder, **options):
    return run_peer("qwen-tts", python, JOB, folder, **({"timeout_s": 60} | options))


def test_the_worker_imports_nothing_but_the_standard_library():
    tree = ast.parse(WORKER.read_text(encoding="utf-8"))
    names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    names |= {str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= set(sys.stdlib_module_names)


def test_a_peer_gets_script_and_job_in_isolation_and_is_read_back(tmp_path):
    body = (
        "import json, sys, pathlib\n"
        "flag, worker, job = sys.argv[1:]\n"
        "asked = json.loads(pathlib.Path(job).read_text())\n"
        "facts = {'flag': flag, 'worker': pathlib.Path(worker).name, 'task': asked['task']}\n"
        "pathlib.Path(asked['out'] + '.json').write_text(json.dumps(facts))\n"
        "from safetensors.numpy import save_file\nimport numpy\n"
        "save_file({'x': numpy.ones(2)}, asked['out'] + '.safetensors')\n"
    )
    answer = ask(script(tmp_path, body), tmp_path)
    assert answer.facts == {"flag": "-I", "worker": "qwen_tts_worker.py", "task": "parity"}
    assert answer.tensors["x"].tolist() == [1.0, 1.0]


def test_no_interpreter_is_a_fault_of_the_call(tmp_path):
    with pytest.raises(UsageError, match="no such interpreter"):
        find_python(str(tmp_path / "nowhere" / "python"))


def test_an_interpreter_is_found_by_path_and_by_name(tmp_path):
    assert find_python(str(script(tmp_path, ""))) == tmp_path / "python"
    assert find_python("sh").name == "sh"


def test_an_environment_without_the_package_is_told_how_to_get_it(tmp_path):
    body = "import sys\nsys.stderr.write('noise\\nmissing module: qwen_tts\\n')\nsys.exit(3)\n"
    with pytest.raises(BackendError, match="no module 'qwen_tts'") as caught:
        ask(script(tmp_path, body), tmp_path)
    assert "pip install --no-deps qwen-tts" in caught.value.fix


def test_the_worker_itself_says_what_is_missing(tmp_path):
    """This environment has torch and no qwen_tts, so the real script meets the real absence."""
    pytest.importorskip("torch")
    try:
        __import__("qwen_tts")
    except ModuleNotFoundError:
        job = JOB | {"threads": 1, "tensors": "none", "checkpoint": "none", "dtype": "float32"}
        with pytest.raises(BackendError, match="no module 'qwen_tts'"):
            run_peer("qwen-tts", find_python(sys.executable), job, tmp_path, timeout_s=120)
    else:
        pytest.skip("qwen_tts is installed here")


def test_a_peer_that_fails_is_quoted(tmp_path):
    body = "import sys\nfor n in range(50): sys.stderr.write(f'line {n}\\n')\nsys.exit(7)\n"
    with pytest.raises(BackendError, match="exited with 7") as caught:
        ask(script(tmp_path, body), tmp_path)
    assert "line 49" in caught.value.what
    assert "line 41" not in caught.value.what


def test_a_peer_that_is_killed_says_by_which_signal(tmp_path):
    with pytest.raises(BackendError, match="ended by signal 9"):
        ask(script(tmp_path, "import os\nos.kill(os.getpid(), 9)\n"), tmp_path)


def test_a_peer_that_takes_too_long_is_stopped(tmp_path):
    with pytest.raises(BackendError, match=r"did not finish within 0\.5 s"):
        ask(script(tmp_path, "import time\ntime.sleep(60)\n"), tmp_path, timeout_s=0.5)


@pytest.mark.parametrize("said", ["", "[1, 2]", "{half"])
def test_an_answer_that_is_none(tmp_path, said):
    body = (
        "import json, sys, pathlib\n"
        f"pathlib.Path(json.loads(pathlib.Path(sys.argv[-1]).read_text())['out'] + '.json').write_text({said!r})\n"
    )
    with pytest.raises(BackendError, match="without an answer"):
        ask(script(tmp_path, body), tmp_path)


def test_an_earlier_answer_is_not_taken_for_this_one(tmp_path):
    (tmp_path / "out.json").write_text(json.dumps({"old": True}))
    with pytest.raises(BackendError, match="without an answer"):
        ask(script(tmp_path, ""), tmp_path)


def test_something_that_does_not_run(tmp_path):
    path = tmp_path / "python"
    path.write_bytes(b"\x00\x01")
    path.chmod(0o755)
    with pytest.raises(BackendError, match="does not run"):
        ask(path, tmp_path)


def test_our_own_worker_fails_like_a_peer(tmp_path):
    with pytest.raises(BackendError, match="exited with 1"):
        run_own("refprep.bench.peers.nothing", JOB, tmp_path, timeout_s=60)
