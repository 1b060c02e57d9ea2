"""Runs the official ``qwen-tts`` package, in its own environment: ``PYTHON -I qwen_tts_worker.py JOB.json``.

This file stands alone: it imports nothing of refprep, whose environment the package does not share. A job is

    task         "parity" or "synth"
    checkpoint   folder
    device       "cpu" (without it, too) or "cuda"
    dtype        "float32" or "bfloat16"
    threads      of torch
    frames       to generate in each case
    seed         of the draws (synth)
    audio        whether to run encoders and codec, too (parity)
    tensors      safetensors file: wave (samples,), embedding (D,), codes (frames, 16)
    out          path without suffix; OUT.json and OUT.safetensors are written
    texts        [{kind: target | reference | instruct, text, ids}]: ids are those that the other engine feeds
    cases        [{name, whole_text, rows: [{text, voice, ref_text, ref_frames, language, speaker, instruct}]}]

A row's ``voice`` is "xvec", "icl" or null. Where the package makes other ids of a text, it is fed ours, so that all that
follows stays comparable; the answer says which.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import json
import os
import sys
import time
import types
from pathlib import Path
from typing import Any

MISSING = "missing module: "
"""What the last line on stderr starts with when the environment lacks a module."""

UNFIT = "cannot run: "
"""The same, when the machine lacks what the peer needs."""

SAMPLE_RATE_HZ = 24_000
SAMPLES_PER_FRAME = 1920
# What of an encoded chat string is fed; the rest is the frame around it.
FED = {"target": (0, -5), "reference": (3, -2), "instruct": (0, None)}
GREEDY = {"do_sample": False, "subtalker_dosample": False}


class Captured(Exception):  # noqa: N818  # no error: it carries a call's arguments out
    """The talker was about to generate."""


def stand_in(*names: str) -> None:
    """Empty modules for those that are absent: the package imports them for a tokenizer that is never run here."""
    for name in names:
        if importlib.util.find_spec(name) is not None:
            continue
        module = types.ModuleType(name)
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
        module.__path__ = []
        sys.modules[name] = module
        parent, _, leaf = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], leaf, module)


def versions(*names: str) -> dict[str, str]:
    """Of installed distributions."""
    metadata = importlib.import_module("importlib.metadata")
    return {name: metadata.version(name) for name in names}


def peak_rss_bytes() -> int:
    """Most memory that this process held; ``getrusage`` would count its parent's, too."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        usage = importlib.import_module("resource")
        unit = 1 if sys.platform == "darwin" else 1024
        return int(usage.getrusage(usage.RUSAGE_SELF).ru_maxrss) * unit


