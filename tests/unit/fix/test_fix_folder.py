"""Which folder may be replaced by corrected copies."""

from __future__ import annotations

import json

import pytest

from refprep.errors import UsageError
from refprep.fix.folder import MANIFEST_NAME, check_fix_folder, fix_folder


def earlier(folder):
    """As an earlier run leaves it."""
    folder.mkdir()
    for name in ("a.wav", "a.txt"):
        (folder / name).write_text("x")
    (folder / MANIFEST_NAME).write_text(json.dumps({"audio": "a.wav", "fixed": ["RP101"]}) + "\n")
    return folder


def test_a_new_an_empty_and_an_own_folder_are_taken(tmp_path):
    check_fix_folder(tmp_path / "new" / "deeper", [], {})
    (tmp_path / "empty").mkdir()
    check_fix_folder(tmp_path / "empty", [], {})
    check_fix_folder(
        earlier(tmp_path / "own"), [tmp_path / "clips" / "a.wav", tmp_path], {"--output": tmp_path / "x.txt"}
    )


@pytest.mark.parametrize(
    "spoil",
    [
        lambda f: (f / "notes.md").write_text("mine"),
        lambda f: (f / MANIFEST_NAME).unlink(),
        lambda f: (f / MANIFEST_NAME).write_text('{"audio": "a.wav", "text": "of refprep split"}\n'),
        lambda f: (f / MANIFEST_NAME).write_text("no json"),
        lambda f: (f / MANIFEST_NAME).write_text("[1]\n"),
        lambda f: (f / "sub").mkdir(),
        lambda f: (f / ".hidden").write_text("x"),
    ],
)
def test_a_folder_with_anything_else_in_it_is_refused(tmp_path, spoil):
    folder = earlier(tmp_path / "fixed")
    spoil(folder)
    before = sorted(p.name for p in folder.iterdir())
    with pytest.raises(UsageError, match="did not write"):
        check_fix_folder(folder, [], {})
    assert sorted(p.name for p in folder.iterdir()) == before


def test_the_place_of_an_input_is_refused_also_behind_a_link(tmp_path):
    clips = earlier(tmp_path / "clips")
    (tmp_path / "link").symlink_to(clips)
    for folder in (clips, tmp_path / "link", tmp_path):
        with pytest.raises(UsageError, match="being checked"):
            check_fix_folder(folder, [clips / "a.wav"], {})


def test_another_output_inside_of_it_is_refused(tmp_path):
    with pytest.raises(UsageError, match="--report names a place inside"):
        check_fix_folder(
            tmp_path / "fixed", [], {"--report": tmp_path / "fixed" / "r.html", "--output": None}
        )


def test_a_file_is_refused(tmp_path):
    (tmp_path / "fixed").write_text("x")
    with pytest.raises(UsageError, match="is no folder"):
        check_fix_folder(tmp_path / "fixed", [], {})


def test_a_link_to_an_own_folder_stays_a_link(tmp_path):
    own = earlier(tmp_path / "own")
    (tmp_path / "fixed").symlink_to(own)
    with fix_folder(tmp_path / "fixed", write=True) as (folder, rows):
        (folder / "b.wav").write_text("x")
        rows.write("{}\n")
    assert (tmp_path / "fixed").is_symlink()
    assert sorted(p.name for p in own.iterdir()) == ["b.wav", MANIFEST_NAME]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fixed", "own"]
