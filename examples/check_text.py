"""Hold a text against a recording from Python, and see the three witnesses.

python examples/check_text.py clip.wav "What it is said to say."
"""

from __future__ import annotations

import sys

from refprep.api import open_listener
from refprep.errors import RefprepError
from refprep.pipeline.decode import decode_file


def main(path: str, text: str) -> None:
    """Print the verdict and what it rests on."""
    clip = decode_file(path)
    check = open_listener().check(clip, text)
    print(f"verdict    {check.verdict.value} {check.reason}".rstrip())
    print(f"coverage   {check.coverage.ratio:.0%} of {check.coverage.speech_s:.2f} s of speech")
    print(f"heard      {check.heard.text}")
    print(f"should be  {check.suggested_text}")
    for word in check.alignment.words:
        print(f"  {word.span.start_s:6.2f}-{word.span.end_s:6.2f} s  {word.probability:4.2f}  {word.text}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        main(sys.argv[1], sys.argv[2])
    except RefprepError as error:
        sys.exit(f"{error.where}: {error.what}. {error.fix}")
