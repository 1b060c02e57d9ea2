"""The prompts whose results were recorded from the published code, as requests of ours."""

from __future__ import annotations

import os
from pathlib import Path

from safetensors.torch import load_file

from refprep.types import GREEDY, CloneMode, SpeechRequest, VoicePrompt

RECORDED = Path(__file__).parent / "golden" / "qwen3_tts"
CHECKPOINTS = ("base-0.6b", "base-1.7b", "custom-1.7b", "design-1.7b")

SHORT = "Hi."
LONG = "Hello world, the iPhone costs 1234 dollars and it's said don't panic; naïve café 你好。"
REFERENCE = "The quick brown fox, and the reading of it."
FRAMES = 6


def recorded(name):
    """Tensors recorded for a checkpoint: all of them where REFPREP_PARITY names the folder, else those kept here."""
    folder = os.environ.get("REFPREP_PARITY")
    if folder:
        return load_file(Path(folder) / "golden" / f"{name}.golden.safetensors")
    return load_file(RECORDED / f"talker.{name}.safetensors")


def request(**parts):
    return SpeechRequest(**({"sampling": GREEDY, "max_frames": FRAMES} | parts))


def base_requests(truth):
    vector = truth["speaker.embedding"].float().numpy()
    xvec = VoicePrompt(CloneMode.X_VECTOR, vector)
    icl = VoicePrompt(CloneMode.ICL, vector, REFERENCE, truth["ref_codes"].numpy().astype("int32"))
    short = VoicePrompt(CloneMode.ICL, vector, "Hi.", truth["shorttext.ref_codes"].numpy().astype("int32"))
    return {
        "xvec.stream.auto": request(text=LONG, voice=xvec),
        "xvec.stream.english": request(text=LONG, language="English", voice=xvec),
        "xvec.stream.short": request(text=SHORT, language="English", voice=xvec),
        "xvec.full.english": request(text=LONG, language="English", voice=xvec, whole_text=True),
        "icl.stream.longtext": request(text=LONG, language="English", voice=icl),
        "icl.full.auto": request(text=LONG, voice=icl, whole_text=True),
        "icl.stream.shorttext": request(text=SHORT, language="English", voice=short),
        "batch.xvec": (
            request(text=SHORT, language="English", voice=xvec),
            request(text=LONG, language="Auto", voice=xvec),
        ),
        "batch.icl": (
            request(text=SHORT, language="Chinese", voice=icl),
            request(text=LONG, language="Chinese", voice=icl),
        ),
    }


def custom_requests():
    found = {}
    for speaker, language, instruct, whole in (
        ("Ryan", "English", None, True),
        ("Ryan", "English", "Speak slowly.", True),
        ("ryan", None, None, False),
        ("Eric", None, None, True),
        ("Dylan", "Chinese", None, False),
        ("Dylan", "English", "Speak slowly.", False),
    ):
        name = ".".join(
            (
                speaker.lower(),
                (language or "auto").lower(),
                "instruct" if instruct else "plain",
                "full" if whole else "stream",
            )
        )
        found[name] = request(
            text=LONG, speaker=speaker, language=language, instruct=instruct, whole_text=whole
        )
    found["batch.mixed"] = (
        request(text=SHORT, speaker="Ryan", language="English", instruct="Speak slowly.", whole_text=True),
        request(text=LONG, speaker="Eric", language="Auto", instruct="", whole_text=True),
    )
    return found


def design_requests():
    return {
        "instruct.auto.full": request(text=LONG, instruct="Speak slowly.", whole_text=True),
        "instruct.german.stream": request(
            text=LONG, instruct="Speak slowly.", language="German", whole_text=False
        ),
        "plain.english.full": request(text=SHORT, instruct="", language="English", whole_text=True),
    }


def requests(name, truth):
    """Case name -> request, or a tuple of them for a batch."""
    if name.startswith("base"):
        return base_requests(truth)
    return custom_requests() if name.startswith("custom") else design_requests()