class Peer:
    """The package with one checkpoint.

    Attributes:
        torch: Its torch.
        model: Its wrapper.
        torch_rss: Memory after its import, before anything else.
        talker: The module that generates codes.
        inputs: Tensors of the job.
    """

    def __init__(self, job: dict[str, Any]) -> None:
        torch: Any = importlib.import_module("torch")
        self.torch_rss = peak_rss_bytes()
        stand_in("sox", "onnxruntime", "torchaudio", "torchaudio.compliance", "torchaudio.compliance.kaldi")
        self.package: Any = importlib.import_module("qwen_tts")
        safetensors: Any = importlib.import_module("safetensors.torch")
        self.torch = torch
        self.save = safetensors.save_file
        torch.set_num_threads(job["threads"])
        self.job = job
        self.inputs: dict[str, Any] = safetensors.load_file(job["tensors"])
        self.dtype = getattr(torch, job["dtype"])
        start = time.perf_counter()
        self.device = job.get("device", "cpu")
        placed = {} if self.device == "cpu" else {"device_map": self.device}
        self.model = self.package.Qwen3TTSModel.from_pretrained(job["checkpoint"], dtype=self.dtype, **placed)
        self.load_s = self.settle() - start
        self.talker = self.model.model.talker
        self.texts = self._align_texts()

    def _align_texts(self) -> list[dict[str, Any]]:
        """Feed the ids of the job; report which texts the package splits otherwise.

        The wrapper may swap the splitting pattern of a folder's tokenizer, which it would not do for the same checkpoint
        by hub name. So a second tokenizer, without that, tells a swap from a fault.
        """
        library: Any = importlib.import_module("transformers")
        plain = library.Qwen2TokenizerFast.from_pretrained(self.job["checkpoint"])
        build = {
            "target": self.model._build_assistant_text,
            "reference": self.model._build_ref_text,
            "instruct": self.model._build_instruct_text,
        }
        fed, report = {}, []
        for text in self.job["texts"]:
            start, end = FED[text["kind"]]
            chat = build[text["kind"]](text["text"])
            loaded = self.model._tokenize_texts([chat])[0][0].tolist()
            bare = list(plain.encode(chat))
            fed[chat] = [*loaded[:start], *text["ids"], *([] if end is None else loaded[end:])]
            report.append(
                {
                    "kind": text["kind"],
                    "text": text["text"],
                    "equal": loaded[start:end] == text["ids"],
                    "equal_without_swap": bare[start:end] == text["ids"],
                }
            )
        tensor = self.torch.tensor
        self.model._tokenize_texts = lambda chats: [tensor([fed[chat]], device=self.device) for chat in chats]
        return report

    def prompt(self, case: dict[str, Any], **settings: Any) -> dict[str, Any]:  # noqa: ANN401  # of the package
        """What the public call of a case hands to the talker."""
        original = self.talker.generate
        box: dict[str, Any] = {}

        def spy(**arguments: Any) -> None:  # noqa: ANN401
            box.update(arguments)
            raise Captured

        self.talker.generate = spy
        try:
            self._call(case, settings)
        except Captured:
            pass
        finally:
            self.talker.generate = original
        return box

    def _call(self, case: dict[str, Any], settings: dict[str, Any]) -> None:
        rows = case["rows"]
        common = {
            "text": [r["text"] for r in rows],
            "language": [r["language"] or "Auto" for r in rows],
            "non_streaming_mode": case["whole_text"],
            **settings,
        }
        instruct = [r["instruct"] or "" for r in rows]
        if rows[0]["voice"]:
            self.model.generate_voice_clone(voice_clone_prompt=[self._voice(r) for r in rows], **common)
        elif rows[0]["speaker"]:
            self.model.generate_custom_voice(
                speaker=[r["speaker"] for r in rows], instruct=instruct, **common
            )
        else:
            self.model.generate_voice_design(instruct=instruct, **common)

    def _voice(self, row: dict[str, Any]) -> Any:  # noqa: ANN401  # the package's class
        in_context = row["voice"] == "icl"
        return self.package.VoiceClonePromptItem(
            ref_code=self.inputs["codes"][: row["ref_frames"]].long() if in_context else None,
            ref_spk_embedding=self.inputs["embedding"].to(self.device, self.dtype),
            x_vector_only_mode=not in_context,
            icl_mode=in_context,
            ref_text=row["ref_text"] if in_context else None,
        )

    def generate(self, inputs: dict[str, Any]) -> Any:  # noqa: ANN401  # the library's result
        """Frames of a prompt, with scores; one token more than frames, since the last one's frame is never written."""
        return self.talker.generate(
            **(inputs | {"max_new_tokens": self.job["frames"] + 1}), output_scores=True, output_logits=True
        )

    def codes_of(self, result: Any) -> Any:  # noqa: ANN401
        """(batch, frames, 16)."""
        written = [states[-1] for states in result.hidden_states if states[-1] is not None]
        return self.torch.stack(written, dim=1)

    def force(self, inputs: dict[str, Any], codes: Any) -> Any:  # noqa: ANN401
        """States after the final norm along given codes, in one pass: (batch, frames + 1, hidden)."""
        torch, talker = self.torch, self.talker
        embeds, trailing = inputs["inputs_embeds"], inputs["trailing_text_hidden"]
        tables = [talker.get_input_embeddings(), *talker.code_predictor.get_input_embeddings()]
        fed = [embeds]
        for at in range(codes.shape[1]):
            parts = [table(codes[:, at, n : n + 1]) for n, table in enumerate(tables)]
            has_text = at < trailing.shape[1]
            text = trailing[:, at : at + 1] if has_text else inputs["tts_pad_embed"]
            fed.append(torch.cat(parts, dim=1).sum(1, keepdim=True) + text)
        ones = torch.ones(codes.shape[:2], dtype=torch.long)
        mask = torch.cat([inputs["attention_mask"], ones], dim=1)
        talker.rope_deltas = None
        positions, _ = talker.get_rope_index(mask)
        states = talker.model(
            inputs_embeds=torch.cat(fed, dim=1),
            attention_mask=mask,
            position_ids=positions,
            use_cache=False,
        ).last_hidden_state
        return states[:, embeds.shape[1] - 1 :]

    def decode(self, codes: Any) -> Any:  # noqa: ANN401
        """(frames, 16) to samples, by the public call."""
        waves, rate_hz = self.model.model.speech_tokenizer.decode([{"audio_codes": codes}])
        assert rate_hz == SAMPLE_RATE_HZ, rate_hz  # noqa: S101
        return self.torch.from_numpy(waves[0])

    def settle(self) -> float:
        """The time, when everything that was launched is done."""
        if self.device != "cpu":
            self.torch.cuda.synchronize()
        return time.perf_counter()


def run_parity(peer: Peer) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tensors and facts of every case; a row's tensors are named ``CASE.ROW.NAME``."""
    tensors: dict[str, Any] = {}
    cases: dict[str, Any] = {}
    if peer.job["audio"] and peer.model.model.tts_model_type == "base":
        wave = peer.inputs["wave"].numpy()
        item = peer.model.create_voice_clone_prompt((wave, SAMPLE_RATE_HZ), ref_text="Hi.")[0]
        tensors["embedding"], tensors["ref_codes"] = item.ref_spk_embedding.float(), item.ref_code
    for case in peer.job["cases"]:
        cases[case["name"]] = run_case(peer, case, tensors)
    return {"cases": cases}, tensors


