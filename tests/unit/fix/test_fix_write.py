"""A run that fixes: what is written, what is refused, and that a second lint finds nothing of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fix_kit import CONFIG, RATE_HZ, WORDS, World, fix, lint, phrases
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refprep.linter.rule import Severity
from refprep.manifest import Utterance, read_utterances
from refprep.pipeline.decode import decode_file
from refprep.types import Span

SAID = " ".join(WORDS)
TWO = ("Before winter came they carried dry wood", "from every forest of the land")


def rows_of(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "utterances.jsonl").read_text("utf-8").splitlines()]


def relinted(world: World, folder: Path) -> list[set[str]]:
    """Codes of both ways to lint a folder again; they agree."""
    found = [
        [{f.code for f in r.findings} for r in lint(world, read_utterances([path]))]
        for path in (folder, folder / "utterances.jsonl")
    ]
    assert sorted(map(sorted, found[0])) == sorted(map(sorted, found[1]))
    return found[1]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (" ".join(WORDS[:6]), "RP101"),
        (" ".join(WORDS[4:]), "RP102"),
        (" ".join([*WORDS[:3], *WORDS[5:]]), "RP103"),
        (SAID + " thank you for listening", "RP104"),
        ("", "RP101"),
    ],
)
def test_a_safe_fix_mends_the_text_and_keeps_every_sample(tmp_path, text, code):
    world = World()
    path = world.add(tmp_path / "clips", "a.wav", phrases(SAID))
    before = path.read_bytes()
    ran = fix(world, [Utterance(path, text, "en")], tmp_path / "fixed")
    (report,) = ran.reports
    assert report.fixed == (code,)
    assert report.fixed_to == str(tmp_path / "fixed" / "a.wav")
    assert report.left == ()
    assert (tmp_path / "fixed" / "a.txt").read_text("utf-8") == f"{SAID}\n"
    assert np.array_equal(decode_file(tmp_path / "fixed/a.wav").samples, decode_file(path).samples)
    assert path.read_bytes() == before
    assert relinted(world, tmp_path / "fixed") == [set()]


def test_long_edges_are_trimmed_to_a_fifth_of_a_second_and_the_rest_is_bit_identical(tmp_path):
    world = World()
    path = world.add(tmp_path, "a.wav", phrases(SAID, start_s=2.0), duration_s=9.0)
    ran = fix(world, [Utterance(path, " ".join(WORDS[:7]), "en")], tmp_path / "fixed")
    assert ran.reports[0].fixed == ("RP101", "RP205")
    copy, whole = decode_file(tmp_path / "fixed/a.wav"), decode_file(path)
    start = round(1.8 * RATE_HZ)
    assert np.array_equal(copy.samples, whole.samples[start : start + copy.num_samples])
    assert copy.duration_s == pytest.approx(4.4, abs=0.03)
    (row,) = rows_of(tmp_path / "fixed")
    assert row["cut_start_s"] == pytest.approx(1.8, abs=0.02)
    assert row["cut_end_s"] == pytest.approx(2.8, abs=0.02)
    assert row["cut_start_s"] + row["cut_end_s"] + row["duration_s"] == pytest.approx(9.0)
    assert relinted(world, tmp_path / "fixed") == [set()]


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [
        ("Printing in the only sense with which we are concerned", "RP105", SAID),
        (SAID.replace("winter", "elephant"), "RP106", SAID),
        (None, "RP108", SAID),
    ],
)
def test_the_recognisers_own_text_waits_to_be_asked_for(tmp_path, text, code, expected):
    world = World()
    path = world.add(tmp_path, "a.wav", phrases(SAID))
    pairs = [Utterance(path, text, "en")]
    ran = fix(world, pairs, tmp_path / "fixed")
    assert ran.reports[0].fixed == ()
    assert ran.counts == (0, 0, 1)
    assert not ran.refusals
    assert not (tmp_path / "fixed").exists()
    ran = fix(world, pairs, tmp_path / "fixed", unsafe=True)
    assert ran.reports[0].fixed == (code,)
    assert (tmp_path / "fixed/a.txt").read_text("utf-8").strip() == expected
    assert relinted(world, tmp_path / "fixed") == [set()]


def test_a_safe_fix_leaves_the_other_word_beside_it_as_the_user_wrote_it(tmp_path):
    world = World()
    path = world.add(tmp_path, "a.wav", phrases(SAID))
    text = " ".join(WORDS[:7]).replace("winter", "elephant")
    ran = fix(world, [Utterance(path, text, "en")], tmp_path / "fixed")
    assert ran.reports[0].fixed == ("RP101",)
    assert [f.code for f in ran.reports[0].left] == ["RP106"]
    assert ran.counts == (1, 0, 1)
    assert "elephant" in (tmp_path / "fixed/a.txt").read_text("utf-8")


def test_an_ignored_finding_is_not_mended(tmp_path):
    world = World()
    path = world.add(tmp_path, "a.wav", phrases(SAID, start_s=2.0))
    pair = Utterance(path, " ".join(WORDS[:7]), "en", extra={"ignore": {"RP205": "room tone is wanted"}})
    fix(world, [pair], tmp_path / "fixed")
    assert decode_file(tmp_path / "fixed/a.wav").num_samples == decode_file(path).num_samples
    assert rows_of(tmp_path / "fixed")[0]["ignore"] == {"RP205": "room tone is wanted"}
    assert relinted(world, tmp_path / "fixed") == [set()]


def test_voice_without_words_is_cut_at_the_pause_before_it_when_asked(tmp_path):
    world = World()
    said = phrases(SAID)
    laugh = Span(said[-1][2] + 0.4, said[-1][2] + 1.5)
    path = world.add(tmp_path, "a.wav", said, duration_s=laugh.end_s + 0.3, voice=[laugh])
    pairs = [Utterance(path, " ".join(WORDS[:7]), "en")]
    ran = fix(world, pairs, tmp_path / "fixed")
    assert ran.counts == (0, 1, 0)
    assert "the corrected copy would have RP107" in ran.refusals[str(path)]
    assert not (tmp_path / "fixed").exists()
    ran = fix(world, pairs, tmp_path / "fixed", unsafe=True)
    assert ran.reports[0].fixed == ("RP101",)
    copy = decode_file(tmp_path / "fixed/a.wav")
    assert said[-1][2] <= copy.duration_s <= laugh.start_s
    assert copy.duration_s == pytest.approx(said[-1][2] + 0.2, abs=0.03)
    assert (tmp_path / "fixed/a.txt").read_text("utf-8").strip() == SAID
    assert relinted(world, tmp_path / "fixed") == [set()]


def test_a_clip_that_ends_within_a_word_is_cut_at_its_last_pause_and_loses_the_words_after_it(tmp_path):
    world = World()
    said = phrases(*TWO)
    path = world.add(tmp_path, "a.wav", said, duration_s=said[-1][2] - 0.1)
    pairs = [Utterance(path, " ".join(TWO), "en")]
    assert fix(world, pairs, tmp_path / "fixed").counts == (0, 0, 1)
    ran = fix(world, pairs, tmp_path / "fixed", unsafe=True)
    assert ran.reports[0].fixed == ("RP209",)
    assert (tmp_path / "fixed/a.txt").read_text("utf-8").strip() == TWO[0]
    copy = decode_file(tmp_path / "fixed/a.wav")
    assert np.array_equal(copy.samples, decode_file(path).samples[: copy.num_samples])
    assert copy.duration_s == pytest.approx(said[6][2] + 0.2, abs=0.03)
    assert relinted(world, tmp_path / "fixed") == [set()]


def test_without_a_pause_there_is_no_cut_and_the_reason_is_said(tmp_path):
    world = World()
    said = phrases(SAID)
    path = world.add(tmp_path, "a.wav", said, duration_s=said[-1][2] - 0.1)
    ran = fix(world, [Utterance(path, SAID, "en")], tmp_path / "fixed", unsafe=True)
    assert ran.counts == (0, 1, 0)
    assert "no pause" in ran.refusals[str(path)]
    assert not (tmp_path / "fixed").exists()


def test_a_copy_that_would_still_fail_is_not_written(tmp_path):
    """The text can be completed, but two rows disagree about who speaks, and no fix knows who is right."""
    world = World()
    path = world.add(tmp_path, "a.wav", phrases(SAID))
    pairs = [
        Utterance(path, SAID, "en", "vctk/en/f/p225", "m:1"),
        Utterance(path, " ".join(WORDS[:7]), "en", "vctk/en/m/p225", "m:2"),
    ]
    config = replace(CONFIG, lint=replace(CONFIG.lint, select=("RP1", "RP305")))
    ran = fix(world, pairs, tmp_path / "fixed", config=config)
    assert ran.counts == (0, 1, 0)
    assert "RP305" in ran.refusals[str(path)]
    never = replace(config, lint=replace(config.lint, fail_on="never"))
    assert fix(world, pairs, tmp_path / "fixed", config=never).counts == (1, 0, 0)


def test_a_warning_fails_a_copy_where_it_fails_the_run(tmp_path):
    world = World()
    path = world.add(tmp_path, "a.wav", phrases(SAID))
    text = " ".join(WORDS[:7]).replace("winter", "elephant")
    config = replace(CONFIG, lint=replace(CONFIG.lint, fail_on="warning"))
    ran = fix(world, [Utterance(path, text, "en")], tmp_path / "fixed", config=config)
    assert ran.counts[:2] == (0, 1)
    assert "RP106" in ran.refusals[str(path)]


def test_rows_keep_what_was_known_of_a_pair_and_say_what_became_of_it(tmp_path):
    world = World()
    path = world.add(tmp_path, "a.wav", phrases(SAID, start_s=2.0))
    extra = {
        "licence": "CC0",
        "source": "tape.wav",
        "start_s": 10.0,
        "end_s": 20.0,
        "coverage": 0.4,
        "fixed": ["RP999"],
    }
    fix(world, [Utterance(path, " ".join(WORDS[:7]), "", "vctk/en/f/p225", extra=extra)], tmp_path / "fixed")
    (row,) = rows_of(tmp_path / "fixed")
    copy = decode_file(tmp_path / "fixed/a.wav")
    assert row["speaker"] == "vctk/en/f/p225"
    assert row["language"] == "en", "what was heard: the copy need not be guessed again"
    assert row["licence"] == "CC0"
    assert row["recording"] == "tape.wav"
    assert row["source"] == str(path)
    assert row["source_sha256"] == decode_file(path).source.file_sha256
    assert row["fixed"] == ["RP101", "RP205"]
    assert row["start_s"] == pytest.approx(11.8, abs=0.02)
    assert row["end_s"] == 20.0
    assert row["pcm_sha256"] == copy.id
    assert row["coverage"] == 1.0
    assert row["duration_s"] == pytest.approx(copy.duration_s, abs=1e-6)


def test_what_is_wrong_with_a_container_is_not_mended_by_a_copy(tmp_path):
    world = World()
    path = world.add(tmp_path, "a.flac", phrases(SAID))  # WAV, whatever its name says
    config = replace(CONFIG, lint=replace(CONFIG.lint, select=("RP0", "RP1")))
    ran = fix(world, [Utterance(path, " ".join(WORDS[:7]), "en")], tmp_path / "fixed", config=config)
    assert ran.reports[0].fixed == ("RP101",)
    assert [f.code[:3] for f in ran.reports[0].left] == ["RP0"]


def test_clips_of_one_name_get_numbers_and_odd_names_get_plain_ones(tmp_path):
    world = World()
    paths = [
        world.add(tmp_path / folder, name, phrases(SAID))
        for folder, name in (("a", "x.wav"), ("b", "X.wav"), ("c", ".x.wav"))
    ]
    fix(world, [Utterance(p, " ".join(WORDS[:7]), "en") for p in paths], tmp_path / "fixed")
    names = sorted(p.name for p in (tmp_path / "fixed").iterdir() if p.suffix == ".wav")
    assert names == ["X-2.wav", "x-3.wav", "x.wav"]
    assert len({n.casefold() for n in names}) == 3
    assert len(relinted(world, tmp_path / "fixed")) == 3


def test_clean_pairs_and_pairs_without_a_fix_are_not_copied(tmp_path):
    world = World()
    good = world.add(tmp_path, "good.wav", phrases(SAID))
    bad = world.add(tmp_path, "bad.wav", phrases(SAID))
    (tmp_path / "broken.wav").write_bytes(b"no audio")
    pairs = [
        Utterance(good, SAID, "en"), Utterance(bad, " ".join(WORDS[:7]), "en"),
        Utterance(tmp_path / "broken.wav", SAID, "en"), Utterance(tmp_path / "gone.wav", None),
    ]  # fmt: skip
    ran = fix(world, pairs, tmp_path / "fixed", unsafe=True)
    assert ran.counts == (1, 0, 0)
    assert sorted(p.name for p in (tmp_path / "fixed").iterdir()) == [
        "bad.txt",
        "bad.wav",
        "utterances.jsonl",
    ]


def test_a_pair_that_is_refused_leaves_nothing_behind(tmp_path):
    world = World()
    said = phrases(SAID)
    loud = world.add(tmp_path, "loud.wav", said, duration_s=said[-1][2] - 0.1)
    bad = world.add(tmp_path, "bad.wav", phrases(SAID))
    pairs = [Utterance(loud, SAID, "en"), Utterance(bad, " ".join(WORDS[:7]), "en")]
    fix(world, pairs, tmp_path / "fixed", unsafe=True)
    assert sorted(p.name for p in (tmp_path / "fixed").iterdir()) == [
        "bad.txt",
        "bad.wav",
        "utterances.jsonl",
    ]


def test_without_write_nothing_appears_and_the_same_is_found(tmp_path):
    world = World()
    path = world.add(tmp_path / "clips", "a.wav", phrases(SAID))
    pairs = [Utterance(path, " ".join(WORDS[:7]), "en")]
    ran = fix(world, pairs, tmp_path / "fixed", write=False)
    assert ran.counts == (1, 0, 0)
    assert ran.reports[0].fixed_to == str(tmp_path / "fixed/a.wav")
    assert [p.name for p in tmp_path.iterdir()] == ["clips"]


def test_a_run_that_fails_leaves_the_earlier_folder_whole(tmp_path):
    world = World()
    path = world.add(tmp_path / "clips", "a.wav", phrases(SAID))
    pairs = [Utterance(path, " ".join(WORDS[:7]), "en")]
    fix(world, pairs, tmp_path / "fixed")
    before = {p.name: p.read_bytes() for p in (tmp_path / "fixed").iterdir()}

    class Breaks(World):
        def align(self, clip, text, *, language):
            if text == SAID:
                raise RuntimeError("the model broke")
            return super().align(clip, text, language=language)

    broken = Breaks(clips=world.clips, voice=world.voice)
    with pytest.raises(RuntimeError):
        fix(broken, [Utterance(path, " ".join(WORDS[:5]), "en")], tmp_path / "fixed")
    assert {p.name: p.read_bytes() for p in (tmp_path / "fixed").iterdir()} == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["clips", "fixed"]


def test_a_run_without_corrections_leaves_the_earlier_folder_alone(tmp_path):
    world = World()
    path = world.add(tmp_path / "clips", "a.wav", phrases(SAID))
    fix(world, [Utterance(path, " ".join(WORDS[:7]), "en")], tmp_path / "fixed")
    before = {p.name: p.read_bytes() for p in (tmp_path / "fixed").iterdir()}
    fix(world, [Utterance(path, SAID, "en")], tmp_path / "fixed")
    assert {p.name: p.read_bytes() for p in (tmp_path / "fixed").iterdir()} == before


def test_per_file_ignores_go_by_the_place_of_the_copy(tmp_path):
    world = World()
    path = world.add(tmp_path / "clips", "a.wav", phrases(SAID))
    text = " ".join(WORDS[:7]).replace("winter", "elephant")
    lint_config = replace(CONFIG.lint, fail_on="warning", per_file_ignores={"*/fixed/*": ("RP106",)})
    ran = fix(
        world, [Utterance(path, text, "en")], tmp_path / "fixed", config=replace(CONFIG, lint=lint_config)
    )
    assert ran.counts[0] == 1


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_is_safe_keeps_speech_and_words_and_lints_clean(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("safe")
    kept = data.draw(st.lists(st.booleans(), min_size=len(WORDS), max_size=len(WORDS)))
    text = [w for w, k in zip(WORDS, kept, strict=True) if k]
    extra = data.draw(st.sampled_from([[], ["thank", "you", "for", "listening"]]))
    lead_s, trail_s = data.draw(st.floats(0.1, 2.0)), data.draw(st.floats(0.1, 2.0))
    world = World()
    said = phrases(SAID, start_s=round(lead_s, 2))
    path = world.add(folder, "a.wav", said, duration_s=said[-1][2] + trail_s)
    ran = fix(world, [Utterance(path, " ".join([*text, *extra]), "en")], folder / "fixed")
    if not ran.corrections:
        return
    (row,) = rows_of(folder / "fixed")
    whole, copy = decode_file(path), decode_file(folder / "fixed/a.wav")
    start = round(float(str(row.get("cut_start_s", 0.0))) * RATE_HZ)
    assert np.array_equal(copy.samples, whole.samples[start : start + copy.num_samples])
    assert start <= said[0][1] * RATE_HZ
    assert start + copy.num_samples >= said[-1][2] * RATE_HZ - 1
    left = str(row["text"]).split()
    remaining = iter(left)
    assert all(word in remaining for word in text), "a word that is spoken left the text"
    codes = relinted(world, folder / "fixed")[0]
    assert not codes & set(row["fixed"])
    errors = [
        f
        for r in lint(world, read_utterances([folder / "fixed"]))
        for f in r.findings
        if f.severity is Severity.ERROR
    ]
    assert not errors
