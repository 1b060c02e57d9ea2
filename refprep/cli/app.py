"""`refprep`: registers the commands and turns errors into exit codes.

0 nothing found, 1 findings, 2 the call cannot be carried out as written, 3 this machine or a remote service failed,
4 a bug in refprep, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import typer

from refprep.cli import (
    audit,
    bench,
    bench_builds,
    bench_identity,
    bench_parity,
    bench_scores,
    bench_select,
    bench_synth,
    build,
    cache,
    calibrate,
    clone,
    compare,
    doctor,
    encode,
    explain,
    export,
    lint,
    models,
    score,
    split,
    transcribe,
    verify,
)
from refprep.cli.console import err
from refprep.errors import RefprepError

app = typer.Typer(
    name="refprep",
    help="Prepare, prove and use the reference of a cloned voice.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    """Prepare, prove and use the reference of a cloned voice."""
    if version:
        from refprep import __version__

        typer.echo(f"refprep {__version__}")
        raise typer.Exit(0)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


app.command("lint")(lint.lint)
app.command("build")(build.build)
app.command("calibrate")(calibrate.calibrate)
app.command("split")(split.split)
app.command("verify")(verify.verify)
app.command("encode")(encode.encode)
app.command("clone")(clone.clone)
app.command("score")(score.score)
app.command("compare")(compare.compare)
app.command("audit")(audit.audit)
app.command("export")(export.export)
app.command("transcribe")(transcribe.transcribe)
app.command("explain")(explain.explain)
app.command("doctor")(doctor.doctor)
app.add_typer(models.app, name="models")
app.add_typer(cache.app, name="cache")
bench.app.command("identity")(bench_identity.identity)
bench.app.command("builds")(bench_builds.builds)
bench.app.command("select")(bench_select.select)
bench.app.command("scores")(bench_scores.scores)
bench.app.command("parity")(bench_parity.parity)
bench.app.command("synth")(bench_synth.synth)
app.add_typer(bench.app, name="bench")


def main() -> NoReturn:
    """Run the command line and exit with its code."""
    try:
        app(prog_name="refprep")
    except RefprepError as error:
        err(f"refprep: {error.where}: {error.what}\n  help: {error.fix}")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader went away (`refprep lint ... | head`); nothing more can be said on stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception:
        import traceback

        err(
            f"refprep: this is a bug in refprep; please report it with the lines below.\n{traceback.format_exc()}"
        )
        sys.exit(4)
    sys.exit(0)
