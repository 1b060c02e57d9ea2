"""Outputs of a voice, scored from Python."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from refprep.config import Config
from refprep.models.load import choose_asr
from refprep.models.store import ModelStore

if TYPE_CHECKING:
    from refprep.identity.verifier import Verifier
    from refprep.pipeline.listen import Listener
    from refprep.scoring import ScoredOutput, ScoreTarget
    from refprep.types import Clip


class OutputScorer:
    """A voice and the models that score its outputs, opened once.

    Args:
        voice: Folder that `refprep build` wrote.
        controls: Audio of people it must not be; the encoder's cohort stands in where there is none.
        config: Settings; defaults when None.
        listener: Models that listen, of the caller's own; this machine's when None.
        verifiers: Speaker encoders likewise; an empty sequence scores no voice.

    Raises:
        ManifestError, AudioDecodeError, UsageError: The voice or a control cannot be used.
        WeightsMissing: A model was not pulled.
    """

    def __init__(
        self,
        voice: str | Path,
        *,
        controls: Sequence[str | Path] = (),
        config: Config | None = None,
        listener: Listener | None = None,
        verifiers: Sequence[Verifier] | None = None,
    ) -> None:
        from refprep.api import open_listener
        from refprep.api_build import calibration_paths
        from refprep.models.verifiers import load_verifiers
        from refprep.pipeline.decode import decode_file
        from refprep.scoring import open_target
        from refprep.voice.read import load_voice

        settings, store = config or Config(), ModelStore.default()
        found = load_voice(voice)
        if listener is None:
            store.path(choose_asr(settings.models, store))  # fails now rather than in the middle of the work
        self.listener: Listener = listener or open_listener(settings.models, store=store)
        if verifiers is None:
            verifiers = load_verifiers(
                settings.models,
                store,
                calibrations=calibration_paths(settings),
                threshold=settings.build.threshold,
            )
        strangers = {str(path): decode_file(path) for path in controls}
        self.target: ScoreTarget = open_target(found, self.listener, verifiers, controls=strangers)

    def score(self, output: str | Path, *, text: str | None = None, language: str = "") -> ScoredOutput:
        """Score a file (see ``refprep.scoring.score_output``).

        Raises:
            AudioDecodeError: It is no usable audio.
            TextInputError: The text has no words.
        """
        from refprep.pipeline.decode import decode_file

        return self.score_clip(decode_file(output), text=text, language=language)

    def score_clip(self, clip: Clip, *, text: str | None = None, language: str = "") -> ScoredOutput:
        """Score decoded, or just synthesised, audio likewise."""
        from refprep.scoring import score_output

        return score_output(clip, self.target, self.listener, text=text, language=language)


def score(
    outputs: Sequence[str | Path],
    voice: str | Path,
    *,
    text: str | None = None,
    language: str = "",
    controls: Sequence[str | Path] = (),
    config: Config | None = None,
) -> list[ScoredOutput]:
    """Score outputs of one text in one voice: words, leaks, voice, pace, level.

    Args:
        outputs: Audio files.
        voice: Folder that `refprep build` wrote.
        text: What they were to say; None scores all that needs no text.
        language: BCP 47 of the text; empty takes the reference's.
        controls: Audio of people it must not be.
        config: Settings; defaults when None.

    Returns:
        One for each output, in order; ``refprep.scoring.best_of`` chooses among them.

    Raises:
        ManifestError, AudioDecodeError, TextInputError, UsageError: The input cannot be used.
        WeightsMissing: A model was not pulled.
    """
    scorer = OutputScorer(voice, controls=controls, config=config)
    return [scorer.score(output, text=text, language=language) for output in outputs]
