"""What every Transcriber and Aligner promises, asked of the fake and of faster-whisper alike; then faster-whisper alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from fakes import FakeAsr, evenly, noise_clip
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

from refprep.errors import BackendError, UsageError
from refprep.models.vad import SileroVad
from refprep.models.whisper import FasterWhisper, mend_merges
from refprep.pipeline.align import cut_clip
from refprep.pipeline.decode import decode_file
from refprep.pipeline.listen import Listener
from refprep.pipeline.transcribe import plan_intervals, transcribe_clip
from refprep.text.words import split_words
from refprep.types import Clip, Origin, Span, Verdict

TEXT = "It was the best of times. It was the worst of times."


@dataclass(frozen=True)
class Scene:
    """A model, and a clip in which it hears TEXT."""

    asr: FakeAsr | FasterWhisper
    clip: Clip


@pytest.fixture(scope="module")
def whisper(whisper_folder: Path) -> FasterWhisper:
    return FasterWhisper(whisper_folder, name="whisper-base", device="cpu")


@pytest.fixture(scope="module")
def reading(two_cities: Path) -> Clip:
    return decode_file(two_cities / "two_cities.wav")


@pytest.fixture(
    params=["fake", pytest.param("faster-whisper", marks=[pytest.mark.weights, pytest.mark.speech])]
)
def scene(request: pytest.FixtureRequest) -> Scene:
    if request.param == "fake":
        clip = noise_clip(5.0)
        return Scene(FakeAsr({clip.id: evenly(TEXT, 0.2, 0.3)}), clip)
    return Scene(
        request.getfixturevalue("whisper"), cut_clip(request.getfixturevalue("reading"), Span(1.0, 4.85))
    )


def test_the_language_that_is_heard_has_a_probability(scene: Scene) -> None:
    language, probability = scene.asr.detect_language(scene.clip, Span(0.0, scene.clip.duration_s))
    assert language == "en"
    assert 0.5 < probability <= 1.0


def test_transcribes_words_in_order_within_the_clip(scene: Scene) -> None:
    heard = scene.asr.transcribe(scene.clip, [Span(0.0, scene.clip.duration_s)], language="en")
    assert heard.text.casefold().startswith("it was the best of times")
    assert (heard.origin, heard.model, heard.language) == (Origin.ASR, scene.asr.name, "en")
    starts = [w.span.start_s for w in heard.words]
    assert starts == sorted(starts)
    assert all(0.0 <= w.span.start_s <= w.span.end_s <= scene.clip.duration_s + 0.1 for w in heard.words)
    assert all(0.0 <= w.probability <= 1.0 for w in heard.words)


def test_the_same_clip_is_heard_alike_twice(scene: Scene) -> None:
    spans = [Span(0.0, scene.clip.duration_s)]
    assert scene.asr.transcribe(scene.clip, spans) == scene.asr.transcribe(scene.clip, spans)


def test_aligns_one_word_for_every_written_word(scene: Scene) -> None:
    text = "It was the best of times. It was the purple elephant of times."
    placed = scene.asr.align(scene.clip, text, language="en")
    assert [w.text for w in placed.words] == split_words(text)
    assert placed.aligner == scene.asr.name
    by_word = {w.text: w.probability for w in placed.words}
    assert by_word["best"] > 0.5
    assert by_word["elephant"] < 0.1


def test_an_empty_text_has_no_words(scene: Scene) -> None:
    assert scene.asr.align(scene.clip, " ", language="en").words == ()


@pytest.mark.weights
@pytest.mark.speech
class TestFasterWhisper:
    def test_detects_the_language(self, whisper: FasterWhisper, reading: Clip) -> None:
        heard = whisper.transcribe(reading, [Span(1.0, 6.5)])
        assert heard.language == "en"
        assert 0.5 < heard.language_probability <= 1.0

    def test_intervals_hear_what_the_sequential_decoder_hears(
        self, whisper: FasterWhisper, reading: Clip
    ) -> None:
        """The batched pipeline lost half the words of such a file; explicit intervals must not."""
        speech = SileroVad().speech_spans(reading)
        assert len(plan_intervals(reading.duration_s, speech)) > 1
        ours = transcribe_clip(reading, speech, whisper, language="en")
        from refprep.dsp.resample import resample

        audio = resample(reading.samples, reading.sample_rate_hz, 16_000)
        segments, _ = whisper._model.transcribe(audio, language="en", beam_size=5)
        sequential = [w for s in segments for w in s.text.split()]
        assert len(ours.words) >= 0.97 * len(sequential)

    def test_more_text_than_the_decoder_holds_is_unspoken_beyond_it(
        self, whisper: FasterWhisper, reading: Clip
    ) -> None:
        clip = cut_clip(reading, Span(1.0, 4.85))
        text = TEXT + " and nothing more" * 200
        placed = whisper.align(clip, text, language="en").words
        assert len(placed) == len(split_words(text))
        assert placed[-1].probability == 0.0
        assert placed[-1].span.duration_s == 0.0

    def test_a_clip_over_thirty_seconds_is_not_aligned_at_once(
        self, whisper: FasterWhisper, reading: Clip
    ) -> None:
        with pytest.raises(UsageError, match="one window"):
            whisper.align(reading, TEXT, language="en")

    def test_an_unknown_language_is_named(self, whisper: FasterWhisper, reading: Clip) -> None:
        with pytest.raises(UsageError, match="klingon"):
            whisper.transcribe(reading, [Span(0.0, 5.0)], language="klingon")


def test_a_folder_without_a_model_is_a_backend_error(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="does not load"):
        FasterWhisper(tmp_path, name="none", device="cpu")


# --------------------------------------------------------------------------- the tokenizer


@pytest.mark.weights
@pytest.mark.parametrize("word", [" the", " to", " that", " a", " and"])
def test_a_common_word_is_one_token(whisper: FasterWhisper, word: str) -> None:
    assert len(whisper._tokenizer("en").encode(word)) == 1


@pytest.mark.weights
@pytest.mark.speech
def test_words_that_begin_with_t_are_as_probable_as_others(whisper: FasterWhisper, reading: Clip) -> None:
    """Found with a tokenizer that lacked the merge of a blank and t: their probability was 0.001."""
    words = whisper.align(cut_clip(reading, Span(1.0, 4.85)), TEXT, language="en").words
    said = [w.probability for w in words if w.text in ("the", "times.")]
    assert len(said) == 4
    assert min(said) > 0.5


def _bpe(merges: list[tuple[str, str]]) -> Tokenizer:
    pieces = ["Ġ", "t", "h", "e", "Ġt", "he", "Ġthe", "the", "th"]
    tokenizer = Tokenizer(BPE({p: k for k, p in enumerate(pieces)}, merges))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    return tokenizer


def test_a_merge_that_was_taken_for_a_header_is_put_back() -> None:
    rest = [("h", "e"), ("Ġt", "he"), ("t", "h"), ("th", "e")]
    broken, whole = _bpe(rest), _bpe([("Ġ", "t"), *rest])
    assert broken.encode(" the").tokens != ["Ġthe"]
    assert mend_merges(broken).encode(" the").tokens == ["Ġthe"]
    assert mend_merges(whole) is whole


@pytest.mark.weights
@pytest.mark.speech
@pytest.mark.parametrize(
    "text",
    [
        "It was the best of times. the best of times. It was the worst of times.",
        f"{TEXT} the worst of times.",
    ],
)
def test_a_phrase_written_twice_is_refused(whisper: FasterWhisper, reading: Clip, text: str) -> None:
    """The model finds a phrase likely once it was made to begin it again: its mean probability proved nothing."""
    listener = Listener(SileroVad(), whisper, whisper)
    check = listener.check(cut_clip(reading, Span(1.0, 4.85)), text, language="en")
    assert check.verdict is Verdict.FAIL, check.alignment
    assert listener.check(cut_clip(reading, Span(1.0, 4.85)), TEXT, language="en").verdict is Verdict.PASS
