"""Random checkpoints: the real layout, the real ids, any widths."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from engine_kit import tiny_checkpoint
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from refprep.engine.codec import load_codec_decoder
from refprep.engine.config import RANDOM_LABEL, ModelKind, read_config
from refprep.engine.loader import open_weights
from refprep.engine.model import load_checkpoint
from refprep.engine.random_checkpoint import REAL, TINY, StackShape, configs, weights, write_random_checkpoint
from refprep.engine.random_checkpoint.toy_tokenizer import toy_tokenizer
from refprep.engine.random_checkpoint.write import _codec_tensors, _model_tensors
from refprep.errors import UsageError


def numbers(tensors):
    return sum(torch.Size(shape).numel() for shape in tensors.values())


@pytest.mark.parametrize(("size", "count"), [("0b6", 914_643_008), ("1b7", 1_928_677_440)])
def test_real_shapes_have_the_published_number_of_parameters(size, count):
    words = toy_tokenizer(REAL[size].text_rows)
    config = configs.model_config(ModelKind.BASE, size, REAL[size], words.control, words.assistant_id)
    assert numbers(_model_tensors(config)) == count


def test_the_real_codec_has_the_published_number_of_parameters():
    assert numbers(_codec_tensors(configs.codec_config(REAL["0b6"].codec))) == 170_557_441


def test_real_rows_have_the_real_ids(tmp_path):
    own = replace(TINY["0b6"], text_rows=REAL["0b6"].text_rows, text_width=8)
    write_random_checkpoint(tmp_path / "x", shapes=own)
    config = read_config(tmp_path / "x")
    assert (config.im_start_token_id, config.im_end_token_id) == (151644, 151645)
    assert (config.tts_pad_token_id, config.tts_bos_token_id, config.tts_eos_token_id) == (
        151671,
        151672,
        151673,
    )
    loaded = load_checkpoint(tmp_path / "x", device=torch.device("cpu"), dtype=torch.float32)
    role, text = loaded.tokenizer.target("Hi\n.")
    assert role == [151644, 77091, 198]
    assert text == [39, 72, 198, 13]
    assert loaded.tokenizer.instruction("!") == [151644, 872, 198, 0, 151645, 198]


def test_the_same_arguments_give_the_same_bytes_and_another_seed_others(tmp_path):
    for name, seed in (("one", 5), ("two", 5), ("three", 6)):
        write_random_checkpoint(tmp_path / name, "voice_design", "1b7", seed=seed)
    one, two, three = (open_weights(tmp_path / n).sha256() for n in ("one", "two", "three"))
    assert one == two != three


def test_shards_hold_the_same_weights(tmp_path):
    write_random_checkpoint(tmp_path / "x", max_shard_bytes=500_000)
    files = sorted(p.name for p in (tmp_path / "x").glob("model*.safetensors"))
    assert len(files) > 3
    assert files[0] == f"model-00001-of-{len(files):05d}.safetensors"
    assert all((tmp_path / "x" / f).stat().st_size < 520_000 for f in files)
    assert open_weights(tmp_path / "x").sha256() == open_weights(tiny_checkpoint("base-0.6b")).sha256()
    index = json.loads((tmp_path / "x" / "model.safetensors.index.json").read_text(encoding="utf-8"))
    assert index["metadata"]["total_size"] == 2 * numbers(
        {
            n: load.get_slice(n).get_shape()
            for load in [_opened(tiny_checkpoint("base-0.6b"))]
            for n in load.keys()
        }
    )


def _opened(folder):
    return safe_open(folder / "model.safetensors", framework="pt")


def test_own_widths_and_depths(tmp_path):
    own = replace(TINY["1b7"], talker=StackShape(48, 64, 2, 2, 1, 16))
    own = replace(own, codec=replace(own.codec, decoder_width=32, decoder_window=5))
    write_random_checkpoint(tmp_path / "x", "custom_voice", "1b7", shapes=own)
    loaded = load_checkpoint(tmp_path / "x", device=torch.device("cpu"), dtype=torch.float32)
    assert loaded.config.talker_config.hidden_size == 48
    assert loaded.config.speakers[0] == "aiden"
    decoder = load_codec_decoder(tmp_path / "x", "cpu")
    samples = decoder.decode(torch.zeros(3, 16, dtype=torch.int64))
    assert samples.shape == (3 * 1920,)


def test_a_file_is_what_safetensors_itself_writes(tmp_path):
    shapes = {"b.weight": (3, 5), "a.norm.weight": (7,), "c.bias": (1,)}
    weights.write_tensors(tmp_path / "ours", shapes, salt="s/", dtype=torch.bfloat16)
    save_file(load_file(tmp_path / "ours"), tmp_path / "theirs", metadata={"format": "pt"})
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


def test_large_tensors_come_in_pieces(monkeypatch):
    monkeypatch.setattr(weights, "LARGE", 100)
    monkeypatch.setattr(weights, "_CHUNK", 64)
    parts = list(weights.tensor_parts("x.weight", (10, 20), salt=""))
    assert [p.numel() for p in parts] == [64, 64, 64, 8]
    whole = torch.cat(parts) * 20**0.5  # scaled by the fan-in
    assert float(whole.std()) == pytest.approx(1.0, abs=0.15)


def test_it_says_that_it_is_random(tmp_path):
    write_random_checkpoint(tmp_path / "x")
    assert "random numbers" in (tmp_path / "x" / RANDOM_LABEL).read_text(encoding="utf-8")


def test_only_an_earlier_one_is_replaced(tmp_path):
    write_random_checkpoint(tmp_path / "x", seed=1)
    write_random_checkpoint(tmp_path / "x", seed=0)
    assert open_weights(tmp_path / "x").sha256() == open_weights(tiny_checkpoint("base-0.6b")).sha256()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="something other"):
        write_random_checkpoint(tmp_path / "mine")
    with pytest.raises(UsageError, match="something other"):
        write_random_checkpoint(tmp_path / "mine" / "thesis.txt")
    assert [p.name for p in tmp_path.glob("mine/*")] == ["thesis.txt"]


@pytest.mark.parametrize(("kind", "size"), [("song", "0b6"), ("base", "0.6b"), ("base", "")])
def test_an_unknown_kind_or_size_is_refused(tmp_path, kind, size):
    with pytest.raises(UsageError, match="no checkpoint is"):
        write_random_checkpoint(tmp_path / "x", kind, size)
    assert not (tmp_path / "x").exists()
