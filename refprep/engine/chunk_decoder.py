"""Chunks of many requests through the codec: a row of state each, one pass for those that are due together.

Rows are in one arena. A chunk alone steps through a view of its row, which copies nothing and gives to the bit what the
stream gives alone; chunks that step together read and write their rows by index, padded to the longest of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refprep.engine.codec import CodecDecoder, CodecState
from refprep.engine.side_stream import Fetched, SideStream
from refprep.engine.voice_states import VOICES_NBYTES, VoiceStates
from refprep.types import CloneMode, Samples, VoicePrompt, freeze

BUCKETS = (1, 2, 4, 8, 16, 25)
"""Chunks are padded only to others of their bucket: a frame beside one of 25 would cost 25. A captured step has these
counts, too."""

# Frames of a pass, rows times chunk. More leave a CPU's caches: eight rows of 12 frames took half as long again as one by
# one, eight rows of one frame two thirds. On a GPU they only bound the memory: 256 need 190 MB for the largest signal.
_PASS_FRAMES_CPU, _PASS_FRAMES = 8, 256


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """The next frames of a row: (n, codebooks) integers, n at least 1."""

    row: int
    frames: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class DecodedChunk:
    """Samples of a chunk, perhaps still on their way; several chunks may share ``fetched``."""

    fetched: Fetched
    index: int
    num_samples: int

    def is_ready(self) -> bool:
        """Whether ``samples`` would not wait."""
        return self.fetched.is_ready()

    def samples(self) -> Samples:
        """(n x 1920,) float32."""
        whole = self.fetched.wait()
        own = whole[self.index, : self.num_samples].numpy()
        # A copy, where whoever keeps this would keep others' audio or pinned memory with it.
        is_own = self.fetched.event is None and whole.shape[0] == 1
        return freeze(own if is_own else own.copy())


class ChunkDecoder:
    """The codec, and the state of every stream that it decodes.

    Attributes:
        decoder: That computes.
        rows_together: Whether chunks that are due together share their matrix products.
        voices: States after the references.
    """

    def __init__(
        self, decoder: CodecDecoder, *, rows_together: bool = False, voices_nbytes: int = VOICES_NBYTES
    ) -> None:
        self.decoder, self.rows_together = decoder, rows_together
        self.voices = VoiceStates(decoder, max_nbytes=voices_nbytes)
        self._pass_frames = _PASS_FRAMES_CPU if decoder.device.type == "cpu" else _PASS_FRAMES
        self._side = SideStream(decoder.device)
        with self._side.entered():
            self._blank = decoder.fresh()
            self._arena = decoder.fresh()
        self._free = [0]

    @property
    def num_rows(self) -> int:
        """Of the arena; it grows to as many streams as ever ran at once."""
        return self._arena.batch

    def prepare(self, voice: VoicePrompt | None) -> None:
        """See to it that the state after a voice's reference is there, so that no first chunk waits for it."""
        with self._side.entered():
            self._start(voice)

    def admit(self, voice: VoicePrompt | None) -> int:
        """A row for a new stream: fresh, or behind the reference where the voice speaks in context.

        Raises:
            DeviceError: The device ran out of memory.
        """
        with self._side.entered():
            start = self._start(voice)
            if not self._free:
                self._grow()
            row = self._free.pop()
            self._arena.view(row).copy_(start)
        return row

    def release(self, row: int) -> None:
        """The stream is over; what it still has in flight was enqueued before whoever gets the row next."""
        assert row not in self._free, row
        self._free.append(row)

    def decode(self, chunks: Sequence[Chunk]) -> list[DecodedChunk]:
        """Decode the next chunk of some rows, each row at most once; results are in their order.

        Raises:
            DeviceError: The device ran out of memory; the state of these rows is then undefined.
        """
        done: dict[int, DecodedChunk] = {}
        with self._side.entered():
            for group in self._groups(chunks):
                fetched = self._step([chunks[at] for at in group])
                for index, at in enumerate(group):
                    size = chunks[at].frames.shape[0] * self.decoder.samples_per_frame
                    done[at] = DecodedChunk(fetched, index, size)
        return [done[at] for at in range(len(chunks))]

    def _groups(self, chunks: Sequence[Chunk]) -> list[list[int]]:
        """Which chunks share a pass, as indices."""
        if not self.rows_together:
            return [[at] for at in range(len(chunks))]
        buckets: dict[int, list[int]] = {}
        for at, chunk in enumerate(chunks):
            count = chunk.frames.shape[0]
            buckets.setdefault(next((b for b in BUCKETS if count <= b), count), []).append(at)
        groups: list[list[int]] = []
        for bucket, members in buckets.items():
            size = max(self._pass_frames // bucket, 1)
            groups += [members[at : at + size] for at in range(0, len(members), size)]
        return groups

    def _step(self, chunks: Sequence[Chunk]) -> Fetched:
        if len(chunks) == 1:
            codes = self._side.upload(chunks[0].frames[None].astype(np.int64))
            return self._side.fetch(self.decoder.step(codes, self._arena.view(chunks[0].row)))
        counts = [chunk.frames.shape[0] for chunk in chunks]
        # One copy to the device for all three: row, new frames, then the codes themselves.
        packed = np.zeros((len(chunks), 2 + max(counts) * chunks[0].frames.shape[1]), np.int64)
        for line, chunk, count in zip(packed, chunks, counts, strict=True):
            line[:2] = chunk.row, count
            line[2 : 2 + chunk.frames.size] = chunk.frames.ravel()
        there = self._side.upload(packed)
        codes = there[:, 2:].reshape(len(chunks), max(counts), -1)
        lengths = None if min(counts) == max(counts) else there[:, 1].contiguous()
        rows = there[:, 0].contiguous()
        return self._side.fetch(self.decoder.step(codes, self._arena, lengths, rows=rows))

    def _start(self, voice: VoicePrompt | None) -> CodecState:
        if voice is None or voice.mode is not CloneMode.ICL or voice.codes is None:
            return self._blank
        return self.voices.after(voice.codes)

    def _grow(self) -> None:
        old, rows = self._arena, self._arena.batch
        self._arena = self.decoder.fresh(2 * rows)
        for row in range(rows):
            self._arena.view(row).copy_(old.view(row))
        self._free += range(2 * rows - 1, rows - 1, -1)
