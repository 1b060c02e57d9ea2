"""RP0 and RP2: one value that fires, one that stays quiet, for each rule."""

from __future__ import annotations

import importlib
import math
from dataclasses import replace

import pytest

from refprep.linter.rule import Rule, Severity
from refprep.types import AudioSource, Downmix, QualityReport, SampleFormat, SnrMethod, Span

SECTIONS = (
    "What it checks",
    "Why it matters",
    "Example",
    "How to fix",
    "Fix safety",
    "Threshold and its source",
)

SOURCE = AudioSource(
    path="clips/ana_03.wav",
    file_sha256="0" * 64,
    container="wav",
    codec="pcm_s16le",
    sample_format=SampleFormat.PCM_16,
    num_channels=2,
    declared_duration_s=12.0,
    decoded_duration_s=12.0,
    downmix=Downmix.IDENTICAL,
    channel_peaks=(0.5, 0.5),
    channel_correlation=1.0,
)
REPORT = QualityReport(
    loudness_lufs=-23.0,
    speech_level_dbfs=-23.0,
    true_peak_dbtp=-3.0,
    clipped_ratio=0.0,
    snr_db=40.0,
    bandwidth_hz=8000.0,
    sample_rate_hz=16_000,
    dc_offset=0.0001,
    leading_silence_s=0.3,
    trailing_silence_s=0.3,
    longest_inner_silence_s=0.6,
    longest_inner_silence=Span(4.0, 4.6),
    tail_level_dbfs=-63.0,
    pace_per_s=4.5,
    duration_s=12.0,
    speech_s=10.0,
    noise_level_dbfs=-63.0,
    snr_method=SnrMethod.PAUSES,
)
SILENT = replace(
    REPORT, speech_s=0.0, speech_level_dbfs=-math.inf, leading_silence_s=12.0, trailing_silence_s=0.0
)

# code: (value that fires, words of the message, words of the remedy)
FIRES = {
    "RP002": (
        replace(SOURCE, container="mp3", codec="mp3", extension_lies=True),
        "the name says .wav, the content is mp3",
        "rename it to ana_03.mp3",
    ),
    "RP003": (replace(SOURCE, declared_duration_s=40.0), "claims 40.00 s, 12.00 s decode", "export it again"),
    "RP004": (
        replace(SOURCE, downmix=Downmix.LIVE_CHANNEL, channel_peaks=(0.5, 0.0)),
        "channel 2 of 2 is silent; channel 1 is kept",
        "mono",
    ),
    "RP005": (
        replace(SOURCE, downmix=Downmix.INVERTED, channel_correlation=-1.0),
        "negative of the first (correlation -1.000)",
        "mono",
    ),
    "RP006": (
        replace(SOURCE, downmix=Downmix.MEAN, channel_correlation=0.01),
        "(correlation 0.01)",
        "another speaker",
    ),
    "RP007": (replace(SOURCE, codec="pcm_s32le", is_narrowed=True), "pcm_s32le", "24-bit"),
    "RP201": (replace(REPORT, clipped_ratio=0.0089), "0.89 % of the samples", "less gain"),
    "RP202": (
        replace(REPORT, snr_db=4.1),
        "only 4.1 dB above the noise (measured in the pauses",
        "quieter clip",
    ),
    "RP203": (replace(REPORT, speech_level_dbfs=-38.6, true_peak_dbtp=-22.0), "-38.6 dBFS", "+15.6 dB"),
    "RP204": (
        replace(REPORT, bandwidth_hz=4000.0, sample_rate_hz=48_000),
        "4000 Hz in a 48 kHz file",
        "original",
    ),
    "RP205": (replace(REPORT, leading_silence_s=4.25), "4.25 s of silence before", "trim 4.05 s"),
    "RP206": (replace(REPORT, longest_inner_silence_s=3.34), "3.34 s inside", "refprep split"),
    "RP207": (replace(REPORT, pace_per_s=9.4), "9.4 syllables (estimated)", "text fits"),
    "RP208": (replace(REPORT, true_peak_dbtp=1.4), "+1.4 dBTP", "-2.4 dB"),
    "RP209": (replace(REPORT, tail_level_dbfs=-26.4), "3.4 dB below the speech", "0.2 s more"),
    "RP210": (replace(REPORT, dc_offset=0.2), "+0.200", "subtract +0.2000"),
    "RP211": (SILENT, "no speech was found (-23.0 LUFS", "right file"),
}


