"""What engines call a language."""

from __future__ import annotations

from refprep.text.words import primary_language

# Qwen3-TTS, and the request fields of vLLM-Omni and SGLang-Omni, which took the list over.
_QWEN_NAMES = {
    "zh": "Chinese",
    "cmn": "Chinese",
    "en": "English",
    "ja": "Japanese",
    "ko": "Korean",
    "de": "German",
    "fr": "French",
    "ru": "Russian",
    "pt": "Portuguese",
    "es": "Spanish",
    "it": "Italian",
}
# XTTS v2: `languages` of its config.json.
_XTTS_CODES = frozenset("en es fr de it pt pl tr ru nl cs ar hu ko ja hi".split())
# GPT-SoVITS v2 and later: `languages` of TTS_Config. "auto" tells them apart by itself.
_GPT_SOVITS_CODES = frozenset({"zh", "en", "ja", "ko", "yue"})


def qwen_language(language: str) -> str:
    """``English`` for ``en-GB``; ``Auto`` for a language that is not listed, or none."""
    return _QWEN_NAMES.get(primary_language(language), "Auto")


def xtts_language(language: str) -> str:
    """``zh-cn`` for ``zh-TW``; empty for a language that XTTS does not speak, or none."""
    code = primary_language(language)
    if code in ("zh", "cmn"):
        return "zh-cn"
    return code if code in _XTTS_CODES else ""


def gpt_sovits_language(language: str) -> str:
    """``yue`` for ``yue-HK`` and ``zh-yue``; ``auto`` for a language that GPT-SoVITS does not read, or none."""
    code = primary_language(language)
    if code in ("zh", "cmn"):
        return "yue" if "yue" in language.lower() else "zh"
    return code if code in _GPT_SOVITS_CODES else "auto"
