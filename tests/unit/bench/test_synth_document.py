"""What a run of `bench synth` says beside its figures: rows that were left out, ratios, facts, published figures."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from importlib.resources import files

import pytest
from engine_kit import tiny_checkpoint

from refprep.bench import synth_facts, synth_frame
from refprep.bench.load_judge import Judge
from refprep.bench.published import PUBLISHED, Published, beside, is_same_gpu
from refprep.bench.synth import LOAD_FRAMES, REFERENCE_FRAMES, load_job, run_synth
from refprep.bench.synth_facts import frame_nbytes, model_facts, run_facts, shapes_label
from refprep.bench.synth_frame import choose_rows
from refprep.bench.synth_plan import SynthPlan, read_sentences
from refprep.bench.synth_ratios import NAMES, fastest, ratios_of
from refprep.engine.config import read_config
from refprep.engine.random_checkpoint import REAL
from refprep.errors import TextInputError, UsageError


def config(name="base-0.6b"):
    return read_config(tiny_checkpoint(name))


def real_config():
    """The tiny one's, with the shapes of the published 0.6B."""
    shapes, known = REAL["0b6"], config()

    def shaped(stack, shape):
        return replace(stack, **{name: getattr(shape, name) for name in shape.__dataclass_fields__})

    talker = shaped(known.talker_config, shapes.talker)
    predictor = shaped(talker.code_predictor_config, shapes.predictor)
    return replace(known, talker_config=replace(talker, code_predictor_config=predictor))


def plan(**options):
    return SynthPlan(tiny_checkpoint("base-0.6b"), read_sentences(None), **options)


# ---------------------------------------------------------------- rows of ours


def test_small_layers_are_compiled_where_there_is_a_compiler(monkeypatch):
    monkeypatch.setattr(synth_frame, "compiler", lambda: "g++")
    rows, not_run = choose_rows(plan(), config())
    assert list(rows) == ["refprep", "refprep-compiled"]
    assert set(not_run) == {"refprep-graph", "refprep-int8"}
    monkeypatch.setattr(synth_frame, "compiler", lambda: None)
    rows, not_run = choose_rows(plan(), config())
    assert list(rows) == ["refprep"]
    assert "compiler" in not_run["refprep-compiled"]


def test_large_layers_are_not_compiled_unasked():
    rows, not_run = choose_rows(plan(), real_config())
    assert list(rows) == ["refprep"]
    assert "MB of layers" in not_run["refprep-compiled"]
    rows, _ = choose_rows(plan(steps=("eager", "compiled"), int8=True), real_config())
    assert list(rows) == ["refprep", "refprep-compiled", "refprep-int8"]
    assert rows["refprep-int8"]["int8"] is True


def test_a_gpu_replays_graphs():
    rows, not_run = choose_rows(plan(device="cuda"), config())
    assert list(rows) == ["refprep", "refprep-graph"]
    assert set(not_run) == {"refprep-compiled", "refprep-int8"}


def test_every_row_is_run_or_says_why_it_is_not():
    for steps in (None, ("eager",), ("compiled", "graph")):
        for int8 in (False, True):
            for device in ("cpu", "cuda"):
                rows, not_run = choose_rows(plan(steps=steps, int8=int8, device=device), config())
                assert not rows.keys() & not_run.keys()
                assert len(rows) + len(not_run) == 4
                assert all(not_run.values())


# ---------------------------------------------------------------- what the load worker is asked


def test_random_weights_write_a_fixed_number_of_frames_and_real_ones_end():
    job = load_job(plan(), "load", is_random=True)
    assert (job["frames"], job["never_ends"], job["mode"], job["requests"]) == (
        LOAD_FRAMES,
        True,
        "eager",
        16,
    )
    job = load_job(plan(device="cuda", repeats=3), "load", is_random=False)
    assert (job["frames"], job["never_ends"], job["mode"]) == (750, False, "graph")
    assert job["requests"] == 3 * len(read_sentences(None).lines)
    assert load_job(plan(frames=5, requests=50), "load", is_random=True) | {"sentences": 0} == {
        **load_job(plan(), "load", is_random=True),
        "frames": 5,
        "requests": 50,
        "sentences": 0,
    }


def test_clones_bring_twelve_seconds_of_reference():
    job = load_job(plan(rps=(1.0,), concurrency=(8,)), "clone", is_random=True)
    assert (job["reference_frames"], job["concurrency"], job["rps"]) == (REFERENCE_FRAMES, [1], [])


# ---------------------------------------------------------------- ratios


