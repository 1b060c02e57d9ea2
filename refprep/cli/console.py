"""The only file that uses rich: plain lines, tables, a progress bar. Results go to stdout, the rest to stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer


def out(text: str) -> None:
    """Print a line of the result."""
    typer.echo(text)


def err(text: str) -> None:
    """Print a line for the person at the terminal."""
    typer.echo(text, err=True)


def table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """Print a table; as wide as it needs to be where nobody's terminal limits it."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # A pipe has no width, and a table cut at 80 columns would hide what a script greps for.
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 400)
    grid = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        grid.add_column(column, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell) for cell in row))  # Text: a cell with brackets is no markup
    console.print(grid)


@contextmanager
def byte_progress(description: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr while bytes arrive; nothing is drawn where stderr is no terminal.

    Args:
        description: What arrives.
        total: Bytes expected.

    Yields:
        A function to call with the bytes that arrived since the last call.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    bars = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
    )
    with bars:
        task = bars.add_task(description, total=total)
        yield lambda num_bytes: bars.advance(task, num_bytes)


@contextmanager
def steps(description: str, total: int, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """A bar on stderr while things get done; nothing is drawn when quiet or where stderr is no terminal.

    Args:
        description: What is being done.
        total: How many things.
        quiet: Draw nothing.

    Yields:
        A function to call with the name of the thing just done.
    """
    if quiet or total < 2 or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bars = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[name]}", markup=False),
        console=Console(file=sys.stderr),
        transient=True,
    )
    with bars:
        task = bars.add_task(description, total=total, name="")
        yield lambda name: bars.update(task, advance=1, name=name)


@contextmanager
def status(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """One changing line on stderr; nothing when quiet or where stderr is no terminal.

    Yields:
        A function to call with what is being done now.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(file=sys.stderr).status("") as shown:
        yield lambda doing: shown.update(Text(doing))
