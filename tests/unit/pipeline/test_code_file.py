"""The file of an entry: round trip, the same bytes every time, and no changed byte goes unnoticed."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from codes_kit import KEY, codes, entry
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load, save

from refprep.errors import IntegrityError
from refprep.pipeline.code_file import MAX_BYTES, entry_name, pack_entry, read_entry, unpack_entry

SMALL = entry(codes=codes(2, 4), speaker_embedding=np.array([1.5, -2.0], np.float32), num_samples=3000)
HERE = Path("an.safetensors")


def head_of(data: bytes) -> dict[str, object]:
    size = int.from_bytes(data[:8], "little")
    found: dict[str, object] = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["refprep"])
    return found


def with_head(data: bytes, head: object) -> bytes:
    return save(load(data), metadata={"refprep": json.dumps(head, sort_keys=True)})


@given(st.integers(0, 40), st.integers(1, 16), st.integers(0, 2**31 - 1))
def test_round_trip(frames, codebooks, seed):
    one = entry(codes=codes(frames, codebooks, seed), num_samples=frames * 1920)
    other = unpack_entry(pack_entry(one), where=HERE)
    assert np.array_equal(one.codes, other.codes)
    assert one.speaker_embedding.tobytes() == other.speaker_embedding.tobytes()
    assert (one.key, one.num_samples, one.created_by) == (other.key, other.num_samples, other.created_by)
    assert other.codes.dtype == np.int32
    assert not other.codes.flags.writeable
    assert not other.speaker_embedding.flags.writeable


def test_special_numbers_survive():
    vector = np.array([np.nan, -0.0, np.inf, 1e-45], np.float32)
    other = unpack_entry(pack_entry(entry(speaker_embedding=vector)), where=HERE)
    assert other.speaker_embedding.tobytes() == vector.tobytes()


def test_the_bytes_are_the_same_in_every_process():
    code = (
        "import hashlib; from codes_kit import entry; from refprep.pipeline.code_file import pack_entry; "
        "print(hashlib.sha256(pack_entry(entry())).hexdigest())"
    )
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"]
    digests = {subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(3)}
    assert len(digests) == 1


def test_every_changed_bit_is_noticed():
    data = pack_entry(SMALL)
    for position in range(len(data)):
        for bit in (0, 3, 7):
            changed = bytearray(data)
            changed[position] ^= 1 << bit
            try:
                found = unpack_entry(bytes(changed), where=HERE)
            except IntegrityError:
                continue
            # Blanks that pad the header may become other blanks; nothing that is read may change.
            assert pack_entry(found) == data, position


@given(st.binary(max_size=200))
def test_bytes_of_any_kind_are_refused_by_name(data):
    with pytest.raises(IntegrityError):
        unpack_entry(data, where=HERE)


@pytest.mark.parametrize("cut", [0, 7, 8, 100, -1])
def test_a_file_that_is_cut_short_is_refused(cut):
    with pytest.raises(IntegrityError):
        unpack_entry(pack_entry(SMALL)[:cut], where=HERE)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda h: h.update(layout_version=2), "another layout"),
        (lambda h: h["key"].update(device="cuda"), "SHA-256"),
        (lambda h: h.update(num_samples=1), "SHA-256"),
        (lambda h: h.pop("content_sha256"), "SHA-256"),
    ],
)
def test_changed_metadata_is_noticed(change, words):
    data = pack_entry(SMALL)
    head = head_of(data)
    change(head)
    with pytest.raises(IntegrityError, match=words):
        unpack_entry(with_head(data, head), where=HERE)


@pytest.mark.parametrize("head", [None, 3, [], "x", {}])
def test_other_metadata_is_refused(head):
    with pytest.raises(IntegrityError):
        unpack_entry(with_head(pack_entry(SMALL), head), where=HERE)


def test_other_tensors_are_refused():
    with pytest.raises(IntegrityError, match="instead of codes"):
        unpack_entry(
            save(
                {"codes": np.zeros((2, 2), np.int64)}, metadata={"refprep": json.dumps({"layout_version": 1})}
            ),
            where=HERE,
        )


def test_an_entry_lies_under_the_name_of_its_key(tmp_path):
    path = tmp_path / entry_name(SMALL.key)
    path.write_bytes(pack_entry(SMALL))
    assert read_entry(path).key == SMALL.key
    other = tmp_path / entry_name(replace(KEY, device="cuda"))
    path.rename(other)
    with pytest.raises(IntegrityError, match="its key belongs to"):
        read_entry(other)
    with pytest.raises(FileNotFoundError):
        read_entry(path)


def test_a_file_far_too_large_is_not_read(tmp_path):
    path = tmp_path / "large.safetensors"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(IntegrityError, match="larger"):
        read_entry(path)
    with pytest.raises(IntegrityError, match="cannot be read"):
        read_entry(tmp_path)


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="frames, codebooks"):
        entry(codes=np.zeros(3, np.int32))
