"""The codec's state behind a voice's reference, kept for the next request of the voice.

Its first new sample follows on the last one of the reference, so the reference has to be decoded, and its audio is not
needed: 150 frames, 15 s of one CPU core at the real size. The state is 5.2 MB and does not depend on the reference's length.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt
import torch
from cachetools import LRUCache

from refprep.engine.codec import CodecDecoder, CodecState

VOICES_NBYTES = 256 << 20
"""Some fifty voices at the real size."""


class VoiceStates:
    """States by the content of a reference's codes; the ones used last stay, within a budget.

    Attributes:
        max_nbytes: The budget. A state beyond it is made, used and not kept.
    """

    def __init__(self, decoder: CodecDecoder, *, max_nbytes: int = VOICES_NBYTES) -> None:
        self.max_nbytes = max_nbytes
        self._decoder = decoder
        self._kept: LRUCache[bytes, CodecState] = LRUCache(max_nbytes, getsizeof=lambda state: state.nbytes)

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def nbytes(self) -> int:
        """Kept now."""
        return int(self._kept.currsize)

    def after(self, codes: npt.NDArray[np.int32]) -> CodecState:
        """The state after a reference, to be copied and never stepped.

        Args:
            codes: (frames, codebooks), checked.

        Raises:
            DeviceError: The device ran out of memory.
        """
        key = hashlib.sha256(repr((codes.shape, codes.dtype.str)).encode() + codes.tobytes()).digest()
        state = self._kept.get(key)
        if state is None:
            state = self._made(codes)
            if state.nbytes <= self.max_nbytes:
                self._kept[key] = state
        return state

    def _made(self, codes: npt.NDArray[np.int32]) -> CodecState:
        state = self._decoder.fresh()
        frames = torch.from_numpy(codes.astype(np.int64)).to(self._decoder.device)
        for chunk in torch.split(frames, self._decoder.chunk_frames):
            self._decoder.step(chunk[None], state)
        return state
