"""The programs that the pages of docs/trainers show, as they are printed, and trainers that are killed and resumed."""

import json
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Dict, List

from reasoning_gym_client import Problem
from testbed import SIZE, check, progress, same, until

ROOT = Path(__file__).parents[3]


def read_program(page: str, language: str = "python", title: str = "Train") -> str:
    """The code under a heading of docs/trainers/`page`.md."""
    text = (ROOT / "docs" / "trainers" / f"{page}.md").read_text()
    (code,) = re.findall(rf"^##+ {re.escape(title)}\n\n```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    check(f"page: at most 40 lines under {title}", len(code.splitlines()) <= 40)
    return code


def with_replacements(code: str, replacements: Dict[str, str]) -> str:
    """`replacements`: what a test has in place of a text of the page. Each of them must be there."""
    for text, here in replacements.items():
        check(f"page: {text}", text in code)
        code = code.replace(text, here)
    return code


def read_commands(code: str) -> List[List[str]]:
    """The words of each command of a shell program, without comments."""
    lines = code.replace("\\\n", " ").splitlines()
    return [words for words in (shlex.split(line, comments=True) for line in lines) if words]


def kill(program: List[str], ready: Callable[[], bool], timeout_s: float = 600) -> None:
    """Starts a program of this environment, and ends it by SIGKILL once `ready()`."""
    with Path("killed.log").open("w") as log:
        process = subprocess.Popen([sys.executable, "-P", *program], stdout=log, stderr=subprocess.STDOUT)
        end = time.monotonic() + timeout_s
        while not ready() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        alive = process.poll() is None
        process.kill()
        process.wait()
    check("SIGKILL in the middle", alive, "" if alive else Path("killed.log").read_text()[-400:])


def finish(program: List[str], timeout_s: float = 600) -> str:
    """What a program prints that runs to its end."""
    done = subprocess.run(
        [sys.executable, "-P", *program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout_s
    )
    check("ends well", done.returncode == 0, done.stdout[-400:] if done.returncode else "")
    return done.stdout


def has_reached(run: str, step: int) -> bool:
    """Whether a run, which may not exist yet, has ended this step."""
    try:
        return (progress(run)["step"] or 0) >= step
    except Problem:
        return False


MIDDLE = Path("in-the-middle")


def wait_for_kill() -> None:
    """In a program that is to be killed here; one that has resumed goes on."""
    if not MIDDLE.exists():
        MIDDLE.touch()
        time.sleep(600)


def prove_resume(run: str, program: List[str], lost: List[int], groups: int) -> None:
    """Kills and resumes a program that prints a line `[step, items]` for each step, and waits in the last one of the steps that it is
    to lose. The run ends with so many groups."""
    kill(program, MIDDLE.exists)
    before, after = read_steps(Path("killed.log").read_text()), read_steps(finish(program))
    again = sorted(before.keys() & after.keys())
    same("SIGKILL: steps that are lost and repeated", again, lost)
    same("SIGKILL: the same items again", [after[step] for step in again], [before[step] for step in again])
    counted = until(lambda: progress(run), lambda so_far: so_far["scored_groups"] >= groups)
    same("SIGKILL: nothing counts twice", (counted["groups"], counted["rollouts"]), (groups, groups * SIZE))


def read_steps(log: str) -> Dict[int, List[str]]:
    return dict(json.loads(line) for line in log.splitlines() if line.startswith("["))


#: Before a program: notes which items it takes by position, in a file for each process.
NOTE_ITEMS = """
import os
from reasoning_gym_client import Positions
take = Positions.take
def take_noted(self, rows):
    items = take(self, rows)
    with open(f"items-{os.getpid()}", "a") as file:
        file.writelines(f"{row} {item['id']}\\n" for row, item in zip(rows, items))
    return items
Positions.take = take_noted
"""


def read_items() -> Dict[str, str]:
    """The items by position that the programs have noted since the last call."""
    files = list(Path().glob("items-*"))
    noted = dict(line.split(" ") for file in files for line in file.read_text().splitlines())
    for file in files:
        file.unlink()
    return noted
