"""`refprep score` on outputs made of real clips: what is right passes, every fault fails for its own reason."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from process import refprep
from score_kit import Said, joined, listen_to, rows_of, some, write

from refprep.api import open_listener
from refprep.api_build import build
from refprep.api_score import OutputScorer
from refprep.config import BuildConfig, Config, ModelConfig
from refprep.pipeline.decode import decode_file
from refprep.types import Samples

pytestmark = [pytest.mark.weights, pytest.mark.speech, pytest.mark.slow]

CONFIG = Config(
    models=ModelConfig(asr="whisper-base", device="cpu", threads=2),
    build=BuildConfig(min_s=5.0, target_s=12.0),
)


@dataclass(frozen=True)
class Case:
    """A reader, the clips of the voice, the clip that is the output, and somebody else of the same sex."""

    speaker: str
    language: str
    reference: tuple[str, ...]
    output: str
    other: str
    swap_at: int
    half_at: int


CASES = {
    "woman-en": Case(
        "ljspeech/en/f/linda_johnson",
        "en",
        ("LJ001-0007", "LJ001-0016", "LJ001-0020"),
        "LJ001-0011",
        "librispeech/1998/1998-15444-0003.flac",
        swap_at=6,
        half_at=7,
    ),
    "man-en": Case(
        "librispeech/en/m/1688",
        "en",
        ("1688-142285-0005", "1688-142285-0007", "1688-142285-0008"),
        "1688-142285-0004",
        "librispeech/2609/2609-156975-0005.flac",
        swap_at=8,
        half_at=8,
    ),
    "man-de": Case(
        "thorsten/de/m/thorsten_mueller",
        "de",
        ("sample01-gt", "sample04-gt", "sample02-gt", "neutral"),
        "sample03-gt",
        "librispeech/2609/2609-156975-0005.flac",
        swap_at=4,
        half_at=4,
    ),
}


@dataclass(frozen=True, eq=False)
class Scene:
    """A built voice, what scores its outputs, and the clip that says the text."""

    case: Case
    voice: Path
    scorer: OutputScorer
    said: Said
    last_reference: Said
    folder: Path
    stranger: Path

    def write(self, name: str, samples: Samples) -> Path:
        return write(self.folder / f"{name}.wav", samples, self.said.rate_hz)

    def score(self, name: str, samples: Samples):
        path = self.write(name, samples)
        return self.scorer.score(path, text=self.said.text, language=self.said.language)


@pytest.fixture(scope="module", params=list(CASES))
def scene(
    request: pytest.FixtureRequest,
    speech_pack: Path,
    whisper_folder: Path,
    ge2e_folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Scene:
    del whisper_folder, ge2e_folder
    case = CASES[request.param]
    rows = rows_of(speech_pack, case.speaker)
    folder = tmp_path_factory.mktemp("score")
    manifest = folder / "clips.jsonl"
    with manifest.open("w", encoding="utf-8") as file:
        for row in some(rows, *case.reference):
            entry = {"audio": str(speech_pack / row["path"]), "text": row["transcript"]}
            file.write(json.dumps({**entry, "language": case.language}) + "\n")
    voice = folder / "voice"
    built = build([manifest], voice, config=CONFIG)
    listener = open_listener(CONFIG.models)
    last = built.reference.clips[-1]
    (output,) = some(rows, case.output)
    return Scene(
        case=case,
        voice=voice,
        scorer=OutputScorer(voice, config=CONFIG, listener=listener),
        said=listen_to(speech_pack / output["path"], output["transcript"], case.language, listener),
        last_reference=listen_to(Path(last.path), last.text, case.language, listener),
        folder=folder,
        stranger=speech_pack / "audio" / case.other,
    )


def test_the_speaker_reading_the_text_passes(scene: Scene) -> None:
    scored = scene.score("plain", scene.said.clip.samples)
    assert scored.faults == ()
    assert scored.score.leaks == ()


@pytest.mark.parametrize("count", [1, 2])
def test_the_last_words_of_the_reference_in_front_are_a_leak(scene: Scene, count: int) -> None:
    leak = scene.last_reference.last_words(count)
    scored = scene.score(f"leak{count}", joined(leak, scene.said.silence(0.06), scene.said.body()))
    assert scored.faults == ("leaked-reference-words",)
    (found,) = scored.score.leaks
    assert found.cut_s == pytest.approx(len(leak) / scene.said.rate_hz + 0.03, abs=0.1)


def test_the_text_said_twice_is_repeated(scene: Scene) -> None:
    assert scene.score("twice", scene.said.twice()).faults == ("repeated-text",)


def test_swapped_clauses_are_reordered(scene: Scene) -> None:
    assert scene.score("swapped", scene.said.swapped(scene.case.swap_at)).faults == ("reordered-text",)


def test_a_second_half_by_somebody_else_is_named(scene: Scene) -> None:
    samples, _ = scene.said.half_by(decode_file(scene.stranger), scene.case.half_at)
    scored = scene.score("half", samples)
    assert "voice-drift" in scored.faults
    assert "late" in {w.name for w in scored.score.windows if w.is_off}
    assert "early" not in {w.name for w in scored.score.windows if w.is_off}


def test_room_tone_behind_the_text_is_long_non_speech(scene: Scene) -> None:
    assert scene.score("tone", scene.said.with_room_tone(20.0)).faults == ("long-non-speech",)


def test_a_last_word_cut_off_is_missing(scene: Scene) -> None:
    scored = scene.score("last", scene.said.without_last_word())
    assert scored.faults == ("missing-words",)
    assert scored.score.text is not None
    assert scored.score.text.faults[-1].place == "tail"


def test_without_a_text_the_voice_is_scored_still(scene: Scene) -> None:
    path = scene.write("again", scene.said.clip.samples)
    scored = scene.scorer.score(path)
    assert scored.passed
    assert scored.score.text is None
    assert scored.score.windows


# ---------------------------------------------------------------- the command


@pytest.fixture(scope="module")
def woman(scene: Scene) -> Scene:
    if scene.case is not CASES["woman-en"]:
        pytest.skip("one reader is enough for the command")
    return scene


def command(scene: Scene, *args: str | Path):
    return refprep("score", *args, "--voice", scene.voice, "--asr", "whisper-base", "--device", "cpu")


def test_the_command_trims_a_leak_and_says_which_is_best(woman: Scene) -> None:
    leak = woman.last_reference.last_words(2)
    leaky = woman.write("leaky", joined(leak, woman.said.silence(0.06), woman.said.body()))
    trimmed = woman.folder / "trimmed" / "out.wav"
    done = command(woman, leaky, "--text", woman.said.text, "--language", "en", "--trim-leak", trimmed)
    assert done.code == 1
    assert "RP602 error: it begins with" in done.out
    assert "FAILED (leaked-reference-words)" in done.out
    text = woman.folder / "text.txt"
    text.write_text(woman.said.text + "\n", encoding="utf-8")
    done = command(woman, leaky, trimmed, "--text-file", text, "--best", "--format", "json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["schema_version"] == 1
    assert [row["passed"] for row in document["outputs"]] == [False, True]
    assert document["best"] == {"path": str(trimmed), "index": 1, "reason": "passes"}
    assert document["outputs"][0]["leaks"][0]["edge"] == "head"


def test_bad_input_is_one_clear_error(woman: Scene, tmp_path: Path) -> None:
    plain = woman.write("plain", woman.said.clip.samples)
    noise = tmp_path / "noise.wav"
    noise.write_bytes(b"RIFF nothing")
    for args, what in (
        ((plain, "--text", " ... "), "the text has no words"),
        ((noise, "--text", "hello"), "noise.wav"),
        ((plain, "--text", "a", "--text-file", plain), "two texts"),
        ((plain, "--trim-leak", tmp_path / "x.wav"), "needs one output and its text"),
    ):
        done = command(woman, *args)
        assert done.code == 2, done.err
        assert what in done.err
        assert len(done.err.strip().splitlines()) == 2
    done = refprep("score", plain, "--voice", tmp_path, "--text", "hello")
    assert done.code == 2
    assert "no voice.json there" in done.err


def test_an_output_in_which_nobody_speaks_fails_with_one_finding(woman: Scene) -> None:
    silent = woman.write("silent", woman.said.silence(2.0))
    done = command(woman, silent, "--text", woman.said.text, "--format", "jsonl")
    assert done.code == 1, done.err
    row = json.loads(done.out)
    assert row["faults"] == ["no-speech"]
    assert [f["code"] for f in row["findings"]] == ["RP211"]
