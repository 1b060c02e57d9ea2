"""`refprep lint --fix`, `--unsafe-fixes` and `--diff` on real speech: what they write lints clean."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from process import ROOT, refprep

from refprep.pipeline.decode import decode_file

pytestmark = [pytest.mark.weights, pytest.mark.speech]
SAFE = {
    "tail": "RP101",
    "head": "RP102",
    "middle": "RP103",
    "extra": "RP104",
    "silence": "RP205",
    "empty": "RP101",
}
UNSAFE = {"other": "RP105", "word": "RP106", "none": "RP108"}
OTHER_TEXT = "he should notice the position of the body and the condition of the lips"


@pytest.fixture(scope="module")
def sentence(rows: list[dict[str, object]]) -> dict[str, object]:
    """The piece that the faults are made of."""
    return next(r for r in rows if "noisiest" in str(r["text"]))


@pytest.fixture(scope="module")
def dataset(pieces: Path, sentence: dict[str, object], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a clip for every fault, and a manifest of them with language, speaker and more."""
    folder = tmp_path_factory.mktemp("faults") / "data"
    folder.mkdir()
    samples, rate_hz = soundfile.read(pieces / str(sentence["audio"]), dtype="int16")
    words = str(sentence["text"]).split()
    hiss = np.random.default_rng(0).integers(-4, 5, 3 * rate_hz).astype(np.int16)
    padded = np.concatenate([hiss[: 2 * rate_hz], samples, hiss])
    texts = {
        "tail": words[: len(words) * 2 // 3],
        "head": words[6:],
        "middle": [*words[:8], *words[15:]],
        "extra": [*words, "and", "that", "was", "all", "she", "said"],
        "silence": words,
        "empty": [],
        "other": OTHER_TEXT.split(),
        "word": [w.replace("noisiest", "purple") for w in words],
        "none": None,
        "several": [*words[5:], "thank", "you", "for", "listening", "to", "me"],
        "good": words,
    }
    lines = []
    for name, text in texts.items():
        soundfile.write(
            folder / f"{name}.wav", padded if name in ("silence", "several") else samples, rate_hz
        )
        row: dict[str, object] = {
            "audio": f"{name}.wav",
            "language": "en",
            "speaker": "moonshine/en/m/two_cities",
        }
        lines.append(
            json.dumps(row | {"licence": "CC0"} | ({"text": " ".join(text)} if text is not None else {}))
        )
    (folder / "rows.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def hashes(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}


def manifest_of(folder: Path) -> dict[str, dict[str, object]]:
    rows = [json.loads(x) for x in (folder / "utterances.jsonl").read_text(encoding="utf-8").splitlines()]
    return {Path(str(r["source"])).stem: r for r in rows}


def assert_clean(folder: Path) -> None:
    """Both ways to lint what was written: exit 0, and none of the codes that were fixed."""
    for path in (folder, folder / "utterances.jsonl"):
        done = refprep("lint", path, "--format", "json")
        document = json.loads(done.out)
        assert done.code == 0, done.out
        fixed = manifest_of(folder)
        for file in document["files"]:
            row = next(r for r in fixed.values() if r["audio"] == Path(file["path"]).name)
            assert not {f["code"] for f in file["findings"]} & set(row["fixed"])


def test_safe_fixes_keep_all_speech_and_lint_clean(
    dataset: Path, sentence: dict[str, object], tmp_path: Path
) -> None:
    before = hashes(dataset)
    done = refprep("lint", dataset / "rows.jsonl", "--fix", "--fix-to", tmp_path / "mended")
    assert done.code == 1, "another text is left"
    assert hashes(dataset) == before
    fixed = manifest_of(tmp_path / "mended")
    assert set(fixed) == {*SAFE, "several"}
    for name, code in SAFE.items():
        assert fixed[name]["fixed"] == [code]
    assert fixed["several"]["fixed"] == ["RP102", "RP104", "RP205"]
    spoken = [w.strip(".,").lower() for w in str(sentence["text"]).split()]
    for name, row in fixed.items():
        copy, whole = (
            decode_file(p) for p in (tmp_path / "mended" / str(row["audio"]), dataset / f"{name}.wav")
        )
        start = round(float(str(row.get("cut_start_s", 0.0))) * whole.sample_rate_hz)
        assert np.array_equal(copy.samples, whole.samples[start : start + copy.num_samples])
        assert [w.strip(".,").lower() for w in str(row["text"]).split()] == spoken
        assert (row["language"], row["speaker"], row["licence"]) == ("en", "moonshine/en/m/two_cities", "CC0")
        assert row["source"] == str(dataset / f"{name}.wav")
        assert row["source_sha256"] == before[f"{name}.wav"]
        if name in ("silence", "several"):
            assert float(str(row["cut_start_s"])) > 1.5
            assert float(str(row["cut_end_s"])) > 2.5
        else:
            assert copy.num_samples == whole.num_samples
    assert f"fixed in {tmp_path / 'mended' / 'tail.wav'}" in done.out
    assert "7 pairs corrected in" in done.err
    assert "3 findings wait for --unsafe-fixes." in done.err
    assert_clean(tmp_path / "mended")


def test_unsafe_fixes_do_the_rest(dataset: Path, tmp_path: Path) -> None:
    before = hashes(dataset)
    done = refprep(
        "lint", dataset / "rows.jsonl", "--unsafe-fixes", "--fix-to", tmp_path / "mended", "--format", "json"
    )
    assert done.code == 0, done.err
    assert hashes(dataset) == before
    fixed = manifest_of(tmp_path / "mended")
    assert set(fixed) == {*SAFE, *UNSAFE, "several"}
    for name, code in UNSAFE.items():
        assert fixed[name]["fixed"] == [code]
        assert "noisiest authorities" in str(fixed[name]["text"])
    files = {Path(f["path"]).stem: f for f in json.loads(done.out)["files"]}
    assert files["other"]["fixed"] == ["RP105"]
    assert files["other"]["fixed_to"] == str(tmp_path / "mended" / "other.wav")
    assert "fixed_to" not in files["good"]
    assert json.loads(done.out)["summary"]["errors"] == 0
    assert_clean(tmp_path / "mended")


def test_speech_is_only_cut_when_asked_at_a_pause_with_its_words(pieces: Path, rows, tmp_path: Path) -> None:
    """A clip that ends within a word: two sentences, the second broken off."""
    first, second = rows[0], max(rows, key=lambda r: float(str(r["duration_s"])))
    parts = [soundfile.read(pieces / str(r["audio"]), dtype="int16") for r in (first, second)]
    rate_hz = parts[0][1]
    whole = np.concatenate([parts[0][0], parts[1][0]])
    second_words = json.loads(refprep("transcribe", pieces / str(second["audio"]), "--format", "json").out)[
        "words"
    ]
    middles = [len(parts[0][0]) + round((w["start_s"] + w["end_s"]) / 2 * rate_hz) for w in second_words[:11]]
    # Within the word whose middle is the loudest: a word in a pause of its own would be no broken one.
    count = max(
        range(5, 11), key=lambda k: float(np.mean((whole[middles[k] - 1000 : middles[k]] / 2**15) ** 2))
    )
    soundfile.write(tmp_path / "broken.wav", whole[: middles[count]], rate_hz)
    heard = " ".join([str(first["text"]), *(w["text"] for w in second_words[:count])])
    (tmp_path / "broken.txt").write_text(heard, encoding="utf-8")
    safe = refprep("lint", "broken.wav", "--fix", "--select", "RP1,RP209", cwd=tmp_path)
    assert "RP209" in safe.out
    assert not (tmp_path / "fixed").exists()
    done = refprep("lint", "broken.wav", "--unsafe-fixes", "--select", "RP1,RP209", cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    copy, broken = decode_file(tmp_path / "fixed/broken.wav"), decode_file(tmp_path / "broken.wav")
    assert 1.0 < copy.duration_s < broken.duration_s
    assert np.array_equal(copy.samples, broken.samples[: copy.num_samples])
    tail = copy.samples[-round(0.05 * rate_hz) :]
    assert np.sqrt(np.mean(tail**2)) < 0.3 * np.sqrt(np.mean(copy.samples**2))
    left = (tmp_path / "fixed/broken.txt").read_text(encoding="utf-8").split()
    assert heard.split()[: len(left)] == left
    assert len(left) < len(heard.split())
    assert refprep("lint", "fixed", "--select", "RP1,RP209", cwd=tmp_path).out == ""


def test_a_diff_shows_it_and_writes_nothing(dataset: Path, tmp_path: Path) -> None:
    before, parent = hashes(dataset), sorted(dataset.parent.iterdir())
    done = refprep("lint", "data/rows.jsonl", "--diff", cwd=dataset.parent)
    assert done.code == 1
    assert (hashes(dataset), sorted(dataset.parent.iterdir())) == (before, parent)
    lines = done.out.splitlines()
    assert [x for x in lines if x.startswith("+++ ")] == [
        f"+++ {Path('fixed') / name}.txt" for name in ("tail", "head", "middle", "extra", "empty", "several")
    ]
    assert "--- data/rows.jsonl:1" in lines
    assert any(x.startswith("-and that was all she said") for x in lines)
    assert sum(x.startswith(("data/silence.wav: 0.00-", "data/several.wav: 0.00-")) for x in lines) == 2
    assert "RP1" not in done.out
    assert "7 pairs would be corrected. 3 findings wait for --unsafe-fixes." in done.err
    clean = refprep("lint", "data/good.wav", "--text", "x", "--select", "RP205", "--diff", cwd=dataset.parent)
    assert (clean.code, clean.out) == (0, "")
    assert refprep("lint", "data/good.wav", "--diff", "--report", "r.html", cwd=dataset.parent).code == 2


def test_a_folder_that_is_not_its_own_is_refused_before_any_work(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "take1.wav").write_bytes(b"dear to me")
    for folder, message in (
        (tmp_path / "mine", "did not write"),
        (dataset, "being checked"),
        (dataset.parent, "being checked"),
    ):
        done = refprep("lint", dataset / "rows.jsonl", "--fix", "--fix-to", folder)
        assert (done.code, done.out) == (2, ""), done.err
        assert message in done.err
    assert (tmp_path / "mine" / "take1.wav").read_bytes() == b"dear to me"
    assert refprep("lint", dataset / "rows.jsonl", "--fix-to", tmp_path / "new").code == 2


def test_a_killed_run_leaves_the_earlier_folder_whole(dataset: Path, tmp_path: Path) -> None:
    target = tmp_path / "fixed"
    options = ["lint", str(dataset / "rows.jsonl"), "--fix", "--fix-to", str(target), "--select", "RP1"]
    assert refprep(*options[:-1], "RP104").code == 1 or target.is_dir()
    before = hashes(target)
    process = subprocess.Popen(
        [sys.executable, "-m", "refprep", *options, "--no-cache"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until_s = time.monotonic() + 120
    while not list(tmp_path.glob(".fixed.refprep-*/*.wav")):
        assert process.poll() is None, "it ended before it was killed"
        assert time.monotonic() < until_s
        time.sleep(0.01)
    process.kill()
    assert process.wait(timeout=30) == -9
    assert hashes(target) == before
    refprep(*options)
    assert len(manifest_of(target)) > 1
    assert [p.name for p in tmp_path.iterdir()] == ["fixed"], "what the killed run left is cleared"


def test_failing_cases_of_the_speech_pack_lint_clean_when_fixed(speech_pack: Path, tmp_path: Path) -> None:
    """Two clips of three languages, a few faults of each."""
    from refprep.bench.lint import read_cases

    chosen, seen = [], set()
    for case in read_cases(speech_pack / "cases.csv"):
        kind = (case.language, case.kind.rstrip("0123456789"))
        if case.expect == "fail" and case.language in ("en", "de", "es") and kind not in seen:
            seen.add(kind)
            chosen.append(case)
    rows = [{"audio": str(c.path), "text": c.text, "language": c.language, "case": c.case_id} for c in chosen]
    manifest = tmp_path / "cases.jsonl"
    manifest.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    refprep("lint", manifest, "--unsafe-fixes", "--select", "RP1", "-q", cwd=tmp_path)
    again = refprep("lint", "fixed", "--select", "RP1", "--format", "json", cwd=tmp_path)
    assert again.code == 0, again.out
    fixed = [
        json.loads(x) for x in (tmp_path / "fixed/utterances.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert len(fixed) >= 0.8 * len(chosen), sorted({r["case"] for r in rows} - {r["case"] for r in fixed})