def rule_of(code: str) -> Rule:
    return importlib.import_module(f"refprep.linter.rules.{code.lower()}").RULE


@pytest.mark.parametrize("code", FIRES)
def test_fires(code):
    value, message, remedy = FIRES[code]
    hits = list(rule_of(code).check(value))
    assert len(hits) == 1
    assert message in hits[0].message
    assert remedy in hits[0].remedy
    assert hits[0].evidence


@pytest.mark.parametrize("code", FIRES)
def test_stays_quiet(code):
    rule = rule_of(code)
    assert list(rule.check(SOURCE if rule.noun is AudioSource else REPORT)) == []


@pytest.mark.parametrize("code", FIRES)
def test_says_nothing_of_sound_where_nobody_speaks(code):
    rule = rule_of(code)
    if rule.noun is QualityReport and code != "RP211":
        silent = replace(
            SILENT, longest_inner_silence_s=0.0, longest_inner_silence=None, pace_per_s=None, snr_db=None
        )
        assert list(rule.check(replace(silent, bandwidth_hz=0.0, tail_level_dbfs=-20.0))) == []


@pytest.mark.parametrize("code", FIRES)
def test_is_documented(code):
    rule = rule_of(code)
    assert rule.code == code
    assert rule.page.startswith(f"{code} {rule.name}: ")
    headings = [line[3:] for line in rule.page.splitlines() if line.startswith("## ")]
    assert tuple(headings) == SECTIONS
    assert rule.noun in (AudioSource, QualityReport)


@pytest.mark.parametrize(
    ("code", "severity", "fix"),
    [
        ("RP201", "warning", "none"),
        ("RP202", "warning", "none"),
        ("RP205", "warning", "safe"),
        ("RP211", "error", "none"),
    ],
)
def test_severity_and_fix(code, severity, fix):
    assert (rule_of(code).severity, rule_of(code).fix) == (Severity(severity), fix)


def test_both_edges_are_reported_with_their_place():
    hits = list(rule_of("RP205").check(replace(REPORT, leading_silence_s=2.0, trailing_silence_s=3.0)))
    assert [h.span for h in hits] == [Span(0.0, 2.0), Span(9.0, 12.0)]


def test_the_gain_stops_at_the_peak():
    (hit,) = rule_of("RP203").check(replace(REPORT, speech_level_dbfs=-38.0, true_peak_dbtp=-4.0))
    assert "+3.0 dB (more would lift the peak over -1 dBTP)" in hit.remedy


def test_an_estimate_is_called_one():
    (hit,) = rule_of("RP202").check(replace(REPORT, snr_db=5.0, snr_method=SnrMethod.QUIET_FRAMES))
    assert "an estimate" in hit.message


@pytest.mark.parametrize("pace", [1.5, 8.5])
def test_slow_and_fast(pace):
    (hit,) = rule_of("RP207").check(replace(REPORT, pace_per_s=pace))
    assert ("slow" in hit.message) == (pace < 2)
    assert not list(rule_of("RP207").check(replace(REPORT, pace_per_s=pace, speech_s=1.0)))


def test_pace_in_characters_has_its_own_range():
    assert not list(rule_of("RP207").check(replace(REPORT, pace_per_s=9.0, is_pace_in_characters=True)))


def test_ordinary_stereo_is_no_finding():
    assert not list(rule_of("RP006").check(replace(SOURCE, downmix=Downmix.MEAN, channel_correlation=0.99)))


def test_a_header_that_claims_nothing_is_no_lie():
    assert not list(rule_of("RP003").check(replace(SOURCE, declared_duration_s=None)))


def test_a_silent_file_is_called_silent():
    (hit,) = rule_of("RP211").check(replace(SILENT, loudness_lufs=-math.inf))
    assert "the file is silent" in hit.message


def test_digital_silence_at_the_end_is_no_loud_tail():
    assert not list(rule_of("RP209").check(replace(REPORT, tail_level_dbfs=-math.inf)))