def measurement(kind, *, mode="eager", c=None, rate=None, reference=None, firsts=()):
    return {
        "engine": {"flags": {"mode": mode}},
        "load": {"kind": kind, "c": c, "reference": reference},
        "results": {"audio_s_per_s": rate},
        "samples": [{"playable_ms": ms} for ms in firsts],
    }


MEASURED = [
    measurement("closed", c=1, rate=4.0),
    measurement("closed", c=8, rate=12.0),
    measurement("open", rate=3.0),
    measurement("clone", reference="cold", firsts=[100.0, 200.0, 100.0]),
    measurement("clone", reference="cached", firsts=[10.0, 40.0, 90.0]),
]
ENGINES = {
    "refprep": {"ms_per_frame": 20.0},
    "refprep-compiled": {"ms_per_frame": 5.0},
    "refprep-int8": {"ms_per_frame": 3.0},
    "qwen-tts": {"ms_per_frame": 50.0},
}


def test_ratios_are_ours_over_theirs_and_name_their_row():
    found = ratios_of("tiny", ENGINES, "qwen-tts", MEASURED)
    assert found["ratio_ms_per_frame_tiny"] == 0.1
    assert found["ratio_ms_per_frame_tiny_row"] == "compiled"
    assert found["ratio_ms_per_frame_0p6b"] is found["ratio_ms_per_frame_0p6b_int8"] is None
    assert found["ratio_second_first_audio"] == 0.2  # the median voice, against itself
    assert (found["ratio_batch8"], found["ratio_batch8_row"]) == (3.0, "eager")


def test_ratios_at_the_shapes_of_the_small_checkpoint():
    found = ratios_of("0.6b", ENGINES, "qwen-tts", [])
    assert found["ratio_ms_per_frame_0p6b"] == 0.1
    assert found["ratio_ms_per_frame_0p6b_int8"] == 0.06
    assert found["ratio_ms_per_frame_0p6b_int8_row"] == "int8"
    assert found["ratio_ms_per_frame_tiny"] is found["ratio_batch8"] is None


@pytest.mark.parametrize("shapes", ["1.7b", "other"])
def test_other_shapes_have_no_ratio_of_a_frame(shapes):
    found = ratios_of(shapes, ENGINES, "qwen-tts", MEASURED[:1])
    assert set(found) == {*NAMES, *(f"{name}_row" for name in NAMES)}
    assert set(found.values()) == {None}


def test_without_a_peer_or_a_row_of_ours_nothing_is_made_up():
    assert ratios_of("tiny", ENGINES, None, [])["ratio_ms_per_frame_tiny"] is None
    assert ratios_of("tiny", {"qwen-tts": {"ms_per_frame": 1.0}}, "qwen-tts", [])["ratio_batch8"] is None
    assert fastest({"refprep-int8": {"ms_per_frame": 1.0}}) is None


# ---------------------------------------------------------------- facts


def test_shapes_have_a_name_only_where_they_are_exactly_those():
    assert shapes_label(config()) == shapes_label(config("base-1.7b")) == "tiny"
    real = real_config()
    assert shapes_label(real) == "0.6b"
    talker = replace(real.talker_config, num_hidden_layers=27)
    assert shapes_label(replace(real, talker_config=talker)) == "other"


def test_bytes_of_a_frame_are_those_of_its_layers():
    # 440.4 M numbers of the talker's layers and 78.6 M of the predictor's
    assert frame_nbytes(real_config(), "bfloat16") == pytest.approx(2 * (440.4e6 + 78.6e6), rel=1e-3)
    assert frame_nbytes(config(), "float32") < synth_frame.COMPILED_NBYTES


def test_facts_of_run_and_checkpoint():
    facts = run_facts("cpu")
    assert {"schema", "refprep_version", "git", "date", "host", "gpu", "torch", "triton", "cuda"} <= set(
        facts
    )
    assert facts["gpu"] is None
    assert facts["host"]["cores"] >= 1
    known = model_facts(tiny_checkpoint("custom-1.7b"), config("custom-1.7b"))
    assert (known["weights"], known["kind"], len(known["sha256"])) == ("random", "custom_voice", 64)
    assert known["sha256"] == model_facts(tiny_checkpoint("custom-1.7b"), config("custom-1.7b"))["sha256"]


def test_a_gpu_without_its_tool_is_still_asked_for(monkeypatch):
    monkeypatch.setattr(synth_facts, "_say", lambda command: None)
    assert set(synth_facts._gpu()) == {"name", "driver", "vram", "clocks"}


# ---------------------------------------------------------------- sentences


def test_our_own_sentences_are_hashed():
    own = read_sentences(None)
    raw = (files("refprep.bench") / "synth_sentences.txt").read_bytes()
    assert own.sha256 == hashlib.sha256(raw).hexdigest()
    assert 20 <= len(own.lines) <= 40
    assert len(set(own.lines)) == len(own.lines)


