"""Serves a run as an environment of the Open Reward Standard (ORS), for openreward, TRL's OpenRewardSpec and ROLL."""

# pyright: reportMissingImports=false
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import argparse

from ._rollouts import ItemSource, add_server_arguments

SUMMARY = "an environment of the Open Reward Standard"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_server_arguments(parser, port=8080)


def main(arguments: argparse.Namespace) -> None:
    source = ItemSource("ors", arguments.url, arguments.run)
    source.require_run()  # before the package, which takes seconds to load
    import uvicorn

    from ._ors_environment import build_app

    uvicorn.run(build_app(source), host=arguments.host, port=arguments.port, log_level="warning", timeout_keep_alive=60)