def run_case(peer: Peer, case: dict[str, Any], tensors: dict[str, Any]) -> dict[str, Any]:
    """Prompt, greedy codes, and the logits along them."""
    torch = peer.torch
    inputs = peer.prompt(case, **GREEDY)
    result = peer.generate(inputs)
    codes = peer.codes_of(result)
    best = torch.stack(result.scores, dim=1).float().topk(2, dim=-1).values
    margins = best[..., 0] - best[..., 1]
    steps = torch.stack(result.logits, dim=1).float()
    own = 0.0
    for number, row in enumerate(case["rows"]):
        ended = (codes[number, :, 0] >= peer.talker.code_predictor.config.vocab_size).nonzero()
        frames = int(ended[0]) if len(ended) else codes.shape[1]
        mine = codes[number, :frames]
        # Each row by itself: in bf16 the padding of a batch alone moves the logits by half a percent.
        alone = row_of(inputs, number)
        hidden = peer.force(alone, mine[None])[0]
        logits = peer.talker.codec_head(hidden).float()
        predictor, _ = peer.talker.forward_sub_talker_finetune(mine, hidden[:-1])
        own = max(own, float((steps[number, : frames + 1] - logits).abs().max()))
        found = {
            "prompt": alone["inputs_embeds"][0],
            "codes": mine,
            "talker": logits,
            "predictor": predictor.reshape(frames, codes.shape[2] - 1, -1),
            "margins": margins[number, :frames],
        }
        if peer.job["audio"]:
            before = peer.inputs["codes"][: row["ref_frames"]].long() if row["voice"] == "icl" else mine[:0]
            found["wave"] = peer.decode(torch.cat([before, mine]))[before.shape[0] * SAMPLES_PER_FRAME :]
        tensors.update({f"{case['name']}.{number}.{name}": tensor for name, tensor in found.items()})
    return {"own_diff": own}


def row_of(inputs: dict[str, Any], number: int) -> dict[str, Any]:
    """One row of a batch without its padding, which is on the left."""
    mask = inputs["attention_mask"][number]
    padded = int((mask == 0).sum())
    return {
        "inputs_embeds": inputs["inputs_embeds"][number : number + 1, padded:],
        "attention_mask": mask[None, padded:],
        "trailing_text_hidden": inputs["trailing_text_hidden"][number : number + 1],
        "tts_pad_embed": inputs["tts_pad_embed"],
    }


def run_synth(peer: Peer) -> tuple[dict[str, Any], dict[str, Any]]:
    """Times of one generation without an end, and of decoding it."""
    torch, frames = peer.torch, peer.job["frames"]
    inputs = peer.prompt(peer.job["cases"][0])
    end = peer.talker.config.codec_eos_token_id
    # A control id that is never chosen is declared the end, and the real end is never chosen either.
    inputs["eos_token_id"] = next(i for i in inputs["suppress_tokens"] if i != end)
    inputs["suppress_tokens"] = [*inputs["suppress_tokens"], end]
    begun: list[float] = []
    ended: list[float] = []

    def note(times: list[float]) -> None:
        # It looks at every token itself: only the prefill is still under way when its call returns.
        times.append(peer.settle() if len(times) < 2 else time.perf_counter())

    hooks = [
        peer.talker.register_forward_pre_hook(lambda *_: note(begun)),
        peer.talker.register_forward_hook(lambda *_: note(ended)),
    ]
    torch.manual_seed(peer.job["seed"])
    result = peer.talker.generate(**(inputs | {"max_new_tokens": frames + 1}))
    for hook in hooks:
        hook.remove()
    codes = peer.codes_of(result)[0]
    start = peer.settle()
    peer.decode(codes)
    codec_s = peer.settle() - start
    facts = {
        "frames": int(codes.shape[0]),
        "prefill_ms": 1e3 * (ended[0] - begun[0]),
        # prefill and the first frame left out: their first calls set things up
        "ms_per_frame": 1e3 * (ended[-1] - ended[1]) / (len(ended) - 2),
        "codec_ms_per_frame": 1e3 * codec_s / codes.shape[0],
    }
    return facts, {}


def main() -> None:
    """Carry out one job."""
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    try:
        peer = Peer(job)
    except ModuleNotFoundError as error:
        sys.stderr.write(f"{MISSING}{error.name}\n")
        raise SystemExit(3) from None
    loaded_rss = peak_rss_bytes()
    with peer.torch.no_grad():
        facts, tensors = {"parity": run_parity, "synth": run_synth}[job["task"]](peer)
    facts |= {
        "versions": versions("qwen-tts", "transformers", "torch"),
        "texts": peer.texts,
        "load_s": peer.load_s,
        "torch_rss_bytes": peer.torch_rss,
        "loaded_rss_bytes": loaded_rss,
        "peak_rss_bytes": peak_rss_bytes(),
    }
    # numpy reads no bf16, and float32 holds every value of it
    plain = {n: (t.float() if t.is_floating_point() else t).contiguous().clone() for n, t in tensors.items()}
    peer.save(plain, f"{job['out']}.safetensors")
    Path(f"{job['out']}.json").write_text(json.dumps(facts), encoding="utf-8")


if __name__ == "__main__":
    main()
