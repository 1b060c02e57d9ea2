"""Many utterances, measured once each: in memory, from disk, in other processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import soundfile
from fakes import FakeAsr, FakeVoiceActivity, evenly

from refprep.errors import MachineError, ManifestError, UsageError
from refprep.manifest import Utterance
from refprep.measure.cache import MeasurementCache
from refprep.measure.measurement import Measurement, Parts
from refprep.measure.measurer import Measurer
from refprep.pipeline.listen import Listener
from refprep.types import Span, Transcript

TEXT = "Before winter came they carried dry wood"
SPEECH = (Span(0.5, 3.3),)


class CountingAsr(FakeAsr):
    """Hears TEXT in everything; writes a line into a log for every transcription."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self.log = log

    def transcribe(self, clip, intervals, *, language=None) -> Transcript:
        with self.log.open("a") as file:
            file.write(f"{clip.source.path}\n")
        self.scripts = {clip.id: evenly(TEXT)}
        return super().transcribe(clip, intervals, language=language)


class DyingAsr(CountingAsr):
    def transcribe(self, clip, intervals, *, language=None) -> Transcript:
        os._exit(9)


class ChoosyAsr(CountingAsr):
    def transcribe(self, clip, intervals, *, language=None) -> Transcript:
        raise UsageError("the recogniser does not know the language 'xx'", where="--language", fix="Use en.")


def open_listener(log: Path, kind: type[CountingAsr] = CountingAsr) -> Listener:
    asr = kind(log)
    return Listener(FakeVoiceActivity(default=SPEECH), asr, asr)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def clips(tmp_path: Path) -> list[Path]:
    rng = np.random.default_rng(1)
    paths = [tmp_path / f"{k}.wav" for k in range(4)]
    for path in paths:
        soundfile.write(path, rng.normal(0.0, 0.05, 64_000), 16_000)
    return paths


def heard(log: Path) -> Counter[str]:
    return Counter(Path(line).name for line in log.read_text().splitlines()) if log.exists() else Counter()


def rows(clips: list[Path], times: int = 1) -> list[Utterance]:
    return [Utterance(c, TEXT, "en", source=f"m:{k}") for k in range(times) for c in clips]


def measured(measurer: Measurer, utterances: list[Utterance]) -> list[Measurement]:
    pairs = list(measurer.measure(utterances))
    assert [u for u, _ in pairs] == utterances
    return [m for _, m in pairs]


@pytest.mark.parametrize("jobs", [1, 2])
def test_rows_of_the_same_pair_are_measured_once(clips, log, jobs):
    found = measured(Measurer(partial(open_listener, log), Parts(), jobs=jobs), rows(clips, 5))
    assert heard(log) == Counter({c.name: 1 for c in clips})
    assert [m.source.path for m in found] == [str(c) for c in clips] * 5
    assert found[:4] == found[4:8]
    assert all(m.check is not None and m.check.faults == () for m in found)
    assert found[0].models == {"voice_activity": "fake-vad", "transcriber": "fake-asr", "aligner": "fake-asr"}


def test_one_process_and_two_measure_the_same(clips, log):
    one, two = (measured(Measurer(partial(open_listener, log), Parts(), jobs=j), rows(clips)) for j in (1, 2))
    assert one == two


