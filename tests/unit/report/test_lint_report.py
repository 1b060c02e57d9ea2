"""The lint report shows each pair: text, words, findings and sound lie where the linter says, and it is written as it comes."""

from __future__ import annotations

import base64
import gc
import io
import itertools
import wave
from dataclasses import replace
from pathlib import Path

import pytest
from lint_kit import MODELS, SAID, lint_noise, page_of, tree, write_noise, write_page

from refprep.errors import AudioDecodeError
from refprep.linter.registry import all_rules
from refprep.linter.rule import Finding, Severity
from refprep.linter.run import FileReport, run_rules
from refprep.manifest import Utterance
from refprep.report.lint.sound import LONG_RATE_HZ, LONG_S, MOST_S


def squeezed(text: str) -> str:
    return " ".join(text.split())


def unreadable(path: Path, text: str | None = "A text.") -> FileReport:
    error = AudioDecodeError("no audio stream", where=str(path), fix="Re-export it as WAV.")
    return FileReport(Utterance(path, text, "en"), run_rules([error], all_rules(), path=str(path)))


def bare(path: Path, *, has_finding: bool) -> FileReport:
    finding = Finding("RP303", "ambiguous-speaker-id", Severity.WARNING, str(path), "no corpus", "name it")
    return FileReport(Utterance(path, "Said."), (finding,) if has_finding else ())


# ---------------------------------------------------------------- the text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Before winter came they carried", "Before winter came they carried [dry wood from every forest]"),
        ("dry wood from every forest", "[Before winter came they carried] dry wood from every forest"),
        (
            "Before winter came dry wood from every forest",
            "Before winter came [they carried] dry wood from every forest",
        ),
        (SAID + " thank you for listening", SAID + " {thank you for listening}"),
        (
            SAID.replace("winter", "elephant"),
            "Before {elephant} [winter] came they carried dry wood from every forest",
        ),
        (SAID, None),
    ],
)
def test_missing_words_stand_where_they_belong_and_unsaid_ones_are_struck(tmp_path, text, written):
    page = tree(page_of([lint_noise(tmp_path / "a.wav", text)]))
    if written is None:
        assert page.one("article").classes == ["pair", "clean"]
        return
    shown = page.one(of="text")
    for put in shown.all("ins"):
        put.content[:0], put.content[len(put.content) :] = ["["], ["]"]
    for struck in shown.all("del"):
        struck.content[:0], struck.content[len(struck.content) :] = ["{"], ["}"]
    assert squeezed(shown.text) == written


def test_another_clips_text_is_struck_whole(tmp_path):
    said = "She had your dark suit in greasy wash water"
    text = "Printing, in the only sense with which we are concerned"
    shown = tree(page_of([lint_noise(tmp_path / "a.wav", text, said)])).one(of="text")
    assert squeezed(shown.one("del").text) == text
    assert squeezed(shown.one("ins").text) == said


def test_a_script_without_spaces_stays_without_spaces(tmp_path):
    report = lint_noise(
        tmp_path / "a.wav", "我们今天去学校", "我们今天去学校学习中文和数学课程", language="zh"
    )
    shown = tree(page_of([report])).one(of="text")
    assert shown.text == "我们今天去学校学习中文和数学课程"
    assert shown.one("ins").text == "学习中文和数学课程"
    assert shown.attrs["lang"] == "zh"
    assert shown.attrs["dir"] == "auto"


def test_words_play_where_the_aligner_put_them(tmp_path):
    report = lint_noise(tmp_path / "a.wav", "Before winter came they carried")
    assert report.check
    page = tree(page_of([report]))
    words = [w for w in page.one(of="text").all("span", of="word") if "data-word" in w.attrs]
    spans = [(float(w.attrs["data-from"] or ""), float(w.attrs["data-to"] or "")) for w in words]
    expected = [(w.span.start_s, w.span.end_s) for w in report.check.alignment.words]
    assert spans == [pytest.approx(e, abs=1e-3) for e in expected]
    drawn = page.one("svg", of="wave").all("g", of="spoken")
    assert [g.one("text").text for g in drawn] == [w.text for w in report.check.alignment.words]
    assert all(w.attrs["role"] == "button" and w.attrs["tabindex"] == "0" for w in words)


def test_words_without_a_place_are_listed(tmp_path):
    page = tree(page_of([lint_noise(tmp_path / "a.wav", SAID + " thank you for listening")]))
    assert [li.text for li in page.one("ul", of="unplaced").all("li")] == ["thank", "you", "for", "listening"]
    assert [s.text for s in page.one(of="text").all(of="lost")] == ["thank", "you", "for", "listening"]


def test_what_was_heard_and_what_to_write_stand_beside_it(tmp_path):
    page = tree(page_of([lint_noise(tmp_path / "a.wav", "Before winter came they carried")]))
    assert page.one("span", of="suggested").text == SAID
    assert page.one("button", of="copy").attrs["data-copy"] == SAID
    assert SAID in [squeezed(dd.text) for dd in page.all("dd")]


# ---------------------------------------------------------------- findings, picture, sound


