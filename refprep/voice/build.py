"""Clips -> a voice on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from refprep.alone import alone
from refprep.config import BuildConfig
from refprep.identity.verifier import Verifier
from refprep.manifest import Utterance
from refprep.pipeline.build import BuiltVoice, assemble_voice
from refprep.pipeline.candidate import majority
from refprep.pipeline.listen import Listener
from refprep.voice.write import require_replaceable, write_voice


def build_voice(
    utterances: Sequence[Utterance],
    folder: Path,
    *,
    listener: Listener,
    verifiers: Sequence[Verifier],
    config: BuildConfig,
    speaker: str = "",
    controls: Sequence[Utterance] = (),
    anchor: Path | None = None,
    resample: bool = False,
    weights: Mapping[str, Mapping[str, str]] | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> BuiltVoice:
    """Assemble a verified voice and write its folder (see ``refprep.pipeline.build.assemble_voice``).

    Args:
        utterances: The clips; those without a text are transcribed.
        folder: Where the voice goes; an older one is replaced in one instant, or stays if anything fails.
        listener: Voice activity, recogniser, aligner.
        verifiers: Speaker encoders with their thresholds; the first decides, every further one has to agree.
        config: Length window, gaps, threshold.
        speaker: Speaker id written into the voice; empty takes the one the manifest names.
        controls: Clips of people it must not be.
        anchor: Path of a clip that is known to be the target voice.
        resample: Convert clips of another rate or format instead of refusing them.
        weights: Model -> file -> SHA-256, written into the voice.
        on_step: Told what is being done.

    Raises:
        WeightsMissing: The recogniser was not pulled.
        NoVoiceError: No set of clips makes an admissible reference.
        UsageError: Options that do not fit together, an encoder without a threshold, a folder that is no voice, or
            one that another build is writing.
        MachineError: The disk refused, or a source changed while the voice was built.
    """
    require_replaceable(folder)
    listener.require()
    with alone(folder, what="folder"):
        voice = assemble_voice(
            utterances,
            folder,
            listener=listener,
            verifiers=verifiers,
            config=config,
            controls=controls,
            anchor=anchor,
            resample=resample,
            weights=weights,
            on_step=on_step,
        )
        on_step("write")
        named = majority([voice.candidates[i].utterance.speaker for i in voice.chosen])
        write_voice(voice, speaker=speaker or named)
    return voice
