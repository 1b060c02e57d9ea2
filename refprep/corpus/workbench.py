"""What builds a voice, opened once in every process: models that listen, models that know voices."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from refprep.config import Config
from refprep.identity.verifier import Verifier
from refprep.manifest import Utterance
from refprep.measure.remembered import RememberingEncoder, RememberingListener
from refprep.models.load import LazyAsr, load_vad, model_fingerprints, model_hashes
from refprep.models.store import ModelStore
from refprep.models.verifiers import load_verifiers
from refprep.pipeline.build import BuiltVoice
from refprep.pipeline.listen import Listener
from refprep.voice.build import build_voice


@dataclass(frozen=True, slots=True)
class WorkbenchSettings:
    """All that a workbench is opened from; it goes to other processes.

    Attributes:
        config: Settings.
        root: Of the model store and the cache.
        calibrations: Files of `refprep calibrate`.
        resample: Convert clips of another rate or format instead of refusing them.
    """

    config: Config
    root: Path
    calibrations: tuple[Path, ...] = ()
    resample: bool = False

    def for_jobs(self, jobs: int) -> WorkbenchSettings:
        """The same for one of several processes: they share the cores."""
        models = self.config.models
        if jobs <= 1 or models.threads:
            return self
        threads = max(1, (os.cpu_count() or 1) // jobs)
        return replace(self, config=replace(self.config, models=replace(models, threads=threads)))


class Workbench:
    """Models, loaded when they are first needed, and what builds a voice with them.

    Args:
        settings: What to open.
    """

    def __init__(self, settings: WorkbenchSettings) -> None:
        config, store = settings.config, ModelStore(settings.root)
        asr = LazyAsr(config.models, store)
        listener = Listener(load_vad(), asr, asr)
        verifiers = load_verifiers(
            config.models, store, calibrations=settings.calibrations, threshold=config.build.threshold
        )
        if config.build.cache:
            names = model_fingerprints(config.models, store)
            listener = RememberingListener(listener, settings.root, names)
            verifiers = tuple(_remembering(v, settings) for v in verifiers)
        self.listener = listener
        self.verifiers = verifiers
        self.weights = model_hashes(config.models, store)
        self._settings = settings

    def build(
        self,
        utterances: Sequence[Utterance],
        folder: Path,
        *,
        speaker: str = "",
        controls: Sequence[Utterance] = (),
        anchor: Path | None = None,
        on_step: Callable[[str], None] = lambda _: None,
    ) -> BuiltVoice:
        """Build one voice (see ``refprep.voice.build.build_voice``)."""
        return build_voice(
            utterances,
            folder,
            listener=self.listener,
            verifiers=self.verifiers,
            config=self._settings.config.build,
            speaker=speaker,
            controls=controls,
            anchor=anchor,
            resample=self._settings.resample,
            weights=self.weights,
            on_step=on_step,
        )


def _remembering(verifier: Verifier, settings: WorkbenchSettings) -> Verifier:
    config, store = settings.config, ModelStore(settings.root)
    own = replace(
        config.models, encoder=verifier.model if "@" not in verifier.model else config.models.encoder
    )
    name = model_fingerprints(own, store, asr=False, encoder=True)["encoder"]
    return replace(verifier, encoder=RememberingEncoder(verifier.encoder, settings.root, name))
