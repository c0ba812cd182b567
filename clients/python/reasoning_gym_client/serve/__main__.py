"""`python -m reasoning_gym_client.serve FRAMEWORK`: serves a run of reasoning-gym-server in the language of another framework.

A framework is a module here, named as its command with underscores. It has `SUMMARY` (one line), `add_arguments(parser)` and
`main(arguments)`, which serves until it is stopped. Its package is imported in `main`, so that `--help` needs none of them.
"""

import argparse
import importlib
import sys

FRAMEWORKS = ("openenv", "ors", "nemo-gym", "mcp", "atropos")


def main() -> None:
    parser = argparse.ArgumentParser("python -m reasoning_gym_client.serve", description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(dest="framework", required=True, metavar="FRAMEWORK")
    for name in FRAMEWORKS:
        module = importlib.import_module(f"reasoning_gym_client.serve.{name.replace('-', '_')}")
        command = commands.add_parser(name, help=module.SUMMARY, description=module.__doc__)
        command.add_argument("--url", help="address of reasoning-gym-server (default: REASONING_GYM_URL, or http://127.0.0.1:8000)")
        module.add_arguments(command)
        command.set_defaults(serve=module.main)
    arguments = parser.parse_args()
    try:
        arguments.serve(arguments)
    except ImportError as error:
        extra = f"pip install 'reasoning-gym-client[{arguments.framework}]'"
        sys.exit(f"{arguments.framework} needs its framework's package ({error}): {extra}")


if __name__ == "__main__":
    main()
