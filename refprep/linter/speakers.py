"""Who the rows of a run say they are: the claims about each speaker id, held against each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from refprep.manifest import Utterance

_GENDERS = {
    **dict.fromkeys(("f", "female", "woman", "feminine"), "f"),
    **dict.fromkeys(("m", "male", "man", "masculine"), "m"),
}
# What a row may state about a speaker, and the columns it is stated in.
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "gender": ("gender", "sex"),
    "country": ("country",),
    "corpus": ("corpus", "dataset"),
}


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A row says one thing of a speaker, an earlier row another.

    Attributes:
        what: ``gender``, ``country`` or ``corpus``.
        here: What this row says.
        there: What the first row with the id said.
        where: That row.
    """

    what: str
    here: str
    there: str
    where: str


@dataclass(frozen=True, slots=True)
class SpeakerClaim:
    """What a row says of its speaker, and where that contradicts the rows before it."""

    speaker: str
    contradictions: tuple[Contradiction, ...]


class SpeakerRoll:
    """Every speaker of a run, with the first claim of each kind.

    Args:
        utterances: Of the run, in order.
    """

    def __init__(self, utterances: Iterable[Utterance]) -> None:
        self._first: dict[tuple[str, str], tuple[str, str]] = {}
        for utterance in utterances:
            for key, what, value in _claims(utterance):
                self._first.setdefault((key, what), (value, utterance.source or str(utterance.audio)))

    def claim(self, utterance: Utterance) -> SpeakerClaim:
        """What this row says, held against the first that spoke of its speaker."""
        found: list[Contradiction] = []
        for key, what, value in _claims(utterance):
            there, where = self._first.get((key, what), (value, ""))
            if there != value:
                found.append(Contradiction(what, value, there, where))
        return SpeakerClaim(utterance.speaker, tuple(dict.fromkeys(found)))


def _claims(utterance: Utterance) -> Iterable[tuple[str, str, str]]:
    """(who, what, value). One corpus and one name is one person; so is a bare name, wherever it stands."""
    if not utterance.speaker:
        return
    parts = [p.strip() for p in utterance.speaker.split("/")]
    stated: list[tuple[str, str]] = []
    if len(parts) == 4:
        key = f"{parts[0]}/{parts[3]}".casefold()
        stated += [("country", parts[1]), ("gender", parts[2])]
    else:
        key = utterance.speaker.casefold()
    for what, columns in _COLUMNS.items():
        if what == "corpus" and len(parts) == 4:
            continue  # the id names it, and two spellings of a corpus are no two people
        if what == "country" and len(parts) == 4:
            continue  # the id's second part may be a language
        stated += [(what, str(utterance.extra[c])) for c in columns if utterance.extra.get(c)]
    for what, value in stated:
        plain = value.strip().casefold()
        if what == "gender":
            plain = _GENDERS.get(plain, "")
        if plain:
            yield key, what, plain
