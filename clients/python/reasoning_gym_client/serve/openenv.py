"""Serves a run as an environment of OpenEnv, for TRL, verifiers, ms-swift, SkyRL and other clients of OpenEnv."""

# pyright: reportMissingImports=false
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import argparse

from ._rollouts import ItemSource, add_server_arguments

SUMMARY = "an environment of OpenEnv"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_server_arguments(parser, port=8001)
    parser.add_argument("--sessions", type=int, default=1000, help="number of connections at a time (default: %(default)s)")
    parser.add_argument("--idle-s", type=float, default=3600.0, help="seconds after which a silent session ends (default: %(default)s)")


def main(arguments: argparse.Namespace) -> None:
    source = ItemSource("openenv", arguments.url, arguments.run)
    source.require_run()  # before the package, which takes seconds to load
    import uvicorn

    from ._openenv_environment import build_app

    app = build_app(source, sessions=arguments.sessions, idle_s=arguments.idle_s)
    uvicorn.run(app, host=arguments.host, port=arguments.port, log_level="warning")
