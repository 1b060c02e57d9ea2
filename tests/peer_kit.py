"""A stand-in for a peer's interpreter: a real process that answers jobs with our own engine, or misbehaves."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

_ANSWERS = """
import json, sys
import numpy as np
import torch
sys.path.insert(0, {root!r})
from pathlib import Path
from safetensors.numpy import load_file, save_file
from refprep.bench.parity_cases import parity_cases
from refprep.engine.codec import load_codec_decoder
from refprep.engine.engine import Engine
from refprep.engine.model import DTYPES, load_checkpoint
from refprep.engine.prompt import build_prompt
from refprep.engine.teacher import force_codes

job = json.loads(Path(sys.argv[-1]).read_text())
torch.set_num_threads(1)
folder, cpu = Path(job["checkpoint"]), torch.device("cpu")
loaded = load_checkpoint(folder, device=cpu, dtype=DTYPES[job["dtype"]])
given = load_file(job["tensors"])
cases = parity_cases(
    loaded.config, loaded.tokenizer, frames=job["frames"], embedding=given.get("embedding"), codes=given.get("codes")
)
decoder = load_codec_decoder(folder, cpu)
tensors = {{}}
if job["audio"] and "codes" in given:
    tensors = {{"embedding": given["embedding"], "ref_codes": given["codes"]}}
for case in cases:
    for number, request in enumerate(case.requests):
        (result,) = Engine(loaded, max_batch=1).generate([request])
        codes = torch.from_numpy(result.codes.astype("int64"))
        with torch.inference_mode():
            prompt = build_prompt(request, loaded.config, loaded.talker, loaded.tokenizer)
        forced = force_codes(loaded.talker, prompt, codes)
        found = {{
            "prompt": prompt.embeds.float(), "codes": codes, "talker": forced.talker, "predictor": forced.predictor,
            "margins": torch.ones(len(codes)),
        }}
        if job["audio"]:
            state = decoder.fresh()
            if request.voice is not None and request.voice.num_frames:
                decoder.decode(torch.from_numpy(request.voice.codes.copy()), state=state)
            found["wave"] = decoder.decode(codes, state=state)
        tensors |= {{f"{{case.name}}.{{number}}.{{k}}": v.numpy() for k, v in found.items()}}
for name, by in {spoilt!r}.items():
    tensors[name] = tensors[name] + np.asarray(by, tensors[name].dtype)
facts = {{
    "cases": {{case.name: {{"own_diff": 0.0}} for case in cases}},
    "texts": [{{**t, "equal": {ids!r}, "equal_without_swap": True}} for t in job["texts"]],
    "versions": {{"stand-in": "1"}},
}}
save_file(tensors, job["out"] + ".safetensors")
Path(job["out"] + ".json").write_text(json.dumps(facts))
"""


def script(folder: Path, body: str, name: str = "python") -> Path:
    """An executable that runs some Python, whatever its arguments."""
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{body}", encoding="utf-8")
    path.chmod(0o755)
    return path


def answering(folder: Path, *, spoilt: dict[str, float] | None = None, ids_equal: bool = True) -> Path:
    """A peer that computes what we compute; some of its tensors can be off by a number."""
    return script(folder, _ANSWERS.format(root=str(ROOT), spoilt=spoilt or {}, ids=ids_equal))
