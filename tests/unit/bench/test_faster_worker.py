"""The script around faster-qwen3-tts, as a process: what it says where it cannot run, and what it asks and measures.

Its package needs a GPU, so a stand-in of it is put before the real script where it is to get that far.
"""

from __future__ import annotations

import ast
import sys
from importlib.resources import files

import numpy as np
import pytest
from peer_kit import script
from safetensors.numpy import save_file

from refprep.bench.peers.process import PEERS, find_python, run_peer
from refprep.errors import BackendError, DeviceError

WORKER = files("refprep.bench.peers") / PEERS["faster-qwen3-tts"]
ROW = {"text": "Hi.", "voice": "xvec", "speaker": None, "instruct": None, "language": None}

STAND_IN = """
import runpy, sys, types
worker = sys.argv[2]
import torch
torch.cuda.is_available = lambda: {cuda}
torch.cuda.synchronize = lambda: None
class Fake:
    calls = []
    @classmethod
    def from_pretrained(cls, folder, **settings):
        assert settings["attn_implementation"] == "sdpa", settings
        return cls()
    def _chunks(self, max_new_tokens, chunk_size):
        done = 0
        while done < max_new_tokens:
            steps = min(chunk_size, max_new_tokens - done)
            done += steps
            times = dict(chunk_steps=steps, prefill_ms=5.0 if done == steps else 0, decode_ms=2.0 * steps)
            yield None, 24000, times
    def generate_voice_clone_streaming(self, *, text, language, voice_clone_prompt, non_streaming_mode,
                                       max_new_tokens, min_new_tokens, chunk_size):
        assert max_new_tokens == min_new_tokens, "it could end early"
        assert voice_clone_prompt["x_vector_only_mode"] == [True]
        return self._chunks(max_new_tokens, chunk_size)
    def generate_custom_voice_streaming(self, *, text, language, speaker, instruct, max_new_tokens,
                                        min_new_tokens, chunk_size):
        assert speaker == "ana"
        return self._chunks(max_new_tokens, chunk_size)
package = types.ModuleType("faster_qwen3_tts")
package.FasterQwen3TTS = Fake
sys.modules["faster_qwen3_tts"] = package
torch.Tensor.to = lambda self, *a, **k: self
import importlib.metadata
importlib.metadata.version = lambda name: "0"
sys.argv = [worker, sys.argv[-1]]
runpy.run_path(worker, run_name="__main__")
"""


def ask(python, folder, **changes):
    save_file({"embedding": np.zeros(4, np.float32)}, folder / "inputs.safetensors")
    job = {
        "task": "synth", "checkpoint": "none", "device": "cuda", "dtype": "bfloat16", "threads": 1, "frames": 20,
        "seed": 1, "tensors": str(folder / "inputs.safetensors"), "texts": [],
        "cases": [{"name": "synth", "whole_text": False, "rows": [ROW | changes.pop("row", {})]}],
    }  # fmt: skip
    return run_peer("faster-qwen3-tts", python, job | changes, folder, timeout_s=120)


def test_the_script_imports_nothing_but_the_standard_library():
    tree = ast.parse(WORKER.read_text(encoding="utf-8"))
    names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    names |= {str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= set(sys.stdlib_module_names)


def test_an_environment_without_the_package_is_told_how_to_get_it(tmp_path):
    body = "import sys\nsys.stderr.write('missing module: faster_qwen3_tts\\n')\nsys.exit(3)\n"
    with pytest.raises(BackendError, match="no module 'faster_qwen3_tts'") as caught:
        ask(script(tmp_path, body), tmp_path)
    assert "pip install faster-qwen3-tts" in caught.value.fix


def test_the_script_itself_says_what_is_missing(tmp_path):
    """This environment has torch and not the package."""
    try:
        __import__("faster_qwen3_tts")
    except ModuleNotFoundError:
        with pytest.raises(BackendError, match="no module 'faster_qwen3_tts'"):
            ask(find_python(sys.executable), tmp_path)
    else:
        pytest.skip("faster_qwen3_tts is installed here")


@pytest.mark.parametrize(("device", "cuda"), [("cpu", True), ("cuda", False)])
def test_without_cuda_there_is_one_clear_message(tmp_path, device, cuda):
    python = script(tmp_path, STAND_IN.format(cuda=cuda))
    with pytest.raises(DeviceError, match="it needs CUDA") as caught:
        ask(python, tmp_path, device=device)
    assert "Traceback" not in caught.value.what
    assert "NVIDIA GPU" in caught.value.fix


@pytest.mark.parametrize("row", [{}, {"voice": None, "speaker": "ana"}])
def test_it_writes_all_frames_and_tells_their_time(tmp_path, row):
    facts = ask(script(tmp_path, STAND_IN.format(cuda=True)), tmp_path, row=row).facts
    assert (facts["frames"], facts["prefill_ms"], facts["ms_per_frame"]) == (20, 5.0, 2.0)
    assert facts["codec_ms_per_frame"] >= 0
    assert facts["start_s"] >= facts["load_s"] >= 0
    assert facts["peak_rss_bytes"] >= facts["torch_rss_bytes"] > 0
