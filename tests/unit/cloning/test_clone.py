"""Attempts, seeds and what is delivered; the synthesizer is a fake that does as it is told."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from refprep.cloning.clone import clone, seed_of, stream_clone
from refprep.cloning.deliver import deliver
from refprep.cloning.document import spoken_document
from refprep.cloning.jobs import read_jobs
from refprep.cloning.record import CloneJob, CloneOptions, Spoken, Streamed
from refprep.errors import ManifestError, TextInputError, UsageError
from refprep.linter.rule import Finding, Severity
from refprep.scoring.output import ScoredOutput
from refprep.types import GeneratedCodes, StopReason, StreamEnd, SynthesisResult

RATE = 24_000
SCHEMA = json.loads((Path(__file__).parents[3] / "manifests" / "clone.schema.json").read_text("utf-8"))


class Scripted:
    """Ends each request as its script says; a request past the script ends with EOS."""

    name = "scripted"
    sample_rate_hz = RATE

    def __init__(self, *stops, refuse=None):
        self.stops, self.refuse, self.requests = list(stops), refuse, []

    def check(self, request):
        if self.refuse and self.refuse in request.text:
            raise UsageError("no", where="request", fix="none")

    def _one(self, request, guard):
        stop = self.stops.pop(0) if self.stops else StopReason.EOS
        self.requests.append(request)
        frames = 10 if stop is StopReason.EOS else request.max_frames
        codes = np.arange(frames * 16, dtype=np.int32).reshape(frames, 16) % 2048
        for frame in codes:
            if guard is not None:
                guard.on_frame(frame, 9)
        samples = np.full(frames * 1920, 0.1, np.float32)
        generated = GeneratedCodes(codes, np.full(frames, 9, np.int32), stop, request.seed, 0.1, 1.0)
        return SynthesisResult(samples, RATE, request.text, generated, 0.2, 1.0)

    def speak(self, requests, guards=None, on_step=None):
        results = [self._one(r, g) for r, g in zip(requests, guards or [None] * len(requests), strict=True)]
        if on_step is not None:
            on_step()
        return results

    def stream(self, request, guard=None):
        result = self._one(request, guard)
        yield result.samples[:1920]
        yield result.samples[1920:]
        yield StreamEnd(result.num_samples, RATE, request.text, result.generated, 0.2, 1.0)


LONG = "The first sentence is here. The second one is a little longer than that. And a third."
SHORT_PIECES = CloneOptions(piece_s=3.2)
EOS, FULL = StopReason.EOS, StopReason.MAX_FRAMES


def test_a_text_that_ends_by_itself_passes_at_once():
    synthesizer = Scripted()
    (spoken,) = clone([CloneJob("Hello there.", "en", seed=7)], synthesizer)
    assert spoken.passed
    assert spoken.stop is EOS
    assert [r.seed for r in synthesizer.requests] == [7]
    assert synthesizer.requests[0].language == "English"
    assert len(spoken.samples) == 10 * 1920
    assert spoken.pieces[0].best.signs.frames == 10


def test_only_what_failed_is_tried_again_with_another_seed():
    synthesizer = Scripted(EOS, FULL, EOS, FULL, EOS)
    (spoken,) = clone([CloneJob(LONG, "en", seed=1)], synthesizer, options=SHORT_PIECES)
    assert spoken.passed
    assert [len(p.attempts) for p in spoken.pieces] == [1, 3, 1]
    assert spoken.pieces[1].chosen == 2
    seeds = [a.result.generated.seed for p in spoken.pieces for a in p.attempts]
    assert len(set(seeds)) == 5
    assert seeds == [seed_of(1, piece=p, attempt=a) for p, a in ((0, 0), (1, 0), (1, 1), (1, 2), (2, 0))]
    assert [r.text for r in synthesizer.requests[3:]] == [spoken.pieces[1].text] * 2


def test_attempts_end_and_the_failure_has_a_name():
    synthesizer = Scripted(*[FULL] * 9)
    (spoken,) = clone([CloneJob("Hello.", "en")], synthesizer, options=CloneOptions(attempts=4))
    assert not spoken.passed
    assert spoken.stop is FULL
    assert len(spoken.pieces[0].attempts) == 4
    assert synthesizer.requests[0].max_frames == spoken.pieces[0].attempts[0].budget.max_frames


def test_jobs_are_spoken_side_by_side():
    synthesizer = Scripted(FULL)
    spoken = clone([CloneJob(t, "en", seed=5) for t in ("One.", "Two.", "Three.")], synthesizer)
    assert [s.job.text for s in spoken] == ["One.", "Two.", "Three."]
    assert [len(s.pieces[0].attempts) for s in spoken] == [2, 1, 1]


def finding(severity):
    return Finding("RP604", "missing-words", severity, "out", message="m", remedy="r")


class Verdict:
    """A score with or without an error."""

    def __init__(self, *severities):
        self.findings = tuple(finding(s) for s in severities)
        self.score = type("S", (), {"text": None, "lowest_window": None, "pace_ratio": None})()

    passed = ScoredOutput.passed
    faults = ScoredOutput.faults


def test_what_fails_its_verification_is_tried_again():
    verdicts = [Verdict(Severity.ERROR), Verdict()]
    (spoken,) = clone([CloneJob("Hello.", "en")], Scripted(), score=lambda *_: verdicts.pop(0))
    assert spoken.passed
    assert spoken.pieces[0].chosen == 1
    assert spoken.pieces[0].attempts[0].score.faults == ("missing-words",)


def test_a_runaway_is_not_verified():
    def never(*_):
        raise AssertionError

    (spoken,) = clone([CloneJob("Hi.", "en")], Scripted(FULL), options=CloneOptions(attempts=1), score=never)
    assert not spoken.passed


def test_the_best_of_several_is_taken():
    verdicts = [Verdict(Severity.WARNING), Verdict(), Verdict(Severity.WARNING)]
    options = CloneOptions(best_of=3)
    (spoken,) = clone(
        [CloneJob("Hello.", "en")], Scripted(), options=options, score=lambda *_: verdicts.pop(0)
    )
    assert (len(spoken.pieces[0].attempts), spoken.pieces[0].chosen) == (3, 1)


def test_all_jobs_are_checked_before_one_is_spoken():
    synthesizer = Scripted(refuse="bad")
    with pytest.raises(UsageError):
        clone([CloneJob("good", "en"), CloneJob("bad", "en")], synthesizer)
    with pytest.raises(TextInputError):
        clone([CloneJob("good", "en"), CloneJob(" ...! ", "en")], synthesizer)
    assert synthesizer.requests == []


def test_a_stream_gives_the_pieces_with_pauses_between():
    *parts, streamed = stream_clone(CloneJob(LONG, "en"), Scripted(), options=SHORT_PIECES)
    assert isinstance(streamed, Streamed)
    assert not isinstance(streamed, Spoken)
    assert streamed.passed
    num_samples = sum(len(part) for part in parts)
    assert num_samples == streamed.num_samples == 3 * 10 * 1920 + 2 * round(0.3 * RATE)
    assert streamed.duration_s == num_samples / RATE


def test_the_record_of_a_stream_is_that_of_a_file_without_the_samples():
    *_, streamed = stream_clone(CloneJob("Hello.", "en"), Scripted())
    (spoken,) = clone([CloneJob("Hello.", "en")], Scripted())
    one, other = (
        spoken_document(s, options=CloneOptions(), facts={}, audio="a.wav", audio_sha256="0" * 64)
        for s in (streamed, spoken)
    )
    assert {k: v for k, v in one.items() if k not in ("wall_s", "rtf", "first_audio_s")} == {
        k: v for k, v in other.items() if k not in ("wall_s", "rtf", "first_audio_s")
    }
    assert not any(isinstance(a.result, SynthesisResult) for p in streamed.pieces for a in p.attempts)


def test_a_stream_ends_with_its_first_runaway():
    *parts, streamed = stream_clone(CloneJob(LONG, "en"), Scripted(EOS, FULL), options=SHORT_PIECES)
    assert not streamed.passed
    assert len(streamed.pieces) == 2
    assert len(parts) == 5


def test_what_passed_is_delivered_under_its_name_and_what_did_not_is_not(tmp_path):
    good, bad = (
        clone([CloneJob("Hello.", "en")], Scripted(stop), options=CloneOptions(attempts=1))[0]
        for stop in (EOS, FULL)
    )
    path, document = deliver(bad, tmp_path / "out.wav", options=CloneOptions(), facts={"model": "scripted"})
    assert path == tmp_path / "out.failed.wav"
    assert not (tmp_path / "out.wav").exists()
    assert json.loads((tmp_path / "out.failed.json").read_text())["stop"] == "max-frames"
    path, document = deliver(good, tmp_path / "out.wav", options=CloneOptions(), facts={"model": "scripted"})
    assert path == tmp_path / "out.wav"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.json", "out.wav"]
    assert document["passed"]
    assert document["model"] == "scripted"
    deliver(bad, tmp_path / "out.wav", options=CloneOptions(), facts={})
    assert (tmp_path / "out.wav").exists()


def test_the_record_keeps_every_attempt():
    synthesizer = Scripted(FULL)
    (spoken,) = clone([CloneJob("Hello.", "en", seed=4)], synthesizer)
    document = spoken_document(spoken, options=CloneOptions(), facts={}, audio="a.wav", audio_sha256="0" * 64)
    attempts = document["pieces"][0]["attempts"]
    assert [a["stop"] for a in attempts] == ["max-frames", "eos"]
    assert [a["seed"] for a in attempts] == [4, seed_of(4, piece=0, attempt=1)]
    assert document["pieces"][0]["chosen"] == 1
    jsonschema.validate(json.loads(json.dumps(document)), SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document | {"stop": "bored"}, SCHEMA)


def test_a_batch_is_read_with_its_defaults(tmp_path):
    path = tmp_path / "jobs.jsonl"
    path.write_text(
        '{"text": "One."}\n\n{"text": "Two.", "out": "sub/b.wav", "language": "German", "seed": 9}\n'
    )
    one, two = read_jobs(path, language="en", seed=3)
    assert (one.job.text, one.job.language, one.job.seed, str(one.out)) == ("One.", "en", 3, "00001.wav")
    assert (two.job.text, two.job.language, two.job.seed, str(two.out)) == ("Two.", "de", 9, "sub/b.wav")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("", "no jobs"),
        ("{", "no JSON"),
        ("[]", "no text"),
        ('{"out": "a.wav"}', "no text"),
        ('{"text": "a", "sneed": 1}', "sneed is unknown"),
        ('{"text": "a", "seed": "1"}', "seed is unknown or of the wrong type"),
        ('{"text": "a", "seed": -1}', "seed is below 0"),
        ('{"text": "a", "out": "../a.wav"}', "no .wav file below"),
        ('{"text": "a", "out": "/a.wav"}', "no .wav file below"),
        ('{"text": "a", "out": "a.mp3"}', "no .wav file below"),
        ('{"text": "a", "out": "a.wav"}\n{"text": "b", "out": "a.wav"}', "goes to a.wav"),
    ],
)
def test_a_bad_batch_says_where(tmp_path, content, what):
    path = tmp_path / "jobs.jsonl"
    path.write_text(content)
    with pytest.raises(ManifestError) as caught:
        read_jobs(path)
    assert what in caught.value.what
    assert "jobs.jsonl" in caught.value.where


def test_a_batch_that_is_not_there_is_one_error(tmp_path):
    with pytest.raises(ManifestError):
        read_jobs(tmp_path / "none.jsonl")
