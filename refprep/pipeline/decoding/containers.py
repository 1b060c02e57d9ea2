"""Which container a file is, by its content; and what a file is that holds no audio.

A name proves nothing: one public reference voice is called ``.wav`` and is an MP3. Only containers on the list
are decoded, each with its demuxer named, so that a playlist never makes the decoder open other files or URLs.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from refprep.pipeline.decoding import mpeg
from refprep.pipeline.decoding.source import Source

HEAD_BYTES = 1 << 16

_MAGIC: Final[tuple[tuple[int, bytes, str], ...]] = (
    (0, b"fLaC", "flac"),
    (0, b"OggS", "ogg"),
    (0, b"riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00", "w64"),
    (0, b".snd", "au"),
    (0, b"caff", "caf"),
    (0, b"NIST_1A\n", "nist"),
    (0, b"Creative Voice File\x1a", "voc"),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "asf"),
    (0, b"FLV\x01", "flv"),
    (0, b"#!AMR", "amr"),
    (0, b"wvpk", "wavpack"),
    (0, b"MAC ", "ape"),
    (0, b"TTA1", "tta"),
    (0, b"\x00\x00\x01\xba", "mpegps"),
    (0, b"\x0b\x77", "ac3"),
)
_RIFF_FORMS: Final = {b"WAVE": "wav", b"AVI ": "avi"}
_MP4_BOXES: Final = frozenset({b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip", b"styp", b"pnot"})

_EXTENSIONS: Final[dict[str, frozenset[str]]] = {
    suffix: frozenset(families.split())
    for suffixes, families in (
        ("wav wave bwf rf64", "wav rf64"),
        ("flac fla", "flac ogg"),
        ("ogg oga ogv ogx opus spx", "ogg"),
        ("mp3 mp2 mpga", "mp3"),
        ("m4a m4b m4v mp4 3gp 3g2 mov qt alac", "mp4 mov"),
        ("aac adts", "aac mp4"),
        ("webm weba mkv mka", "webm mkv"),
        ("avi", "avi"),
        ("aif aiff aifc", "aiff"),
        ("au snd", "au"),
        ("caf", "caf"),
        ("w64", "w64"),
        ("wma wmv asf", "asf"),
        ("flv f4v", "flv mp4"),
        ("amr", "amr"),
        ("wv", "wavpack"),
        ("ape", "ape"),
        ("tta", "tta"),
        ("ts m2ts mts", "mpegts"),
        ("mpg mpeg", "mpegps mpegts mp3"),
        ("ac3 eac3", "ac3"),
        ("voc", "voc"),
        ("sph nist", "nist"),
    )
    for suffix in suffixes.split()
}

_OTHER_FILES: Final[tuple[tuple[bytes, str], ...]] = (
    (b"version https://git-lfs", "a Git LFS pointer: the audio itself was not fetched (`git lfs pull`)"),
    (b"PK\x03\x04", "a zip archive (or an office document)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a rar archive"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"BM", "a BMP image"),
    (b"MThd", "a MIDI file: notes, no sound"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x80\x02", "a Python pickle"),
    (b"\x80\x04", "a Python pickle"),
    (b"\x80\x05", "a Python pickle"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a Windows program"),
    (b"SQLite format 3", "an SQLite database"),
    (b"#EXTM3U", "a playlist"),
    (b"{\\rtf", "an RTF document"),
)


def find_container(source: Source) -> str:
    """Name the container.

    Raises:
        AudioDecodeError: The content is no audio container; the message says what it looks like.
    """
    head = source.read_at(0, HEAD_BYTES)
    found = _sniff(head)
    if found is None and head.startswith(b"ID3"):
        # A long ID3 tag (a cover picture) can push the first frame behind the head.
        tag_bytes = mpeg.id3_size(head)
        behind = source.read_at(tag_bytes, HEAD_BYTES)
        found = _sniff(behind) if behind else None
        if found is None:
            raise source.error("an ID3 tag without any audio behind it", fix="Copy or export the file again")
    if found is None:
        raise source.error(
            f"is no audio file: it looks like {describe(head)}",
            fix="Name a WAV, FLAC, Ogg, MP3, MP4, WebM or other audio or video file",
        )
    return found


def extension_lies(path: str, container: str) -> bool:
    """Whether the name's extension belongs to another container; False for one that is missing or unknown."""
    families = _EXTENSIONS.get(PurePath(path).suffix.lower().lstrip("."))
    return families is not None and container not in families


def _sniff(head: bytes) -> str | None:
    while head.startswith(b"ID3") and 10 < mpeg.id3_size(head) < len(head):
        head = head[mpeg.id3_size(head) :]
    if head[:4] in (b"RIFF", b"RIFX"):
        return _RIFF_FORMS.get(head[8:12])
    if head[:4] in (b"RF64", b"BW64") and head[8:12] == b"WAVE":
        return "rf64"
    if head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC"):
        return "aiff"
    if head[:4] == b"\x1a\x45\xdf\xa3":
        return "webm" if b"webm" in head[:64] else "mkv"
    if head[4:8] in _MP4_BOXES:
        return "mov" if head[4:8] != b"ftyp" or head[8:12] == b"qt  " else "mp4"
    for offset, magic, container in _MAGIC:
        if head[offset:].startswith(magic):
            return container
    if len(head) > 3 * 188 and all(head[i * 188] == 0x47 for i in range(3)):
        return "mpegts"
    return mpeg.find_stream(head)


def describe(head: bytes) -> str:
    """What a file that is no audio looks like, as a noun phrase."""
    for magic, what in _OTHER_FILES:
        # "BM" and "MZ" begin words as well.
        if head.startswith(magic) and (len(magic) > 2 or _as_text(head) is None):
            return what
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "a WebP image"
    if not head.strip(b"\0"):
        return "nothing but zero bytes"
    text = _as_text(head)
    if text is None:
        return "binary data of no known kind"
    start = text.lstrip("\ufeff \t\r\n").lower()
    if start.startswith(("<!doctype html", "<html", "<head")):
        return "an HTML page (perhaps the error page of a download)"
    if start.startswith(("<?xml", "<svg")):
        return "an XML document"
    if start.startswith(("{", "[")):
        return "JSON text"
    return "plain text"


def _as_text(head: bytes) -> str | None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head.decode("utf-16", errors="ignore")
    try:
        # The head may end within a character.
        text = head[:4096].decode("utf-8", errors="strict" if len(head) < 4096 else "ignore")
    except UnicodeDecodeError:
        return None
    controls = sum(c < " " and c not in "\t\r\n\f" for c in text)
    lost = len(head[:4096]) - len(text.encode())
    return text if controls == 0 and lost < 4 else None
