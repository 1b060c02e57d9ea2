"""The isolation matrix: generator precision x reference-encoder precision x decoder precision, one clip, one text.

    1  every encoder encodes the clip: codes and states beside the exact ones, judged
    2  the exact decoder decodes every encoder's codes: who is heard
    3  every generator takes every encoder's codes: logits along given frames, and what it writes
    4  every decoder decodes what each of these wrote: one cell

The exact path is looked at first: twice the same, and a prefix of the clip the prefix of its codes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from refprep.audit.agreement import Agreement, Distance, compare_codes, compare_hidden, difference_db
from refprep.audit.codecs import FLOAT32, AuditCodec, TracingEncoder, is_exact
from refprep.audit.generators import (
    FORCED_FRAMES,
    LogitShift,
    Saying,
    logit_shift,
    no_generator,
    open_generator,
)
from refprep.audit.judge import Profile, Verdict, judge
from refprep.audit.round_trip import Likeness, RoundTrip
from refprep.types import CodeMatrix, Samples
from refprep.units import SAMPLES_PER_FRAME

CHUNK_FRAMES = 100
"""8 s: the chunk that the published MOSS processor has written into it."""
MIN_PREFIX_AGREEMENT = 0.99
"""Of the codes of a clip's first half, encoded by itself: float32 sums in another order flip near ties, and little else."""


