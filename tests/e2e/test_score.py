"""`refprep score` on outputs made of real clips: what is right passes, every fault fails for its own reason."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from process import refprep
from score_kit import rows_of, some, write
from typer.testing import CliRunner

from refprep.api import open_listener
from refprep.api_build import build
from refprep.api_score import OutputScorer
from refprep.bench.composites import SaidClip, clip_like, joined, place_words_of
from refprep.cli.app import app
from refprep.config import BuildConfig, Config, ModelConfig
from refprep.errors import RefprepError
from refprep.models.store import ModelStore
from refprep.models.verifiers import load_verifiers
from refprep.pipeline.decode import decode_file
from refprep.pipeline.edges import speech_edges
from refprep.pipeline.join import join_clips
from refprep.pipeline.joined import reference_clip
from refprep.pipeline.listen import Listener
from refprep.pipeline.silence_policy import SilencePolicy
from refprep.scoring import ScoredOutput, ScoreTarget, score_output
from refprep.scoring.target import measure_target
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
    """A voice, what scores its outputs, and the clip that says the text."""

    case: Case
    target: ScoreTarget
    listener: Listener
    said: SaidClip
    reference: SaidClip
    pack: Path

    def score(self, samples: Samples, *, text: str | None = None) -> ScoredOutput:
        clip = clip_like(self.said.clip, samples, "out.wav")
        return score_output(
            clip, self.target, self.listener, text=text or self.said.text, language=self.case.language
        )

    def leaky(self, count: int) -> Samples:
        return joined(self.reference.last_words(count), self.said.silence(0.06), self.said.body())


@pytest.fixture(scope="module")
def listener(whisper_folder: Path) -> Listener:
    del whisper_folder
    return open_listener(CONFIG.models)


@pytest.fixture(scope="module", params=list(CASES))
def scene(request: pytest.FixtureRequest, speech_pack: Path, ge2e_folder: Path, listener: Listener) -> Scene:
    del ge2e_folder
    case = CASES[request.param]
    rows = rows_of(speech_pack, case.speaker)
    chosen = some(rows, *case.reference)
    silence = SilencePolicy("zeros", 120)
    reference = join_clips(
        [decode_file(speech_pack / r["path"]) for r in chosen],
        [r["transcript"] for r in chosen],
        gap=silence,
        tail=silence,
        language=case.language,
    )
    target = measure_target(reference, listener, load_verifiers(CONFIG.models, ModelStore.default()))
    (output,) = some(rows, case.output)
    clip = decode_file(speech_pack / output["path"])
    said = place_words_of(clip, output["transcript"], case.language, listener)
    assert said is not None
    whole = reference_clip(reference)
    edged = speech_edges(whole, listener.speech(whole))
    return Scene(
        case=case,
        target=target,
        listener=listener,
        said=said,
        reference=SaidClip(whole, reference.text, case.language, target.words, edged),
        pack=speech_pack,
    )


def test_the_speaker_reading_the_text_passes(scene: Scene) -> None:
    scored = scene.score(scene.said.clip.samples)
    assert scored.faults == ()
    assert scored.score.leaks == ()


@pytest.mark.parametrize("count", [1, 2])
def test_the_last_words_of_the_reference_in_front_are_a_leak(scene: Scene, count: int) -> None:
    scored = scene.score(scene.leaky(count))
    assert scored.faults == ("leaked-reference-words",)
    (found,) = scored.score.leaks
    end_s = len(scene.reference.last_words(count)) / scene.said.rate_hz
    assert found.cut_s == pytest.approx(end_s + 0.03, abs=0.1)


def test_the_text_said_twice_is_repeated(scene: Scene) -> None:
    assert scene.score(scene.said.twice()).faults == ("repeated-text",)


def test_swapped_clauses_are_reordered(scene: Scene) -> None:
    assert scene.score(scene.said.swapped(scene.case.swap_at)).faults == ("reordered-text",)


def test_a_second_half_by_somebody_else_is_named(scene: Scene) -> None:
    stranger = decode_file(scene.pack / "audio" / scene.case.other)
    samples, _ = scene.said.half_by(stranger, scene.case.half_at)
    scored = scene.score(samples)
    assert "voice-drift" in scored.faults
    assert "late" in {w.name for w in scored.score.windows if w.is_off}
    assert "early" not in {w.name for w in scored.score.windows if w.is_off}


def test_room_tone_behind_the_text_is_long_non_speech(scene: Scene) -> None:
    assert scene.score(scene.said.with_room_tone(20.0)).faults == ("long-non-speech",)


def test_a_last_word_cut_off_is_missing(scene: Scene) -> None:
    scored = scene.score(scene.said.without_last_word())
    assert scored.faults == ("missing-words",)
    assert scored.score.text is not None
    assert scored.score.text.faults[-1].place == "tail"


# ---------------------------------------------------------------- a built voice, the command


@dataclass(frozen=True, eq=False)
class Built:
    """A voice that `refprep build` wrote, and an output of it."""

    scene: Scene
    voice: Path
    folder: Path

    def write(self, name: str, samples: Samples) -> Path:
        return write(self.folder / f"{name}.wav", samples, self.scene.said.rate_hz)

    def command(self, *args: str | Path):
        return refprep("score", *args, "--voice", self.voice, "--asr", "whisper-base", "--device", "cpu")


@pytest.fixture(scope="module")
def woman(scene: Scene, tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("score")
    manifest = folder / "clips.jsonl"
    with manifest.open("w", encoding="utf-8") as file:
        for row in some(rows_of(scene.pack, scene.case.speaker), *scene.case.reference):
            entry = {"audio": str(scene.pack / row["path"]), "text": row["transcript"]}
            file.write(json.dumps({**entry, "language": "en"}) + "\n")
    build([manifest], folder / "voice", config=CONFIG)
    return Built(scene, folder / "voice", folder)


@pytest.mark.parametrize("scene", ["woman-en"], indirect=True)  # one reader is enough for the command
def test_a_built_voice_scores_without_a_text_and_where_nobody_speaks(woman: Built) -> None:
    scorer = OutputScorer(woman.voice, config=CONFIG, listener=woman.scene.listener)
    scored = scorer.score(woman.write("plain", woman.scene.said.clip.samples))
    assert scored.passed
    assert scored.score.text is None
    assert scored.score.windows
    silent = scorer.score(woman.write("silent", woman.scene.said.silence(2.0)), text="Good morning.")
    assert silent.faults == ("no-speech",)
    assert [f.code for f in silent.findings] == ["RP211"]


@pytest.mark.parametrize("scene", ["woman-en"], indirect=True)  # one reader is enough for the command
def test_the_command_trims_a_leak_and_says_which_is_best(woman: Built) -> None:
    said = woman.scene.said
    leaky = woman.write("leaky", woman.scene.leaky(2))
    trimmed = woman.folder / "trimmed" / "out.wav"
    done = woman.command(leaky, "--text", said.text, "--language", "en", "--trim-leak", trimmed)
    assert done.code == 1, done.err
    assert "RP602 error: it begins with" in done.out
    assert "FAILED (leaked-reference-words)" in done.out
    text = woman.folder / "text.txt"
    text.write_text(said.text + "\n", encoding="utf-8")
    done = woman.command(leaky, trimmed, "--text-file", text, "--best", "--format", "json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["schema_version"] == 1
    assert [row["passed"] for row in document["outputs"]] == [False, True]
    assert document["best"] == {"path": str(trimmed), "index": 1, "reason": "passes"}
    assert document["outputs"][0]["leaks"][0]["edge"] == "head"


@pytest.mark.parametrize("scene", ["woman-en"], indirect=True)  # one reader is enough for the command
def test_bad_input_is_one_clear_error(woman: Built, tmp_path: Path) -> None:
    plain = woman.write("plain", woman.scene.said.clip.samples)
    noise = tmp_path / "noise.wav"
    noise.write_bytes(b"RIFF nothing")
    for args, what in (
        ((noise, "--text", "hello"), "noise.wav"),
        ((plain, "--text", "a", "--text-file", plain), "two texts"),
        ((plain, "--trim-leak", tmp_path / "x.wav"), "needs one output and its text"),
    ):
        done = CliRunner().invoke(app, ["score", *map(str, args), "--voice", str(woman.voice)])
        assert isinstance(done.exception, RefprepError)
        assert done.exception.exit_code == 2
        assert what in f"{done.exception.where}: {done.exception}: {done.exception.what}"
    done = CliRunner().invoke(app, ["score", str(plain), "--voice", str(tmp_path), "--text", "hello"])
    assert isinstance(done.exception, RefprepError)
    assert "no voice.json there" in done.exception.what
    ended = woman.command(plain, "--text", " ... ")
    assert ended.code == 2, ended.err
    assert "the text has no words" in ended.err
    assert len(ended.err.strip().splitlines()) == 2
