"""Every way to point at audio with its text, and what is said of rows that cannot be read."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.errors import ManifestError, UsageError
from refprep.manifest import Utterance, read_utterances


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"RIFF")


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def read_one(path: Path, **options) -> Utterance:
    (found,) = read_utterances([path], **options)
    return found


def refused(path: Path, kind=ManifestError):
    with pytest.raises(kind) as caught:
        read_utterances([path])
    return caught.value


# --------------------------------------------------------------------------- single files


@pytest.mark.parametrize("suffix", [".txt", ".lab"])
def test_a_sidecar_is_the_text(tmp_path, suffix):
    touch(tmp_path / "a.wav")
    sidecar = write(tmp_path / f"a{suffix}", "\ufeff  It was.\r\n")
    assert read_one(tmp_path / "a.wav") == Utterance(tmp_path / "a.wav", "It was.", source=str(sidecar))


def test_txt_comes_before_lab_and_an_empty_one_counts(tmp_path):
    touch(tmp_path / "a.wav")
    write(tmp_path / "a.lab", "from lab")
    write(tmp_path / "a.txt", "")
    assert read_one(tmp_path / "a.wav").text == ""


def test_only_the_last_suffix_is_exchanged(tmp_path):
    touch(tmp_path / "a.b.wav")
    write(tmp_path / "a.txt", "another's")
    assert read_one(tmp_path / "a.b.wav").text is None
    write(tmp_path / "a.b.txt", "its own")
    assert read_one(tmp_path / "a.b.wav").text == "its own"


def test_a_file_without_a_text(tmp_path):
    touch(tmp_path / "a.wav")
    assert read_one(tmp_path / "a.wav") == Utterance(tmp_path / "a.wav")


def test_any_file_may_be_audio(tmp_path):
    touch(tmp_path / "strange.bin")
    assert read_one(tmp_path / "strange.bin").audio.name == "strange.bin"


def test_order_of_the_paths_is_kept(tmp_path):
    touch(tmp_path / "b.wav", tmp_path / "a.wav")
    assert [u.audio.name for u in read_utterances([tmp_path / "b.wav", tmp_path / "a.wav"])] == [
        "b.wav",
        "a.wav",
    ]


def test_a_path_that_is_not_there(tmp_path):
    error = refused(tmp_path / "nobody.wav", UsageError)
    assert error.where == str(tmp_path / "nobody.wav")


def test_the_option_text_goes_before_sidecars(tmp_path):
    touch(tmp_path / "a.wav")
    write(tmp_path / "a.txt", "sidecar")
    assert read_one(tmp_path / "a.wav", text="given") == Utterance(
        tmp_path / "a.wav", "given", source="--text"
    )
    assert read_one(tmp_path / "a.wav", text="").text == ""


@pytest.mark.parametrize("names", [("a.wav", "b.wav"), (".",), ("m.jsonl",), ("m.CSV",), ("m.list",), ()])
def test_the_option_text_goes_with_one_audio_file(tmp_path, names):
    touch(*(tmp_path / n for n in names if n != "."))
    with pytest.raises(UsageError, match="exactly one audio file") as caught:
        read_utterances([tmp_path / n for n in names], text="x")
    assert caught.value.where == "--text"


def test_the_option_text_with_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        read_utterances([tmp_path / "nobody.wav"], text="x")


def test_the_option_language_fills_what_is_not_stated(tmp_path):
    manifest = write(
        tmp_path / "m.jsonl",
        '{"audio": "a.wav", "lang": "es-AR", "text": "x"}\n{"audio": "b.wav", "spk": "s", "k": 1}\n',
    )
    one, other = read_utterances([manifest], language="de")
    assert (one.language, other.language) == ("es-AR", "de")
    assert (one.text, other.speaker, other.extra, other.source) == ("x", "s", {"k": 1}, f"{manifest}:2")


# --------------------------------------------------------------------------- JSONL


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"audio": "a.wav", "text": "x"}, ("a.wav", "x", "", "")),
        ({"audio_filepath": "a.wav", "duration": 3.5, "text": "x"}, ("a.wav", "x", "", "")),  # NeMo
        ({"path": "d/a.wav", "sentence": "x", "locale": "eu", "client_id": "c"}, ("d/a.wav", "x", "eu", "c")),
        ({"file_name": "a.wav", "transcription": "x", "lang": "fr"}, ("a.wav", "x", "fr", "")),
        ({"wav": "a.wav", "ref_text": "x", "language": " en ", "speaker": " s "}, ("a.wav", "x", "en", "s")),
        ({"audio": "a.wav"}, ("a.wav", None, "", "")),
        ({"audio": "a.wav", "text": None, "transcript": "x"}, ("a.wav", "x", "", "")),
        ({"audio": " a.wav ", "text": ""}, ("a.wav", "", "", "")),
        ({"audio": "a.wav", "text": "x", "speaker_id": 2121}, ("a.wav", "x", "", "2121")),
    ],
)
def test_jsonl_keys(tmp_path, row, expected):
    manifest = write(tmp_path / "sub" / "m.jsonl", json.dumps(row) + "\n")
    found = read_one(manifest)
    assert (found.audio, found.text, found.language, found.speaker) == (
        manifest.parent / expected[0],
        *expected[1:],
    )
    assert found.source == f"{manifest}:1"


def test_other_fields_are_kept(tmp_path):
    manifest = write(
        tmp_path / "m.ndjson",
        '{"audio": "a.wav", "text": "x", "licence": "CC0", "consent": true, "duration": 1.5}\n',
    )
    assert read_one(manifest).extra == {"licence": "CC0", "consent": True, "duration": 1.5}


def test_an_absolute_path_stays(tmp_path):
    manifest = write(tmp_path / "m.jsonl", '{"audio": "/data/a.wav"}')
    assert read_one(manifest).audio == Path("/data/a.wav")


def test_a_byte_order_mark_and_blank_lines(tmp_path):
    manifest = write(tmp_path / "m.jsonl", '\ufeff\n{"audio": "a.wav"}\r\n\n  \n{"audio": "b.wav"}')
    assert [u.source.rsplit(":", 1)[1] for u in read_utterances([manifest])] == ["2", "5"]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("{audio: a.wav}", "not JSON"),
        ('["a.wav", "x"]', "no JSON object"),
        ('"a.wav"', "no JSON object"),
        ('{"text": "x"}', "no audio column"),
        ('{"audio": ""}', "no audio column"),
        ('{"audio": null}', "no audio column"),
        ('{"audio": "a\\u0000.wav"}', "NUL"),
    ],
)
def test_a_bad_row_is_named(tmp_path, line, what):
    manifest = write(tmp_path / "m.jsonl", f'{{"audio": "a.wav"}}\n\n{line}\n')
    error = refused(manifest)
    assert what in error.what
    assert error.where == f"{manifest}:3"
    assert error.fix


@pytest.mark.parametrize("name", ["m.jsonl", "m.csv", "m.list", "metadata.csv"])
def test_a_manifest_that_is_not_utf_8(tmp_path, name):
    error = refused(write(tmp_path / name, b"audio,text\na.wav,caf\xe9\n"))
    assert (error.what, error.where) == ("not UTF-8 (byte 20)", str(tmp_path / name))


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85"])
def test_a_line_separator_inside_a_text_ends_no_row(tmp_path, separator):
    """JSON lets U+2028 stand unescaped in a string, and json.dumps(ensure_ascii=False) writes it so."""
    row = {"audio": "a.wav", "text": f"first{separator}second"}
    manifest = write(tmp_path / "m.jsonl", json.dumps(row, ensure_ascii=False) + "\n")
    assert read_one(manifest).text.split() == ["first", "second"]


@settings(deadline=None, max_examples=80)
@given(
    st.lists(
        st.tuples(
            st.text("abc/ é今", min_size=1).filter(str.strip),
            st.text(st.characters(codec="utf-8", exclude_categories=["Cs"])),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_what_is_written_as_jsonl_is_read(rows):
    with tempfile.TemporaryDirectory() as folder:
        lines = "".join(json.dumps({"audio": a, "text": t}) + "\n" for a, t in rows)
        manifest = write(Path(folder) / "m.jsonl", lines)
        found = read_utterances([manifest])
        assert [(u.audio, u.text) for u in found] == [(Path(folder) / a.strip(), t) for a, t in rows]


def test_a_manifest_without_rows_is_an_error(tmp_path):
    with pytest.raises(ManifestError, match="names no audio"):
        read_utterances([write(tmp_path / "m.jsonl", "\n\n")])


# --------------------------------------------------------------------------- CSV and TSV


@pytest.mark.parametrize(
    ("name", "delimiter"), [("m.csv", ","), ("m.csv", ";"), ("m.tsv", "\t"), ("m.csv", "|")]
)
def test_tables_with_a_header(tmp_path, name, delimiter):
    rows = [
        ("path", "text", "language", "speaker_id", "licence"),
        ("a.wav", "It was, it is.", "en", "s", "CC0"),
    ]
    content = "".join(delimiter.join(f'"{c}"' if delimiter in c else c for c in row) + "\n" for row in rows)
    manifest = write(tmp_path / name, "\ufeff" + content)
    assert read_utterances([manifest]) == [
        Utterance(tmp_path / "a.wav", "It was, it is.", "en", "s", f"{manifest}:2", {"licence": "CC0"})
    ]


def test_header_names_may_have_spaces_around(tmp_path):
    found = read_one(write(tmp_path / "m.csv", "path , text\na.wav,x\n"))
    assert (found.audio.name, found.text) == ("a.wav", "x")


def test_a_short_row_lacks_its_text(tmp_path):
    assert read_one(write(tmp_path / "m.csv", "path,text,lang\na.wav\n")).text is None


def test_an_empty_cell_says_that_nobody_knows(tmp_path):
    found = read_one(write(tmp_path / "m.csv", "path,text,lang,licence\na.wav,, ,\n"))
    assert (found.text, found.language, dict(found.extra)) == (None, "", {})


@pytest.mark.parametrize(
    ("content", "what", "line"),
    [
        ("path,text\na.wav,x\nb.wav,one, two\n", "more cells than the header", 3),
        ("name,text\na.wav,x\n", "no audio column", 2),
        ("path,text\na.wav,x\n,y\n", "no audio column", 3),
        ("path,text\na\0.wav,x\n", "NUL", 2),
    ],
)
def test_a_bad_table_row_is_named(tmp_path, content, what, line):
    manifest = write(tmp_path / "m.csv", content)
    error = refused(manifest)
    assert what in str(error)
    assert error.where == f"{manifest}:{line}"


def test_an_empty_table(tmp_path):
    assert refused(write(tmp_path / "m.csv", "")).what == "the file is empty"


def test_a_quoted_cell_over_two_lines_keeps_its_words_apart(tmp_path):
    found = read_one(write(tmp_path / "m.csv", 'path,text\na.wav,"It was the best\nof times"\n'))
    assert found.text.split() == ["It", "was", "the", "best", "of", "times"]


# --------------------------------------------------------------------------- LJSpeech


def test_ljspeech_with_three_columns_takes_the_normalised_text(tmp_path):
    touch(tmp_path / "wavs" / "LJ001-0001.wav")
    manifest = write(
        tmp_path / "metadata.csv", "LJ001-0001|In 1465|In fourteen sixty-five\n\nLJ001-0002|Plain text|\n"
    )
    one, other = read_utterances([manifest])
    assert (one.audio, one.text) == (tmp_path / "wavs" / "LJ001-0001.wav", "In fourteen sixty-five")
    assert (other.text, other.source) == ("Plain text", f"{manifest}:3")


def test_ljspeech_with_two_columns_beside_the_audio(tmp_path):
    touch(tmp_path / "a.flac")
    manifest = write(tmp_path / "metadata.csv", "\ufeffa.flac|It was, it is\nb|And so on\n")
    assert [(u.audio.name, u.text) for u in read_utterances([manifest])] == [
        ("a.flac", "It was, it is"), ("b.wav", "And so on"),
    ]  # fmt: skip


def test_a_folder_of_ljspeech_is_read_by_its_metadata(tmp_path):
    touch(tmp_path / "wavs" / "a.wav", tmp_path / "wavs" / "not_listed.wav")
    write(tmp_path / "metadata.csv", "a|It was\n")
    assert [(u.audio, u.text) for u in read_utterances([tmp_path])] == [
        (tmp_path / "wavs" / "a.wav", "It was")
    ]


def test_a_metadata_csv_with_a_header_is_a_table(tmp_path):
    manifest = write(tmp_path / "metadata.csv", "file_name,transcription\na.wav,x\n")
    found = read_one(manifest)
    assert (found.audio, found.text, found.source) == (tmp_path / "a.wav", "x", f"{manifest}:2")


@pytest.mark.parametrize("line", ["LJ001-0002", "|text", "  |text"])
def test_a_bad_ljspeech_row_is_named(tmp_path, line):
    manifest = write(tmp_path / "metadata.csv", f"LJ001-0001|text\n{line}\n")
    assert refused(manifest).where == f"{manifest}:2"


# --------------------------------------------------------------------------- GPT-SoVITS


def test_list_rows_and_their_languages(tmp_path):
    manifest = write(
        tmp_path / "train.list",
        "\ufeffout/a.wav|ana|JP|今日は|です\nb.wav|ana|zh|你好\n\nc.wav|bo|KR|안녕\nd.wav|bo|EN|Hi\ne.wav|bo|cn|好\n",
    )
    found = read_utterances([manifest])
    assert [(u.audio.name, u.speaker, u.language, u.text) for u in found] == [
        ("a.wav", "ana", "ja", "今日は|です"),
        ("b.wav", "ana", "zh", "你好"),
        ("c.wav", "bo", "ko", "안녕"),
        ("d.wav", "bo", "en", "Hi"),
        ("e.wav", "bo", "zh", "好"),
    ]
    assert found[0].audio == tmp_path / "out" / "a.wav"
    assert found[2].source == f"{manifest}:4"


@pytest.mark.parametrize("line", ["a.wav", "a.wav|ana|en"])
def test_a_bad_list_row_is_named(tmp_path, line):
    manifest = write(tmp_path / "train.list", f"b.wav|ana|en|text\n{line}\n")
    assert refused(manifest).where == f"{manifest}:2"


@pytest.mark.parametrize(
    ("name", "line"),
    [("train.list", "a\0.wav|ana|en|x"), ("metadata.csv", "a\0b|x"), ("train.list", "|ana|en|x")],
)
def test_a_path_that_is_none_is_named_in_every_kind_of_manifest(tmp_path, name, line):
    manifest = write(tmp_path / name, line + "\n")
    assert refused(manifest).where == f"{manifest}:1"


def test_no_paths_are_no_utterances():
    assert read_utterances([]) == []
