"""`python -m refprep` is the same program as `refprep`."""

from refprep.cli.app import main

main()
