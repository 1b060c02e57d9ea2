"""`refprep split`, `lint` and `transcribe` on real speech."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from process import refprep

from refprep.pipeline.decode import decode_file

pytestmark = [pytest.mark.weights, pytest.mark.speech]
SENTENCE = "In short, the period was so far like the present period that some of its noisiest authorities insisted on its being received for good or for evil in the superlative degree of comparison only."


def test_split_cuts_at_pauses_and_keeps_the_samples(
    pieces: Path, rows: list[dict[str, object]], two_cities: Path
) -> None:
    whole = decode_file(two_cities / "two_cities.wav")
    assert len(rows) >= 8
    for row in rows:
        clip = decode_file(pieces / str(row["audio"]))
        start = round(float(str(row["start_s"])) * whole.sample_rate_hz)
        assert np.array_equal(clip.samples, whole.samples[start : start + clip.num_samples])
        edges = np.concatenate([clip.samples[:480], clip.samples[-480:]])
        assert np.sqrt(np.mean(edges**2)) < 0.15 * np.sqrt(np.mean(clip.samples**2)), "cut inside a word"
        assert (pieces / str(row["audio"])).with_suffix(".txt").read_text(encoding="utf-8").strip() == row[
            "text"
        ]
    text = " ".join(str(r["text"]) for r in rows)
    assert text.startswith("It was the best of times")
    assert "comparison only" in text


def test_full_texts_pass(pieces: Path) -> None:
    done = refprep("lint", pieces, "--select", "RP1", "--format", "json")
    document = json.loads(done.out)
    assert done.code == 0, done.out
    assert document["summary"]["errors"] == 0
    assert all(f["verdict"] == "pass" and f["coverage"] > 0.9 for f in document["files"])


def test_a_text_without_its_last_third_fails_where_the_words_end(
    pieces: Path, rows: list[dict[str, object]]
) -> None:
    row = max(rows, key=lambda r: float(str(r["duration_s"])))
    words = str(row["text"]).split()
    kept = words[: len(words) * 2 // 3]
    audio = pieces / str(row["audio"])
    heard = json.loads(refprep("transcribe", audio, "--format", "json").out)
    words_end_s = heard["words"][len(kept) - 1]["end_s"]
    done = refprep("lint", audio, "--text", " ".join(kept), "--format", "json")
    assert done.code == 1
    (finding,) = [f for f in json.loads(done.out)["files"][0]["findings"] if f["code"] == "RP101"]
    assert abs(finding["start_s"] - words_end_s) <= 0.3
    assert " ".join(words[len(kept) :]).rstrip(".") in finding["suggested_text"]
    assert 0.4 < finding["evidence"]["coverage"] < 0.9


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda w: w[6:], "RP102"),
        (lambda w: [*w[:8], *w[15:]], "RP103"),
        (lambda w: [*w, "and", "that", "was", "all", "she", "said"], "RP104"),
        (
            lambda w: "he should notice the position of the body and the condition of the lips".split(),
            "RP105",
        ),
        (lambda w: [x.replace("noisiest", "purple") for x in w], "RP106"),
        (lambda w: [], "RP101"),
    ],
)
def test_each_fault_has_its_rule(pieces: Path, rows: list[dict[str, object]], change, code: str) -> None:
    row = next(r for r in rows if "noisiest" in str(r["text"]))
    text = " ".join(change(SENTENCE.split()))
    done = refprep(
        "lint",
        pieces / str(row["audio"]),
        "--text",
        text,
        "--select",
        "RP1",
        "--format",
        "jsonl",
        "--fail-on",
        "warning",
    )
    found = [f["code"] for f in json.loads(done.out)["findings"]]
    assert found == [code]
    assert done.code == 1


def test_transcribe_writes_text_json_and_subtitles(
    pieces: Path, rows: list[dict[str, object]], tmp_path: Path
) -> None:
    audio = pieces / str(rows[0]["audio"])
    text = refprep("transcribe", audio).out.strip()
    assert text.startswith("It was the best of times")
    for kind in ("json", "srt"):
        assert refprep("transcribe", audio, "--format", kind, "-o", tmp_path).code == 0
    document = json.loads((tmp_path / audio.with_suffix(".json").name).read_text(encoding="utf-8"))
    assert document["language"] == "en"
    assert document["language_probability"] > 0.5
    starts = [w["start_s"] for w in document["words"]]
    assert starts == sorted(starts)
    assert document["words"][0]["text"] == "It"
    assert "00:00:0" in (tmp_path / audio.with_suffix(".srt").name).read_text(encoding="utf-8")


def test_one_unreadable_file_among_many_is_a_finding(
    pieces: Path, rows: list[dict[str, object]], tmp_path: Path
) -> None:
    good = pieces / str(rows[1]["audio"])
    (tmp_path / "broken.wav").write_bytes(b"RIFF\x24\x00\x00\x00WAVEfmt ")
    manifest = tmp_path / "m.jsonl"
    lines = [{"audio": str(good), "text": rows[1]["text"]}, {"audio": "broken.wav", "text": "hello"}]
    manifest.write_text("".join(json.dumps(x) + "\n" for x in lines), encoding="utf-8")
    done = refprep("lint", manifest, "--select", "RP0,RP1", "--format", "json")
    files = json.loads(done.out)["files"]
    assert done.code == 1
    assert [len(f["findings"]) > 0 for f in files] == [False, True]
    assert files[1]["findings"][0]["code"] == "RP001"


def test_the_speech_pack_lints_as_labelled(speech_pack: Path) -> None:
    """Three cases of the issue's kind on a real corpus: full, cut, and another clip's text."""
    audio = speech_pack / "audio/ljspeech/linda_johnson/LJ001-0001.wav"
    full = "Printing, in the only sense with which we are at present concerned, differs from most if not from all the arts and crafts represented in the Exhibition"
    words = full.split()
    assert refprep("lint", audio, "--text", full).code == 0
    cut = refprep("lint", audio, "--text", " ".join(words[: len(words) * 2 // 3]), "--format", "json")
    finding = json.loads(cut.out)["files"][0]["findings"][0]
    assert (cut.code, finding["code"]) == (1, "RP101")
    assert "arts and crafts represented in the exhibition" in finding["suggested_text"].lower()
