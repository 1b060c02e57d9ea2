"""Long texts in pieces, pieces in a row."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from refprep.cloning.audio import growing_wav, pcm16, write_speech
from refprep.cloning.join import FADE_S, edge_silence_s, join_pieces
from refprep.cloning.pieces import split_pieces
from refprep.guard.budget import frame_budget

RATE = 24_000


@given(
    st.lists(
        st.sampled_from(["It rained.", "Nobody came, and nobody went;", "the end of a longer clause", "42"]),
        min_size=1,
        max_size=60,
    ),
    st.floats(2.0, 20.0),
)
def test_every_piece_fits_and_no_word_is_lost(parts, piece_s):
    text = " ".join(parts)
    pieces = split_pieces(text, "en", piece_s=piece_s)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    for piece in pieces:
        assert frame_budget(piece, "en").expected_s <= piece_s or len(piece.split()) == 1


def test_pieces_end_at_sentences_where_they_can():
    text = "The first sentence is here. The second one is a little longer than that. And a third."
    assert split_pieces(text, "en", piece_s=3.5) == (
        "The first sentence is here.",
        "The second one is a little longer than that.",
        "And a third.",
    )
    assert split_pieces(text, "en", piece_s=60.0) == (text,)


def test_a_script_without_spaces_is_cut_too():
    pieces = split_pieces("你好世界" * 100, "zh", piece_s=5.0)
    assert "".join(pieces) == "你好世界" * 100
    assert all(frame_budget(p, "zh").expected_s <= 5.0 for p in pieces)


def tone(seconds, lead_s=0.0, tail_s=0.0):
    time = np.arange(round(seconds * RATE)) / RATE
    parts = (
        np.zeros(round(lead_s * RATE)),
        0.5 * np.cos(2 * np.pi * 100 * time),
        np.zeros(round(tail_s * RATE)),
    )
    return np.concatenate(parts).astype(np.float32)


def test_one_piece_stays_as_it_is():
    piece = tone(0.5)
    assert join_pieces([piece], RATE) is piece


def test_a_join_does_not_click():
    joined = join_pieces([tone(0.5), tone(0.5)], RATE)
    inside = np.abs(np.diff(tone(0.5))).max()
    assert np.abs(np.diff(joined)).max() <= inside * 1.01
    assert abs(joined[0]) < 0.01
    assert len(joined) == 2 * len(tone(0.5)) + round(0.3 * RATE)


@pytest.mark.parametrize(("tail_s", "lead_s", "added_s"), [(0.0, 0.0, 0.3), (0.1, 0.1, 0.1), (0.2, 0.2, 0.0)])
def test_silence_that_is_there_counts_towards_the_pause(tail_s, lead_s, added_s):
    one, other = tone(0.4, tail_s=tail_s), tone(0.4, lead_s=lead_s)
    assert len(join_pieces([one, other], RATE)) == len(one) + len(other) + round(added_s * RATE)


def test_the_middle_of_a_piece_is_untouched():
    piece = tone(0.5)
    joined = join_pieces([piece, piece], RATE)
    fade = round(FADE_S * RATE)
    assert np.array_equal(joined[fade : len(piece) - fade], piece[fade : len(piece) - fade])


def test_edge_silence():
    assert edge_silence_s(tone(0.3, lead_s=0.25), RATE) == pytest.approx(0.25, abs=0.011)
    assert edge_silence_s(np.zeros(RATE, np.float32), RATE) == pytest.approx(1.0)
    assert edge_silence_s(np.zeros(0, np.float32), RATE) == 0.0


def test_pcm_rounds_and_clips():
    values = np.frombuffer(pcm16(np.array([0.0, 1.0, -1.0, 2.0, -2.0, 0.5 / 32767], np.float32)), "<i2")
    assert values.tolist() == [0, 32767, -32767, 32767, -32768, 0]


def test_a_growing_file_is_the_same_as_a_whole_one_at_the_end(tmp_path):
    samples = tone(0.7)
    digest = write_speech(tmp_path / "whole.wav", samples, RATE)
    with growing_wav(tmp_path / "grown.wav", RATE) as wav:
        wav.write(samples[:5000])
        early = (tmp_path / "grown.wav").read_bytes()
        wav.write(samples[5000:])
    grown = (tmp_path / "grown.wav").read_bytes()
    assert grown == (tmp_path / "whole.wav").read_bytes()
    assert len(early) == 44 + 2 * 5000
    assert len(digest) == 64


def test_a_growing_file_that_is_cut_off_tells_its_true_length(tmp_path):
    def write_and_fail():
        with growing_wav(tmp_path / "cut.wav", RATE) as wav:
            wav.write(tone(0.1))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_and_fail()
    assert soundfile.info(tmp_path / "cut.wav").frames == len(tone(0.1))
