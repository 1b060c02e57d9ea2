"""An export appears whole or not at all, and never in place of something else."""

from __future__ import annotations

import json

import pytest
from export_kit import make_voice

from refprep.errors import IntegrityError, ManifestError, NoReferenceError, UsageError
from refprep.export import EXPORTERS, export_voice, write
from refprep.export.exporter import Exporter
from refprep.pipeline.decode import decode_file


def tree(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def voice(tmp_path):
    return make_voice(tmp_path / "voice")


def test_an_earlier_export_is_replaced_by_another_engines(voice, tmp_path):
    out = tmp_path / "exports" / "ana"
    export_voice(voice, "fish-speech", out)
    export_voice(voice, "index-tts", out)
    assert set(tree(out)) == {"export.json", "reference.wav"}
    assert [p.name for p in out.parent.iterdir()] == ["ana"]


def test_an_empty_folder_is_filled(voice, tmp_path):
    (tmp_path / "out").mkdir()
    export_voice(voice, "index-tts", tmp_path / "out")
    assert (tmp_path / "out" / "reference.wav").is_file()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda out: (out / "notes.txt").write_text("mine", encoding="utf-8"),
        lambda out: (out / "references" / "take2.wav").write_bytes(b""),
        lambda out: (out / "export.json").write_text("{}", encoding="utf-8"),
        lambda out: (out / "export.json").write_text("[1", encoding="utf-8"),
        lambda out: (out / "export.json").unlink(),
    ],
)
def test_what_is_not_only_an_export_is_left_alone(voice, tmp_path, spoil):
    out = tmp_path / "out"
    export_voice(voice, "fish-speech", out)
    spoil(out)
    before = tree(out)
    with pytest.raises(UsageError, match="nothing was overwritten"):
        export_voice(voice, "index-tts", out)
    assert tree(out) == before


def test_a_link_stays_a_link(voice, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for engine in ("fish-speech", "index-tts"):
        export_voice(voice, engine, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert set(tree(tmp_path / "real")) == {"export.json", "reference.wav"}
    assert {p.name for p in tmp_path.iterdir()} == {"voice", "real", "link"}
    (tmp_path / "real" / "more").symlink_to(voice)
    with pytest.raises(UsageError, match="more than an earlier export: more"):
        export_voice(voice, "index-tts", tmp_path / "link")


def test_neither_a_file_nor_a_voice_is_replaced(voice, tmp_path):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    before = tree(tmp_path)
    for target in (tmp_path / "file", voice, voice / "f5", tmp_path):
        with pytest.raises(UsageError):
            export_voice(voice, "f5-tts", target)
    assert tree(tmp_path) == before


def test_a_failure_leaves_the_earlier_export(voice, tmp_path, monkeypatch):
    out = tmp_path / "out"
    export_voice(voice, "f5-tts", out)
    before = tree(out)

    def broken(excerpt):
        raise RuntimeError("broken")

    whole = EXPORTERS["f5-tts"]
    monkeypatch.setitem(
        EXPORTERS, "f5-tts", Exporter(whole.takes, whole.profile, whole.layout, whole.audio_name, broken)
    )
    with pytest.raises(RuntimeError, match="broken"):
        export_voice(voice, "f5-tts", out)
    assert tree(out) == before
    assert {p.name for p in tmp_path.iterdir()} == {"voice", "out"}


def test_samples_that_did_not_survive_are_an_error(voice, tmp_path, monkeypatch):
    def careless(path, samples, rate_hz, sample_format):
        real(path, samples * 0.5, rate_hz, sample_format)

    real = write.write_wav
    monkeypatch.setattr(write, "write_wav", careless)
    with pytest.raises(IntegrityError, match="not the voice's"):
        export_voice(voice, "f5-tts", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("reference.txt", lambda b: b"Something else.\n", "reference.txt: it was changed"),
        ("reference.wav", lambda b: b[:-2] + b"\x01\x00", "reference.wav: it was changed"),
        ("voice.json", lambda b: b.replace(b"best of", b"next of"), "its text is not the one"),
        ("reference.wav", lambda b: b[:20], "reference.wav"),
    ],
)
def test_a_voice_that_was_changed_is_refused(voice, tmp_path, name, change, says):
    path = voice / name
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(NoReferenceError, match="not what was built") as caught:
        export_voice(voice, "f5-tts", tmp_path / "out")
    assert says in caught.value.what
    assert caught.value.exit_code == 1
    assert not (tmp_path / "out").exists()


def test_many_faults_are_counted_not_listed(voice, tmp_path):
    document = json.loads((voice / "voice.json").read_text(encoding="utf-8"))
    for row in document["clips"]:
        row["pcm_sha256"] = "1" * 64
    (voice / "voice.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(NoReferenceError, match="and 1 more"):
        export_voice(voice, "f5-tts", tmp_path / "out")


def test_no_voice(tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "nowhere"):
        with pytest.raises(ManifestError, match=r"no voice\.json"):
            export_voice(folder, "f5-tts", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_sources_that_are_not_here_are_notes(voice, tmp_path):
    done = export_voice(voice, "f5-tts", tmp_path / "out")
    assert len(done.notes) == 4
    assert "the source is not here" in done.notes[0]


def test_hashes_name_the_voice_and_the_files(voice, tmp_path):
    document = export_voice(voice, "ljspeech", tmp_path / "out").document
    built = json.loads((voice / "voice.json").read_text(encoding="utf-8"))
    assert document["voice"]["pcm_sha256"] == built["audio"]["pcm_sha256"]
    assert document["voice"]["text_file_sha256"] == built["text_file"]["file_sha256"]
    for row in document["clips"]:
        assert decode_file(tmp_path / "out" / row["file"]).id == row["pcm_sha256"]
