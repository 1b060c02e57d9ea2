"""Requests of every kind for tiny checkpoints, and how results are compared."""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from engine_kit import tiny_checkpoint

from refprep.engine.model import load_checkpoint
from refprep.types import GREEDY, CloneMode, GeneratedCodes, SamplingParams, SpeechRequest, VoicePrompt


@cache
def loaded(name):
    return load_checkpoint(tiny_checkpoint(name), device=torch.device("cpu"), dtype=torch.float32)


def voice(name, mode, frames=20):
    width = loaded(name).config.talker_config.hidden_size
    vector = np.random.default_rng(1).standard_normal(width).astype(np.float32)
    if mode is CloneMode.X_VECTOR:
        return VoicePrompt(mode, vector)
    codes = np.random.default_rng(frames).integers(0, 2048, (frames, 16)).astype(np.int32)
    return VoicePrompt(mode, vector, "The words of the reference.", codes)


def eight_requests(name):
    icl, xvec = voice(name, CloneMode.ICL), voice(name, CloneMode.X_VECTOR)
    long = voice(name, CloneMode.ICL, frames=61)
    hot = SamplingParams(temperature=1.4, top_k=0, top_p=0.9, subtalker_top_k=10)
    return [
        SpeechRequest("Hi.", voice=xvec, seed=1, max_frames=9),
        SpeechRequest("A longer text, with 12 numbers.", voice=icl, seed=2, max_frames=21),
        SpeechRequest("Guten Tag", voice=xvec, language="German", whole_text=True, seed=3, max_frames=15),
        SpeechRequest("Hello world", voice=long, sampling=hot, seed=2**64 - 1, max_frames=18),
        SpeechRequest("Hello world", voice=icl, whole_text=True, sampling=GREEDY, max_frames=12),
        SpeechRequest("一二三四五", voice=xvec, language="chinese", seed=6, max_frames=1),
        SpeechRequest("The quick brown fox " * 4, voice=icl, sampling=hot, seed=7, max_frames=25),
        SpeechRequest("Hi.", voice=xvec, seed=1, max_frames=9),
    ]


def same(one: GeneratedCodes, other: GeneratedCodes) -> bool:
    return (
        np.array_equal(one.codes, other.codes)
        and one.stop is other.stop
        and np.array_equal(one.eos_ranks, other.eos_ranks)
    )
