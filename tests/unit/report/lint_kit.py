"""Lint reports of noise: what each clip says is scripted, everything else is what the linter makes of it."""

from __future__ import annotations

import io
import wave
from collections.abc import Callable, Iterable, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import IO, Any

import numpy as np
from fakes import FakeAsr, FakeVoiceActivity, evenly

from refprep.linter.registry import select_rules
from refprep.linter.run import FileReport, run_rules
from refprep.manifest import Utterance
from refprep.pipeline.decode import decode_file
from refprep.pipeline.listen import Listener
from refprep.pipeline.quality import measure_quality
from refprep.report.lint.html import LintPage
from refprep.types import Span

SAID = "Before winter came they carried dry wood from every forest"
MODELS = {"transcriber": "fake-asr"}
VOID = {"meta", "link", "br", "hr", "img", "input", "source", "wbr"}


def write_noise(path: Path, duration_s: float, rate_hz: int = 8000) -> Path:
    """A mono 16-bit WAV of quiet noise."""
    integers = np.random.default_rng(0).integers(-3000, 3000, round(duration_s * rate_hz))
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate_hz)
        file.writeframes(integers.astype("<i2").tobytes())
    return path


def lint_noise(
    path: Path,
    text: str | None,
    said: str = SAID,
    *,
    language: str = "en",
    tail_s: float = 0.5,
    rate_hz: int = 8000,
    select: Sequence[str] = ("RP0", "RP1"),
    **known: Any,
) -> FileReport:
    """Write a clip that says what it is scripted to say, and lint it against a text."""
    script = evenly(said)
    end_s = script[-1][2] if script else 1.0
    clip = decode_file(write_noise(path, end_s + tail_s, rate_hz))
    asr = FakeAsr({clip.id: script})
    listener = Listener(FakeVoiceActivity(default=[Span(0.5, end_s)]), asr, asr)
    utterance = Utterance(path, text, language, **known)
    speech = listener.speech(clip)
    check = None if text is None else listener.check(clip, text, language=language)
    quality = measure_quality(clip, speech, text=text, language=language)
    nouns = [noun for noun in (clip.source, utterance, check, quality) if noun is not None]
    return FileReport(
        utterance=utterance,
        findings=run_rules(nouns, select_rules(tuple(select), ()), path=str(path)),
        duration_s=clip.duration_s,
        source=clip.source,
        speech=speech,
        quality=quality,
        check=check,
    )


def write_page(
    file: IO[str],
    reports: Iterable[FileReport],
    models: Callable[[], Mapping[str, str]] = lambda: MODELS,
    **limits: int,
) -> None:
    """The page pair by pair, as the command writes it; models are asked for at the end."""
    page = LintPage(file, version="1.2.3", **limits)
    for report in reports:
        page.add(report)
    page.close(models())


def page_of(reports: Iterable[FileReport], **limits: int) -> str:
    """The page as one text."""
    file = io.StringIO()
    write_page(file, reports, **limits)
    return file.getvalue()


class Node:
    """An element: its tag, attributes, children and text, in order."""

    def __init__(self, tag: str, attrs: dict[str, str | None]) -> None:
        self.tag = tag
        self.attrs = attrs
        self.content: list[Node | str] = []

    @property
    def text(self) -> str:
        return "".join(c if isinstance(c, str) else c.text for c in self.content)

    @property
    def classes(self) -> list[str]:
        return (self.attrs.get("class") or "").split()

    def all(self, tag: str = "", **wanted: str) -> list[Node]:
        """Elements below this one, by tag, class (``of``) and attributes (``data_from``)."""
        found = []
        for child in (c for c in self.content if isinstance(c, Node)):
            if (not tag or child.tag == tag) and all(
                value in child.classes if name == "of" else child.attrs.get(name.replace("_", "-")) == value
                for name, value in wanted.items()
            ):
                found.append(child)
            found += child.all(tag, **wanted)
        return found

    def one(self, tag: str = "", **wanted: str) -> Node:
        """The only such element."""
        (found,) = self.all(tag, **wanted)
        return found


class Page(HTMLParser):
    """A page as a tree; tags that do not match are an error."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("", {})
        self.open = [self.root]
        self.feed(html)
        self.close()
        assert self.open == [self.root], f"left open: {[n.tag for n in self.open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"an attribute twice in <{tag}>"
        node = Node(tag, dict(attrs))
        self.open[-1].content.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].content.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].content.append(data)


def tree(html: str) -> Node:
    return Page(html).root