def test_findings_lie_where_they_were_found(tmp_path):
    report = lint_noise(tmp_path / "a.wav", "Before winter came they carried", tail_s=3.0, select=["RP"])
    placed = [(k, f) for k, f in enumerate(report.findings) if f.span]
    assert len(placed) >= 2
    page = tree(page_of([report]))
    items = page.all("li", of="finding")
    assert [i.attrs["data-code"] for i in items] == [f.code for f in report.findings]
    for item, finding in zip(items, report.findings, strict=True):
        assert item.attrs["data-severity"] == finding.severity.value
        assert finding.severity.value in item.text
        assert finding.remedy[1:].rstrip(".") in item.text
        assert len(item.all("tr")) == len(finding.evidence)
    for index, finding in placed:
        assert finding.span
        place = {"data-from": f"{finding.span.start_s:.3f}", "data-to": f"{finding.span.end_s:.3f}"}
        mark = page.one("g", of="mark", data_finding=str(index))
        button = page.one("li", of="finding", data_finding=str(index)).one("button", of="link")
        assert place.items() <= mark.attrs.items()
        assert place.items() <= button.attrs.items()
        assert finding.code in mark.one("text").text


def test_speech_without_text_is_hatched(tmp_path):
    report = lint_noise(tmp_path / "a.wav", "Before winter came they carried")
    assert report.check
    assert report.duration_s
    (uncovered,) = report.check.coverage.uncovered
    wave_svg = tree(page_of([report])).one("svg", of="wave")
    hatched = wave_svg.one("rect", of="no-text")
    assert hatched.attrs["fill"] == "url(#no-text)"
    assert float((hatched.attrs["x"] or "").rstrip("%")) == pytest.approx(
        100 * uncovered.start_s / report.duration_s, abs=0.01
    )
    assert wave_svg.one("g", of="gap").attrs["data-to"] == f"{uncovered.end_s:.3f}"
    assert len(wave_svg.all("rect", of="voice")) == len(report.speech)


def test_marks_that_would_touch_take_lanes_of_their_own(tmp_path):
    report = lint_noise(tmp_path / "a.wav", "Before winter came they carried", tail_s=3.0, select=["RP"])
    lanes: dict[str | None, list[tuple[float, float]]] = {}
    for mark in tree(page_of([report])).all("g", of="mark"):
        bar = mark.one("rect", of="bar")
        left, width = (float((bar.attrs[name] or "").rstrip("%")) for name in ("x", "width"))
        if mark.one("text").attrs["text-anchor"] == "end":  # the code ends with the picture
            left, width = min(left, 84.0), 16.0
        lanes.setdefault(bar.attrs["y"], []).append((left, left + max(width, 16.0)))
    assert sum(map(len, lanes.values())) >= 3
    for lane in lanes.values():
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(sorted(lane)))


def test_the_player_holds_the_samples_at_their_rate(tmp_path):
    path = tmp_path / "a.wav"
    page = tree(page_of([lint_noise(path, "Before winter came they carried", rate_hz=22_050)]))
    data = base64.b64decode((page.one("audio").attrs["src"] or "").removeprefix("data:audio/wav;base64,"))
    with wave.open(io.BytesIO(data)) as player, wave.open(str(path)) as file:
        assert player.getparams() == file.getparams()
        assert player.readframes(10**6) == file.readframes(10**6)
    assert not [p for p in page.all("p", of="note") if "Played at" in p.text]


def test_a_long_clip_is_played_at_a_lower_rate_and_the_page_says_so(tmp_path):
    report = lint_noise(tmp_path / "a.wav", "Before winter came", tail_s=LONG_S, rate_hz=24_000)
    page = tree(page_of([report]))
    data = base64.b64decode((page.one("audio").attrs["src"] or "").split(",")[1])
    with wave.open(io.BytesIO(data)) as player:
        assert player.getframerate() == LONG_RATE_HZ
        assert player.getnframes() / LONG_RATE_HZ == pytest.approx(report.duration_s, abs=1e-3)
    assert "Played at 16.0 kHz; the file has 24.0 kHz." in page.one("article").text
    drawn = page.one("div", of="scroll").one("svg", of="wave")  # wider than the window
    assert float(drawn.attrs["width"] or "") == pytest.approx(36 * report.duration_s, abs=1)


def test_a_clip_that_is_too_long_is_not_decoded(tmp_path):
    report = lint_noise(tmp_path / "a.wav", "Before winter came", tail_s=MOST_S)
    (tmp_path / "a.wav").unlink()
    page = tree(page_of([report]))
    assert not page.all("audio")
    assert "longer than 300 s" in page.one("article").text


def test_a_file_that_does_not_decode_shows_its_finding(tmp_path):
    page = tree(page_of([unreadable(tmp_path / "broken.wav")]))
    pair = page.one("article")
    assert "Not readable" in pair.text
    assert "No audio stream." in pair.text
    assert "A text." in pair.text
    assert not page.all("audio")
    assert not page.all("svg", of="wave")


