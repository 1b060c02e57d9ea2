"""The nouns that flow through refprep.

Every noun is frozen. Arrays are read-only, and a noun that holds one compares by identity (``eq=False``):
the generated ``==`` would raise on an array. Integers are stored, seconds derived.
"""

from refprep.types.arrays import Matrix, Samples, Vector, freeze
from refprep.types.audio import AudioSource, Clip, Downmix, SampleFormat
from refprep.types.backend import (
    BACKEND_MODES,
    MOSS_TTS,
    QWEN3_TTS,
    BackendProfile,
    CoverageRule,
    ModeProfile,
    SynthesisSettings,
    TextNeed,
    gates_text,
)
from refprep.types.codes import CacheKey, CodeCacheEntry, CodeMatrix, CodesCase, DamagedCodes, EncoderFacts
from refprep.types.consent import ConsentCase
from refprep.types.identity import Admission, ClipVoices, Identity, IdentityCase, Voiceprint
from refprep.types.reference import JoinedClip, JoinedSilence, Reference
from refprep.types.score import (
    LeakedWords,
    OutputEdge,
    OutputScore,
    OutputWords,
    TextScore,
    VoiceWindow,
    WordsFault,
)
from refprep.types.signal import ClipEdge, ClipEdges, QualityReport, SnrMethod
from refprep.types.span import Span
from refprep.types.synthesis import (
    GREEDY,
    CloneMode,
    GeneratedCodes,
    MossSampling,
    Sampling,
    SamplingParams,
    SpeechRequest,
    StopReason,
    StreamEnd,
    SynthesisResult,
    VoicePrompt,
)
from refprep.types.text import (
    Alignment,
    Coverage,
    FaultKind,
    LanguageCase,
    Origin,
    TextCheck,
    TextFault,
    Transcript,
    Verdict,
    Word,
)

__all__ = [
    "BACKEND_MODES",
    "GREEDY",
    "MOSS_TTS",
    "QWEN3_TTS",
    "Admission",
    "Alignment",
    "AudioSource",
    "BackendProfile",
    "CacheKey",
    "Clip",
    "ClipEdge",
    "ClipEdges",
    "ClipVoices",
    "CloneMode",
    "CodeCacheEntry",
    "CodeMatrix",
    "CodesCase",
    "ConsentCase",
    "Coverage",
    "CoverageRule",
    "DamagedCodes",
    "Downmix",
    "EncoderFacts",
    "FaultKind",
    "GeneratedCodes",
    "Identity",
    "IdentityCase",
    "JoinedClip",
    "JoinedSilence",
    "LanguageCase",
    "LeakedWords",
    "Matrix",
    "ModeProfile",
    "MossSampling",
    "Origin",
    "OutputEdge",
    "OutputScore",
    "OutputWords",
    "QualityReport",
    "Reference",
    "SampleFormat",
    "Samples",
    "Sampling",
    "SamplingParams",
    "SnrMethod",
    "Span",
    "SpeechRequest",
    "StopReason",
    "StreamEnd",
    "SynthesisResult",
    "SynthesisSettings",
    "TextCheck",
    "TextFault",
    "TextNeed",
    "TextScore",
    "Transcript",
    "Vector",
    "Verdict",
    "VoicePrompt",
    "VoiceWindow",
    "Voiceprint",
    "Word",
    "WordsFault",
    "freeze",
    "gates_text",
]
