"""Our side of the comparison with another engine, and the peer's through its own interpreter."""

from __future__ import annotations

import gc
import importlib.metadata
import json
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors.numpy import save_file

from refprep import __version__
from refprep.bench.parity import (
    ModeParity,
    code_agreement,
    compare_logits,
    cosine,
    first_difference,
    margins,
    max_abs_diff,
    report,
)
from refprep.bench.parity_cases import (
    ParityCase,
    parity_cases,
    peer_job,
    reference_wave,
    texts_of,
    weights_label,
)
from refprep.bench.peers.process import Answer, run_peer
from refprep.engine.codec import CodecDecoder, load_codec_decoder, load_codec_encoder
from refprep.engine.config import ModelKind, read_config
from refprep.engine.engine import Engine
from refprep.engine.model import DTYPES, TalkerCheckpoint, load_checkpoint
from refprep.engine.prompt import build_prompt
from refprep.engine.speaker import load_speaker_encoder
from refprep.engine.teacher import force_codes
from refprep.engine.tokenizer import load_tokenizer
from refprep.types import CloneMode, SpeechRequest

CPU = torch.device("cpu")


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """What our encoders make of the reference wave."""

    wave: npt.NDArray[np.float32]
    embedding: npt.NDArray[np.float32]
    codes: npt.NDArray[np.int32]