def test_other_sentences_and_files_that_hold_none(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("Eins.\n\n  Zwei. \n", encoding="utf-8")
    assert read_sentences(path).lines == ("Eins.", "Zwei.")
    for content in (b"\n \n", b"\xff\xfe\x00"):
        path.write_bytes(content)
        with pytest.raises(TextInputError):
            read_sentences(path)
    with pytest.raises(TextInputError):
        read_sentences(tmp_path / "none")


# ---------------------------------------------------------------- published figures


def document(device, gpu, shapes="1.7b"):
    results = {
        "ttfa_ms": {"p50": 10.0},
        "audible_ms": {"p95": 20.0},
        "rtf": {"mean": 0.05},
        "audio_s_per_s": 20.0,
    }
    one = {
        "engine": {"flags": {"mode": "graph"}, "ramp": [1, 2, 4]},
        "load": {"kind": "closed", "c": 1, "rps": None},
        "results": results,
        "weights": "random",
    }
    other = {**one, "load": {"kind": "open", "c": None, "rps": 10.0}}
    return {
        "device": device,
        "gpu": None if gpu is None else {"name": gpu},
        "model": {"shapes": shapes},
        "measurements": [one, other],
    }


def quotients(rows):
    return {(row[0], row[3]): row[7] for row in rows if row[7]}


def test_the_same_gpu_and_size_are_set_against_each_other():
    rows = beside(document("cuda", "NVIDIA H100 80GB HBM3"))
    found = quotients(rows)
    assert found["vLLM-Omni 0.28.0", "c=1"] == "2.70"
    assert found["Nari Qwen3-TTS", "10 req/s, p95 audible"] == "1.71"
    assert ("M* 643d958", "c=1") not in found  # another size
    assert ("SGLang-Omni 0.1.5", "c=8") not in found  # no such load was run


@pytest.mark.parametrize(("device", "gpu"), [("cpu", None), ("cuda", "NVIDIA H200"), ("cuda", None)])
def test_a_cpu_and_another_gpu_are_never_ranked(device, gpu):
    rows = beside(document(device, gpu))
    assert quotients(rows) == {}
    assert len(rows) == 2 + len(PUBLISHED)
    assert rows[0][2] == ("CPU" if device == "cpu" else gpu or "unknown GPU")


def test_every_published_figure_has_a_gpu_and_a_source():
    for figure in PUBLISHED:
        assert figure.gpu
        assert figure.source
        assert any(v is not None for v in (figure.ttfa_ms, figure.rtf, figure.audio_s_per_s))
    assert isinstance(PUBLISHED[0], Published)


def test_names_of_gpus():
    assert is_same_gpu("NVIDIA GeForce RTX 4090", "RTX 4090")
    assert not is_same_gpu("NVIDIA GeForce RTX 4090 D", "RTX 5090")
    assert not is_same_gpu("NVIDIA H200", "H100")


# ---------------------------------------------------------------- judging


class Hearing:
    name = "ears"

    def transcribe(self, clip, intervals, *, language=None):
        from refprep.types import Origin, Transcript, Word

        assert all(span.duration_s <= 30 for span in intervals)
        words = tuple(Word(w, None, 1.0) for w in "one two three five".split())
        return Transcript("one two three five", "en", 1.0, words, Origin.ASR, self.name)


class Likeness:
    name, dim = "likeness", 2

    def embed(self, clip, speech):
        import types

        import numpy as np

        level = float(clip.samples[0])
        return types.SimpleNamespace(vector=np.array([level, (1 - level**2) ** 0.5], np.float32))


def test_words_and_voices_are_judged_after_the_window():
    import numpy as np

    audio = {
        "c1/0/0": np.ones(24_000 * 40, np.float32),
        "c8/0/0": np.full(2400, 0.6, np.float32),
        "none": np.zeros(1, np.float32),
    }
    found = [
        {"load": {"kind": kind, "c": c}, "results": {"wer": None, "sim_c1": None}}
        for kind, c in (("closed", 1), ("closed", 8), ("open", None))
    ]
    Judge(Hearing(), Likeness()).judge(found, audio, ["one two three four"])
    one, eight, arriving = (m["results"] for m in found)
    assert one == {"wer": {"model": "ears", "mean": 0.25}, "sim_c1": None}
    assert eight["sim_c1"] == {"encoder": "likeness", "mean": pytest.approx(0.6)}
    assert arriving == {"wer": None, "sim_c1": None}


def test_noise_is_not_judged():
    with pytest.raises(UsageError, match="speak noise"):
        run_synth(plan(), asr="whisper-base")