@dataclass(frozen=True, slots=True)
class EncoderRow:
    """An encoder at one precision.

    Attributes:
        precision: Of it.
        agreement: Of its codes with the exact ones.
        distance: Of its states from the exact ones.
        verdict: Of both.
        chunked: Agreement of its chunked encode with its whole one; None for a clip of one chunk.
        audio_db: Of the exactly decoded codes against those of the exact encoder; see ``difference_db``.
        likeness: Of that audio with the reference.
    """

    precision: str
    agreement: Agreement
    distance: Distance
    verdict: Verdict
    chunked: Agreement | None
    audio_db: float | None
    likeness: tuple[Likeness, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination.

    Attributes:
        generator: Precision.
        encoder: Precision of the encoder whose codes stood in the prompt.
        decoder: Precision.
        shift: Of the logits, from generator and encoder.
        written: Agreement of what was written with what the exact pair wrote.
        decoder_db: Of this audio against that of the exact decoder, from the same codes.
        likeness: Of the audio with the reference.
    """

    generator: str
    encoder: str
    decoder: str
    shift: LogitShift
    written: Agreement
    decoder_db: float | None
    likeness: tuple[Likeness, ...]


@dataclass(frozen=True, slots=True)
class Exactness:
    """The float32 path by itself.

    Attributes:
        repeats: Whether a second run gave the same codes.
        prefix: Agreement of the first half's codes with the whole clip's; None for a clip of one frame.
    """

    repeats: bool
    prefix: float | None

    @property
    def passed(self) -> bool:
        """Whether anything can be held against it."""
        return self.repeats and (self.prefix is None or self.prefix >= MIN_PREFIX_AGREEMENT)


@dataclass(frozen=True, slots=True)
class Audit:
    """All that was measured.

    Attributes:
        codec: Kind.
        stored: Types of the encoder's weights in the files.
        frames: Of the clip.
        chunking: What a chunked encode was.
        exactness: Of the float32 path.
        encoders: One row a precision, the exact one first.
        decoders: Precision -> level of the difference on the exact codes of the reference.
        cells: The matrix; empty without a generator.
        original: Likeness of the reference with itself, window by window.
        notes: What was left out or done otherwise, in sentences.
    """

    codec: str
    stored: tuple[str, ...]
    frames: int
    chunking: str
    exactness: Exactness
    encoders: tuple[EncoderRow, ...]
    decoders: Mapping[str, float | None]
    cells: tuple[Cell, ...] = ()
    original: tuple[Likeness, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_refused(self) -> bool:
        """Whether `refprep encode` refuses the weights as they are stored (RP501)."""
        return not is_exact(self.stored)

    @property
    def passed(self) -> bool:
        """Whether the exact path is exact, and may encode."""
        return self.exactness.passed and not self.is_refused


@dataclass(frozen=True, slots=True)
class Choices:
    """Precisions to look at, the exact one first in each; no generators leaves the matrix out."""

    generators: tuple[str, ...]
    encoders: tuple[str, ...]
    decoders: tuple[str, ...]


@dataclass(slots=True)
class _Work:
    """What is computed once and used in several places."""

    codes: dict[str, CodeMatrix] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def run_audit(
    codec: AuditCodec,
    saying: Saying,
    choices: Choices,
    *,
    model: Path,
    device: str = "cpu",
    hearing: RoundTrip | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> Audit:
    """Measure everything; encoders, generators and decoders are loaded one after another, so one of each is in memory.

    Args:
        codec: Of the model.
        saying: Reference and text.
        choices: Precisions.
        model: Folder of the checkpoint.
        device: ``cpu`` or ``cuda``.
        hearing: Speaker encoders; None leaves likeness out.
        on_step: Told what is being done.

    Raises:
        RefprepError: The model cannot be loaded.
    """
    work = _Work()
    work.notes += [n for p in dict.fromkeys((*choices.encoders, *choices.decoders)) if (n := codec.note(p))]
    exact_decoder = codec.decoder(FLOAT32)

    def decode(codes: CodeMatrix) -> Samples:
        return exact_decoder.decode(torch.from_numpy(codes.astype(np.int64))).numpy()

    on_step("encoder float32")
    exact = codec.encoder(FLOAT32)
    truth = exact.trace(saying.samples)
    exactness = _exactness(exact, saying.samples, truth.codes)
    sound = decode(truth.codes)
    rows: list[EncoderRow] = []
    for precision in choices.encoders:
        on_step(f"encoder {precision}")
        encoder = exact if precision == FLOAT32 else codec.encoder(precision)
        trace = encoder.trace(saying.samples)
        work.codes[precision] = trace.codes
        agreement, distance = (
            compare_codes(truth.codes, trace.codes),
            compare_hidden(truth.hidden, trace.hidden),
        )
        chunked = None
        if len(trace.codes) > CHUNK_FRAMES:
            cut = encoder.trace(saying.samples, chunk_frames=CHUNK_FRAMES)
            chunked = compare_codes(trace.codes, cut.codes)
        heard = decode(trace.codes)
        rows.append(
            EncoderRow(
                precision,
                agreement,
                distance,
                judge(Profile(agreement, distance)),
                chunked,
                difference_db(sound, heard),
                () if hearing is None else hearing.of_reference(heard),
            )
        )
    decoders: dict[str, float | None] = {}
    for precision in choices.decoders:
        on_step(f"decoder {precision}")
        found = codec.decoder(precision).decode(torch.from_numpy(truth.codes.astype(np.int64)))
        decoders[precision] = difference_db(sound, found.numpy())
    cells: tuple[Cell, ...] = ()
    if why := no_generator(model) if choices.generators else "none was asked for":
        work.notes.append(f"no generator was looked at: {why}")
    else:
        cells = _cells(codec, saying, choices, work.codes, model, device, hearing, on_step)
    return Audit(
        codec=codec.name,
        stored=codec.stored,
        frames=len(truth.codes),
        chunking=codec.chunking,
        exactness=exactness,
        encoders=tuple(rows),
        decoders=decoders,
        cells=cells,
        original=() if hearing is None else hearing.original,
        notes=tuple(work.notes),
    )


def _exactness(exact: TracingEncoder, samples: Samples, codes: CodeMatrix) -> Exactness:
    again = exact.trace(samples).codes
    half = len(codes) // 2
    prefix = None
    if half:
        first = exact.trace(samples[: half * SAMPLES_PER_FRAME]).codes
        prefix = float((first == codes[:half]).mean())
    return Exactness(bool(np.array_equal(again, codes)), prefix)


def _cells(
    codec: AuditCodec,
    saying: Saying,
    choices: Choices,
    references: Mapping[str, CodeMatrix],
    model: Path,
    device: str,
    hearing: RoundTrip | None,
    on_step: Callable[[str], None],
) -> tuple[Cell, ...]:
    """Generators first, since they are large: each is loaded once, and gone before codes are decoded."""
    forced = references[FLOAT32][:FORCED_FRAMES]
    shifts: dict[tuple[str, str], LogitShift] = {}
    written: dict[tuple[str, str], CodeMatrix] = {}
    exact: Sequence[torch.Tensor] = ()
    for generator in choices.generators:
        on_step(f"generator {generator}")
        loaded = open_generator(model, generator, saying, device=device)
        for encoder in choices.encoders:
            on_step(f"generator {generator}, encoder {encoder}")
            logits = loaded.logits(references[encoder], forced)
            exact = exact or logits
            shifts[generator, encoder] = logit_shift(exact, logits)
            written[generator, encoder] = loaded.write(references[encoder])
        del loaded
    first = written[FLOAT32, FLOAT32]
    sounds: dict[tuple[str, str], Samples] = {}
    cells: list[Cell] = []
    for decoder in choices.decoders:
        on_step(f"decoder {decoder}")
        made = codec.decoder(decoder)
        for pair, codes in written.items():
            sound = made.decode(torch.from_numpy(codes.astype(np.int64))).numpy()
            sounds.setdefault(pair, sound)
            cells.append(
                Cell(
                    generator=pair[0],
                    encoder=pair[1],
                    decoder=decoder,
                    shift=shifts[pair],
                    written=compare_codes(first, codes),
                    decoder_db=difference_db(sounds[pair], sound),
                    likeness=() if hearing is None or not len(sound) else hearing.of_output(sound),
                )
            )
    order = {p: n for n, p in enumerate(choices.generators)}
    return tuple(
        sorted(
            cells,
            key=lambda c: (
                order[c.generator],
                choices.encoders.index(c.encoder),
                choices.decoders.index(c.decoder),
            ),
        )
    )