@pytest.mark.parametrize("fate", ["gone", "changed", "damaged"])
def test_a_file_that_is_no_longer_the_one_that_was_checked(tmp_path, fate):
    path = tmp_path / "a.wav"
    report = lint_noise(path, "Before winter came they carried")
    if fate == "gone":
        path.unlink()
    elif fate == "changed":
        write_noise(path, 1.0)
    else:
        path.write_bytes(path.read_bytes()[:900])
    page = tree(page_of([report]))
    assert not page.all("audio")
    assert "No sound:" in page.one("article").text
    assert len(page.all("li", of="finding")) == len(report.findings)
    assert page.one(of="text").one("ins").text == "dry wood from every forest"
    assert not page.all(role="button")  # nothing to play


def test_a_pair_without_a_text(tmp_path):
    page = tree(page_of([lint_noise(tmp_path / "a.wav", None)]))
    assert "No text" in page.one("article").one(of="badge").text
    assert [li.attrs["data-code"] for li in page.all("li", of="finding")] == ["RP108"]
    assert page.one("audio")
    assert not page.all("dl", of="texts")


def test_an_undecided_verdict_says_why(tmp_path):
    said = "uh"
    report = lint_noise(tmp_path / "a.wav", "Quite another matter was told here", said)
    assert report.check
    page = tree(page_of([report]))
    assert page.one("article").one(of="badge").classes[-1] == report.check.verdict.value


# ---------------------------------------------------------------- the whole page


def test_the_summary_counts(tmp_path):
    reports = [
        lint_noise(tmp_path / "a.wav", "Before winter came they carried"),
        lint_noise(tmp_path / "b.wav", SAID),
        unreadable(tmp_path / "c.wav"),
        lint_noise(tmp_path / "d.wav", None),
        bare(tmp_path / "e.wav", has_finding=True),
    ]
    page = tree(page_of(reports))
    facts = [squeezed(li.text) for li in page.one("section", of="summary").one(of="facts").all("li")]
    assert facts[:5] == ["5pairs", "4with findings", "✕ 2errors", "! 2warnings", "i 0info"]
    verdicts = [squeezed(s.text) for s in page.one("p", of="verdicts").all("span")]
    assert verdicts == ["1 do not fit", "1 fit", "2 not readable", "1 without a text"]
    assert MODELS["transcriber"] in page.one("section", of="summary").text
    codes = [o.attrs["value"] for o in page.one("select", name="code").all("option")]
    assert codes == ["", "RP001", "RP101", "RP108", "RP303"]


def test_findings_that_a_baseline_knows_are_counted(tmp_path):
    reports = [replace(bare(tmp_path / "a.wav", has_finding=False), num_known=3)] * 2
    assert "6known, left out" in tree(page_of(reports)).one("section", of="summary").text


def test_limits_are_kept_and_stated(tmp_path):
    reports = [lint_noise(tmp_path / f"{k}.wav", "Before winter came they carried") for k in range(4)]
    page = tree(page_of(reports, most_embedded=2))
    assert len(page.all("audio")) == 2
    assert [bool(a.all("audio")) for a in page.all("article")] == [True, True, False, False]
    assert "holds the sound of 2 pairs" in page.all("article")[2].text
    summary = squeezed(page.one("section", of="summary").text)
    assert "2 of 4 pairs with findings are drawn and played here." in summary
    assert "2 came after that, and stand here without their sound" in summary


def test_bytes_are_limited_too(tmp_path):
    reports = [lint_noise(tmp_path / f"{k}.wav", "Before winter came they carried") for k in range(3)]
    html = page_of(reports, most_embedded_bytes=250_000)
    page = tree(html)
    assert len(page.all("audio")) == 2
    assert sum(len(a.attrs["src"] or "") for a in page.all("audio")) <= 250_000
    assert "MiB of sound" in page.all("article")[2].text


def test_nothing_was_checked():
    page = tree(page_of([]))
    assert "No pair was checked." in page.one("main").text
    assert squeezed(page.one("section", of="summary").one(of="facts").text).startswith("0pairs")


def count_reports() -> int:
    """In memory; by type alone, since isinstance would wake what other libraries load lazily."""
    return sum(type(o) is FileReport for o in gc.get_objects())


def test_pairs_are_written_as_they_come_and_none_is_kept(tmp_path):
    file = io.StringIO()
    sizes: list[int] = []
    asked: list[int] = []

    def reports():
        for k in range(30):
            sizes.append(file.tell())
            assert count_reports() - others <= 2, "the one being written, and the one before it"
            yield bare(tmp_path / f"{k}.wav", has_finding=k % 2 == 0)

    def models():
        asked.append(len(sizes))
        return MODELS

    gc.collect()
    others = count_reports()
    write_page(file, reports(), models)
    assert sizes == sorted(set(sizes))
    assert asked == [30]  # models load while the pairs are checked
    assert [a.attrs["id"] for a in tree(file.getvalue()).all("article")] == [
        f"pair-{k}" for k in range(1, 31)
    ]


def test_the_same_reports_make_the_same_page(tmp_path):
    report = lint_noise(tmp_path / "a.wav", "Before winter came they carried")
    assert page_of([report]) == page_of([report])