def test_copies_of_a_file_are_one_pair(clips, log, tmp_path):
    copy = tmp_path / "copy.wav"
    copy.write_bytes(clips[0].read_bytes())
    found = measured(Measurer(partial(open_listener, log), Parts()), rows([clips[0], copy]))
    assert sum(heard(log).values()) == 1
    assert [m.source.path for m in found] == [str(clips[0]), str(copy)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_second_run_measures_nothing(clips, log, tmp_path, jobs):
    def run() -> list[Measurement]:
        measurer = Measurer(partial(open_listener, log), Parts(), cache=MeasurementCache(tmp_path), jobs=jobs)
        return measured(measurer, rows(clips, 2))

    first = run()
    assert run() == first
    assert heard(log) == Counter({c.name: 1 for c in clips})


def test_new_content_under_an_old_name_is_measured(clips, log, tmp_path):
    """Voice caches that went by path have served the wrong voice."""
    measurer = partial(Measurer, partial(open_listener, log), Parts(), cache=MeasurementCache(tmp_path))
    before = measured(measurer(), rows(clips[:1]))
    stat = clips[0].stat()
    clips[0].write_bytes(clips[1].read_bytes())
    os.utime(clips[0], ns=(stat.st_atime_ns, stat.st_mtime_ns))
    after = measured(measurer(), rows(clips[:1]))
    assert before[0].source.file_sha256 != after[0].source.file_sha256
    assert heard(log) == {"0.wav": 2}


def test_another_text_language_or_part_is_measured(clips, log, tmp_path):
    clip = clips[0]
    cache = MeasurementCache(tmp_path)
    for utterance in (
        Utterance(clip, TEXT, "en"), Utterance(clip, TEXT + " more", "en"), Utterance(clip, TEXT, "de"),
    ):  # fmt: skip
        measured(Measurer(partial(open_listener, log), Parts(), cache=cache), [utterance])
    assert heard(log) == {"0.wav": 3}
    (bare,) = measured(Measurer(partial(open_listener, log), Parts(text=False), cache=cache), rows([clip]))
    assert bare.check is None
    assert bare.quality is not None
    assert heard(log) == {"0.wav": 3}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_does_not_decode_is_an_error_of_its_own_and_is_looked_at_again(
    clips, log, tmp_path, jobs
):
    broken = tmp_path / "broken.wav"
    broken.write_bytes(b"no audio")
    utterances = rows([clips[0], broken, tmp_path / "none.wav", tmp_path, clips[1]])
    run = partial(Measurer, partial(open_listener, log), Parts(), cache=MeasurementCache(tmp_path), jobs=jobs)
    found = measured(run(), utterances)
    assert [m.error is not None for m in found] == [False, True, True, True, False]
    broken.write_bytes(clips[2].read_bytes())
    assert measured(run(), utterances)[1].error is None


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_language_that_nobody_knows_names_its_row(clips, log, jobs):
    measurer = Measurer(partial(open_listener, log, ChoosyAsr), Parts(), jobs=jobs)
    with pytest.raises(ManifestError) as caught:
        measured(measurer, rows(clips))
    assert caught.value.where == "m:0"


def test_a_worker_that_dies_is_a_clear_error(clips, log):
    measurer = Measurer(partial(open_listener, log, DyingAsr), Parts(), jobs=2)
    with pytest.raises(MachineError, match="fewer jobs") as caught:
        measured(measurer, rows(clips))
    assert caught.value.where == "--jobs 2"


def test_few_rows_are_held_at_a_time(clips, log):
    taken = 0

    def endless():
        nonlocal taken
        for utterance in rows(clips, 100):
            taken += 1
            yield utterance

    for jobs in (1, 2):
        taken = 0
        for _ in zip(
            range(10),
            Measurer(partial(open_listener, log), Parts(), jobs=jobs).measure(endless()),
            strict=False,
        ):
            pass
        assert taken <= 10 + 4 * jobs + 2


def test_workers_end_with_a_parent_that_is_killed(clips, log, tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        "import json, os, sys\n"
        "from functools import partial\nfrom pathlib import Path\n"
        "from test_measurer import Measurer, Parts, open_listener, rows\n"
        "if __name__ == '__main__':\n"
        "    clips = [Path(p) for p in sys.argv[2:]]\n"
        "    measurer = Measurer(partial(open_listener, Path(sys.argv[1])), Parts(), jobs=2)\n"
        "    for _ in measurer.measure(rows(clips)):\n"
        "        import multiprocessing\n"
        "        print(json.dumps([p.pid for p in multiprocessing.active_children()]), flush=True)\n"
        "        import time; time.sleep(60)\n",
        encoding="utf-8",
    )
    here = Path(__file__).parents[3]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (here, here / "tests", here / "tests/unit/measure"))),
    }
    run = subprocess.Popen(
        [sys.executable, script, log, *clips], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert run.stdout is not None
    workers = json.loads(run.stdout.readline())
    assert workers
    run.kill()
    run.wait()
    run.stdout.close()
    deadline = time.monotonic() + 20
    while alive := [w for w in workers if _is_running(w)]:
        assert time.monotonic() < deadline, alive
        time.sleep(0.1)


def _is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
