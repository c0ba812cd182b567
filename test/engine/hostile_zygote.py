"""The engine's zygote with programs of its own in place of those that the library bundles for codeio: one for each difficulty. A
program is `main_solution`; what it returns is told in the item's answer."""

import gzip
import io
import json
import os
import sys

ENGINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "engine", "python")
sys.path.insert(0, os.path.realpath(ENGINE))
with open(sys.argv[2]) as _file:
    PROGRAMS = json.load(_file)

import zygote  # noqa: E402

LINES = [
    {
        "task_description": "t",
        "input_output_spec": "s",
        "code_sample": program,
        "input_generator": "def generate_inputs(rng):\n    return {}",
        "difficulty": int(difficulty),
    }
    for difficulty, program in PROGRAMS.items()
]


original_open = gzip.open


def open_hostile(path, *arguments, **options):
    if os.path.basename(str(path)) != "codeio.jsonl.gz":
        return original_open(path, *arguments, **options)
    return io.StringIO("\n".join(map(json.dumps, LINES)))


gzip.open = open_hostile

if __name__ == "__main__":
    zygote.main()
