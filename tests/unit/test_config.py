"""Settings: the nearest file wins, and whatever is not known is an error."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refprep.config import BuildConfig, Config, LintConfig, ModelConfig, load_config, parse_config
from refprep.errors import ConfigError


def test_defaults_where_there_is_no_file(tmp_path):
    assert load_config(tmp_path) == Config()


def test_the_defaults_are_what_the_documentation_says():
    assert Config() == Config(
        ModelConfig("auto", "auto", "auto", 0),
        LintConfig((), (), {}, {}, False, "", "", "error", 1, True),
        BuildConfig(12.0, 30.0, 12.0, (), "zeros-120ms", "zeros-160ms", None, "", 1.0, False, "", True),
    )


def test_a_file_sets_what_it_names(tmp_path):
    (tmp_path / "refprep.toml").write_text(
        '[models]\nasr = "whisper-base"\nthreads = 4\n'
        '[lint]\nselect = ["RP1"]\nignore = ["RP106"]\nfail-on = "warning"\n'
        '[build]\nmin_s = 6\ngap = "zeros-80ms"\nthreshold = 0.8\n'
    )
    config = load_config(tmp_path)
    assert config.models == ModelConfig(asr="whisper-base", threads=4)
    assert config.lint == LintConfig(("RP1",), ("RP106",), fail_on="warning")
    assert config.build == BuildConfig(min_s=6.0, gap="zeros-80ms", threshold=0.8)
    assert isinstance(config.build.min_s, float)


def test_the_nearest_file_wins(tmp_path):
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (tmp_path / "refprep.toml").write_text('[models]\nasr = "far"\ndevice = "cpu"\n')
    assert load_config(deep).models.asr == "far"
    (tmp_path / "a" / "refprep.toml").write_text('[models]\nasr = "near"\n')
    assert load_config(deep).models == ModelConfig(asr="near")  # files are not merged


def test_pyproject_counts_where_it_has_our_table(tmp_path):
    deep = tmp_path / "package" / "src"
    deep.mkdir(parents=True)
    (tmp_path / "refprep.toml").write_text('[models]\nasr = "far"\n')
    project = tmp_path / "package" / "pyproject.toml"
    project.write_text('[project]\nname = "x"\n')
    assert load_config(deep).models.asr == "far"
    project.write_text('[tool.refprep.models]\nasr = "project"\n')
    assert load_config(deep).models.asr == "project"
    project.write_text("[tool.refprep]\n")
    assert load_config(deep) == Config(folder=str(tmp_path / "package"))
    (tmp_path / "package" / "refprep.toml").write_text('[models]\nasr = "own"\n')
    assert load_config(deep).models.asr == "own"


@pytest.mark.parametrize(
    ("content", "what", "where"),
    [
        ("[voices]\na = 1\n", "unknown section 'voices'", ""),
        ("lint = 1\n", "section 'lint'", ""),
        ("[lint]\nfail_om = 'error'\n", "unknown key 'fail_om'", " lint"),
        ("[lint]\nselect = 'RP1'\n", "'RP1' is not a list of strings", " lint.select"),
        ("[lint]\nselect = ['RP1', 2]\n", "is not a list of strings", " lint.select"),
        ("[models]\nthreads = '4'\n", "'4' is not a int", " models.threads"),
        ("[models]\nthreads = true\n", "True is not a int", " models.threads"),
        ("[models]\nthreads = 4.0\n", "4.0 is not a int", " models.threads"),
        ("[models]\nasr = 1\n", "1 is not a str", " models.asr"),
        ("[build]\nmin_s = '6'\n", "'6' is not a float", " build.min_s"),
        ("[build]\nmin_s = true\n", "True is not a float", " build.min_s"),
        ("[build]\nthreshold = 'high'\n", "'high' is not a float", " build.threshold"),
        ("[build\n", "not TOML", ""),
        ("[build]\na = 1\na = 1\n", "not TOML", ""),
    ],
)
def test_what_is_wrong_is_an_error_with_its_place(tmp_path, content, what, where):
    path = tmp_path / "refprep.toml"
    path.write_text(content)
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path)
    assert what in caught.value.what
    assert caught.value.where == f"{path}{where}"
    assert caught.value.fix
    assert caught.value.exit_code == 2


def test_known_names_are_told():
    with pytest.raises(ConfigError) as caught:
        parse_config({"lints": {}}, "x")
    assert caught.value.fix == "Known sections: models, lint, build."
    with pytest.raises(ConfigError) as caught:
        parse_config({"lint": {"fail": "x"}}, "x")
    assert (
        caught.value.fix == "Known keys: " + ", ".join(f.name for f in dataclasses.fields(LintConfig)) + "."
    )


def test_an_error_in_pyproject_names_the_table(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.refprep.lint]\nfoo = 1\n")
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path)
    assert caught.value.where == f"{tmp_path / 'pyproject.toml'} [tool.refprep] lint"


@pytest.mark.parametrize("content", ['[tool]\nrefprep = "on"\n', "tool = 1\n"])
def test_a_pyproject_whose_table_is_none_is_a_config_error(tmp_path, content):
    (tmp_path / "pyproject.toml").write_text(content)
    with pytest.raises(ConfigError):
        load_config(tmp_path)


def test_a_file_that_is_not_utf_8(tmp_path):
    (tmp_path / "refprep.toml").write_bytes(b"# caf\xe9\n")
    with pytest.raises(ConfigError, match="not TOML"):
        load_config(tmp_path)


VALUES = {
    "str": st.text(max_size=5),
    "int": st.integers(-9, 9),
    "float": st.floats(-9, 9),
    "float | None": st.floats(-9, 9),
    "bool": st.booleans(),
    "tuple[str, ...]": st.lists(st.text(max_size=3), max_size=3),
    "tuple[float, ...]": st.lists(st.floats(-9, 9), max_size=3),
    "Mapping[str, str]": st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=3),
    "Mapping[str, tuple[str, ...]]": st.dictionaries(
        st.text(max_size=3), st.lists(st.text(max_size=3), max_size=3).map(tuple), max_size=3
    ),
}
FIELDS = [
    (section.name, field.name, str(field.type))
    for section, kind in zip(
        dataclasses.fields(Config)[:3], (ModelConfig, LintConfig, BuildConfig), strict=True
    )
    for field in dataclasses.fields(kind)
]


@given(st.data())
def test_every_field_can_be_set_with_either_spelling(data):
    section, name, kind = data.draw(st.sampled_from(FIELDS))
    value = data.draw(VALUES[kind])
    written = (
        {k: list(v) if isinstance(v, tuple) else v for k, v in value.items()}
        if isinstance(value, dict)
        else value
    )
    spelled = data.draw(st.sampled_from([name, name.replace("_", "-")]))
    config = parse_config({section: {spelled: written}}, "x")
    assert getattr(getattr(config, section), name) == (tuple(value) if isinstance(value, list) else value)
    others = dataclasses.replace(
        getattr(config, section), **{name: getattr(getattr(Config(), section), name)}
    )
    assert others == getattr(Config(), section)


@pytest.mark.parametrize(
    ("text", "ignore", "per_file"),
    [
        ("[lint]\nignore = ['RP205']\n", ("RP205",), {}),
        ("[lint.ignore]\nRP205 = 'room tone is wanted'\n", ("RP205",), {}),
        ("[lint.per-file-ignores]\n'old/*' = ['RP2', 'RP303']\n", (), {"old/*": ("RP2", "RP303")}),
        ("[lint.per-file-ignores.'old/*']\nRP2 = 'tapes of 1970'\n", (), {"old/*": ("RP2",)}),
    ],
)
def test_an_ignore_is_a_list_or_a_table_with_reasons(tmp_path, text, ignore, per_file):
    (tmp_path / "refprep.toml").write_text(text)
    config = load_config(tmp_path)
    assert (config.lint.ignore, config.lint.per_file_ignores) == (ignore, per_file)
    assert config.folder == str(tmp_path)


@pytest.mark.parametrize("reason", ["''", "' '", "1", "true"])
def test_a_reason_says_something(tmp_path, reason):
    (tmp_path / "refprep.toml").write_text(f"[lint.ignore]\nRP205 = {reason}\n")
    with pytest.raises(ConfigError, match="with reasons"):
        load_config(tmp_path)


def test_a_start_that_is_relative_has_parents(tmp_path, monkeypatch):
    (tmp_path / "refprep.toml").write_text('[models]\nasr = "far"\n')
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    assert load_config(Path.cwd()).models.asr == "far"