def run_parity(
    folder: Path,
    *,
    peer: str,
    python: Path,
    dtypes: Sequence[str],
    frames: int,
    reference_s: float,
    threads: int,
    timeout_s: float,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Compare our engine with a peer on every mode of a checkpoint, on the CPU.

    Both get the same reference: its embedding and its codes are those of our encoders, which are float32 always; the
    peer's own are compared beside, in float32, as the codec is (its loader casts them along with the talker).

    Args:
        folder: Of the checkpoint.
        peer: Name of the other engine.
        python: Its interpreter.
        dtypes: ``float32``, ``bfloat16`` or both.
        frames: To generate in every mode.
        reference_s: Length of the reference.
        threads: For both.
        timeout_s: For the peer, each dtype.
        tell: Told what is done.

    Returns:
        See ``refprep.bench.parity.report``.

    Raises:
        WeightsMissing: A file of the checkpoint is not there.
        BackendError: It is no checkpoint of this engine, or the peer fails.
    """
    torch.set_num_threads(threads)
    config = read_config(folder)
    tokenizer = load_tokenizer(folder, config)
    reference = None
    if config.kind is ModelKind.BASE:
        tell("our encoders")
        reference = _encode(folder, reference_wave(reference_s))
    cases = parity_cases(
        config,
        tokenizer,
        frames=frames,
        embedding=None if reference is None else reference.embedding,
        codes=None if reference is None else reference.codes,
    )
    rows: list[ModeParity] = []
    versions: Mapping[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="refprep-parity-") as name:
        work = Path(name)
        save_file(_inputs(reference), work / "inputs.safetensors")
        for dtype in dtypes:
            tell(f"{peer}, {dtype}")
            job = {
                "task": "parity",
                "checkpoint": str(folder.resolve()),
                "dtype": dtype,
                "threads": threads,
                "frames": frames,
                "seed": 0,
                "audio": dtype == "float32",
                "tensors": str(work / "inputs.safetensors"),
                **peer_job(cases, tokenizer),
            }
            answer = run_peer(peer, python, job, work, timeout_s=timeout_s)
            versions = answer.facts["versions"]
            tell(f"refprep, {dtype}")
            rows += _compare(folder, cases, answer, dtype, reference)
            gc.collect()
    about = {
        "checkpoint": folder.resolve().name,
        "kind": config.kind.value,
        "size": config.tts_model_size,
        "weights": weights_label(folder),
        "against": peer,
        "versions": {
            "refprep": __version__,
            "torch": importlib.metadata.version("torch"),
            "python": platform.python_version(),
            **{f"peer {package}": version for package, version in versions.items()},
        },
        "threads": threads,
        "reference_s": reference_s if reference is not None else None,
    }
    return report(rows, about)


def _encode(folder: Path, wave: npt.NDArray[np.float32]) -> Reference:
    values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    samples = torch.from_numpy(wave)
    vector = load_speaker_encoder(folder, values.get("speaker_encoder_config", {}), CPU).embed(samples)
    codes = load_codec_encoder(folder, CPU).encode(samples)
    return Reference(wave, vector.numpy(), codes.numpy())


def _inputs(reference: Reference | None) -> dict[str, npt.NDArray[Any]]:
    if reference is None:
        return {"wave": np.zeros(1, np.float32)}
    return {"wave": reference.wave, "embedding": reference.embedding, "codes": reference.codes}


def _compare(
    folder: Path, cases: Sequence[ParityCase], answer: Answer, dtype: str, reference: Reference | None
) -> list[ModeParity]:
    checkpoint = load_checkpoint(folder, device=CPU, dtype=DTYPES[dtype])
    decoder = load_codec_decoder(folder, CPU) if dtype == "float32" else None
    return [_compare_case(case, checkpoint, decoder, answer, dtype, reference) for case in cases]


def _compare_case(
    case: ParityCase,
    checkpoint: TalkerCheckpoint,
    decoder: CodecDecoder | None,
    answer: Answer,
    dtype: str,
    reference: Reference | None,
) -> ModeParity:
    found = [_row(answer, case.name, n) for n in range(len(case.requests))]
    prompts, talker, predictor, codec = [], [], [], []
    for request, theirs in zip(case.requests, found, strict=True):
        with torch.inference_mode():
            prompt = build_prompt(request, checkpoint.config, checkpoint.talker, checkpoint.tokenizer)
        forced = force_codes(checkpoint.talker, prompt, torch.from_numpy(theirs["codes"]))
        prompts.append(max_abs_diff(prompt.embeds.float().numpy(), theirs["prompt"]))
        talker.append((forced.talker.numpy(), theirs["talker"]))
        predictor.append((forced.predictor.numpy(), theirs["predictor"]))
        if decoder is not None:
            codec.append(max_abs_diff(_decode(decoder, request, theirs["codes"]), theirs["wave"]))
    parted = _part(case, checkpoint, [theirs["codes"] for theirs in found])
    texts = {(t["kind"], t["text"]): t for t in answer.facts["texts"]}
    split = [texts[key] for key in texts_of(case)]
    compares_voice = decoder is not None and reference is not None
    in_context = any(_is_in_context(r) for r in case.requests)
    return ModeParity(
        mode=case.name,
        dtype=dtype,
        frames=sum(len(theirs["codes"]) for theirs in found),
        talker=compare_logits(*_joined(talker)),
        predictor=compare_logits(*_joined(predictor)),
        greedy_frames_equal=parted is None,
        parted_at=parted,
        parted_margin=None if parted is None else _margin(found[parted[0]], parted[1], parted[2]),
        prompt_max_abs_diff=max(prompts),
        peer_own_diff=answer.facts["cases"][case.name]["own_diff"],
        token_ids_equal=all(t["equal"] for t in split),
        tokenizer_swapped=not all(t["equal"] for t in split) and all(t["equal_without_swap"] for t in split),
        codec_max_abs_diff=max(codec) if codec else None,
        xvector_cosine=cosine(reference.embedding, answer.tensors["embedding"].astype(np.float32))
        if compares_voice and reference is not None
        else None,
        ref_code_agreement=code_agreement(reference.codes, answer.tensors["ref_codes"].astype(np.int64))
        if compares_voice and reference is not None and in_context
        else None,
    )


def _row(answer: Answer, case: str, number: int) -> dict[str, npt.NDArray[Any]]:
    prefix = f"{case}.{number}."
    return {n.removeprefix(prefix): t for n, t in answer.tensors.items() if n.startswith(prefix)}


def _joined(
    pairs: Sequence[tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]],
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Rows of a batch as one; an empty share of a row is left out."""
    ours, peer = ([p[side].reshape(-1, p[side].shape[-1]) for p in pairs] for side in (0, 1))
    return np.concatenate(ours), np.concatenate(peer)


def _decode(
    decoder: CodecDecoder, request: SpeechRequest, codes: npt.NDArray[np.int64]
) -> npt.NDArray[np.float32]:
    """The peer's codes, after the reference where there is one in context."""
    state = decoder.fresh()
    if request.voice is not None and request.voice.codes is not None and _is_in_context(request):
        decoder.decode(torch.from_numpy(request.voice.codes.copy()), state=state)
    return np.asarray(decoder.decode(torch.from_numpy(codes), state=state).numpy(), np.float32)


def _is_in_context(request: SpeechRequest) -> bool:
    return request.voice is not None and request.voice.mode is CloneMode.ICL


def _part(
    case: ParityCase, checkpoint: TalkerCheckpoint, known: Sequence[npt.NDArray[np.int64]]
) -> tuple[int, int, int] | None:
    """(row, frame, codebook) where our greedy codes part from the peer's; rows run apart and, in a batch, together."""
    ways = (False,) if len(case.requests) == 1 else (False, True)
    for together in ways:
        engine = Engine(checkpoint, max_batch=len(case.requests), rows_together=together)
        for row, (ours, theirs) in enumerate(zip(engine.generate(case.requests), known, strict=True)):
            at = first_difference(ours.codes, theirs)
            if at is not None:
                return row, *at
    return None


def _margin(theirs: Mapping[str, npt.NDArray[Any]], frame: int, codebook: int) -> float | None:
    """How far the peer's choice led over its second."""
    if frame >= len(theirs["codes"]):
        return None
    if codebook == 0:
        return float(theirs["margins"][frame])
    return float(margins(theirs["predictor"][frame, codebook - 1]))
