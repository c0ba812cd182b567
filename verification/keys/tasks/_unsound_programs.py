"""Lists the programs of codeio that make items without a right answer or with a wrong key.

The table in packages/scorers/src/data/codeio-programs.json is made of what this prints, but for what has failed:

    python _unsound_programs.py [FIRST LAST]    number and fingerprint of each, how many of its items, what is wrong

Each program makes items as the library does, and runs on their inputs in several worlds:

    unstable    its output is another with another order of sets, state of random numbers or time, or without the maker
                of its inputs, which may have written a file
    mutating    it changes its input, so that the question shows what it has become, on which the output is another
    unlike      its input is no JSON, and on what JSON makes of it the output is another
    failed      it raises, which the library passes on as an empty input and an empty output
"""

import collections
import gzip
import hashlib
import importlib.util
import json
import os
import re
import sys

import _programs

# Items and worlds of a first look, and of a second at programs that may differ seldom.
QUICK, THOROUGH = (8, 2), (40, 3)
SLOW_S = 60
RANDOM = r"\b(rand\w*|rnd|shuffle|choices?|sample|now|today|time|uuid\w*|hash|id)\(|\brandom\.|\brnd\."
MAY_DIFFER = re.compile(rf"{RANDOM}|\bset\(|\bfrozenset\(|\{{[^{{}}:]*\}}")
CALLS = """
import copy, json, random
import numpy
import numpy as np
from math import inf, nan

def call(number, name, /, *arguments, **inputs):
    random.seed(number)
    numpy.random.seed(number)
    names = {"Random": random.Random}
    exec(SOURCE, names)
    return names[name](*arguments, **inputs)

def attempt(number, inputs):
    try:
        return json.dumps(call(number, "main_solution", **inputs))
    except Exception as error:
        return "raised"
"""
MAKE_ITEMS = """
def main_solution(count):
    items = []
    for number in range(count):
        try:
            inputs = call(number, "generate_inputs", random.Random(number))
            begun = json.dumps(inputs)
            output = json.dumps(call(number, "main_solution", **inputs))
            shown, text = str(inputs), json.dumps(inputs)
        except Exception as error:
            items.append(None)
            continue
        same = output if begun == text else attempt(number, copy.deepcopy(inputs))
        given_output = attempt(number, json.loads(text))
        items.append({"shown": shown, "output": output, "same": same, "json": given_output, "changed": begun != text})
    return items
"""
REPEAT_ITEMS = """
def main_solution(shown, world):
    return [text and attempt(number + 1000 * world, eval(text)) for number, text in enumerate(shown)]
"""


def read_programs():
    folder = importlib.util.find_spec("reasoning_gym").submodule_search_locations[0]
    with gzip.open(os.path.join(folder, "data", "codeio.jsonl.gz"), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def examine(program):
    """How many of the program's items are unsound, by what is wrong, and of how many: fewer where it takes long."""
    worlds = make_items(program, *QUICK)
    is_odd = any(map(decide, zip(*worlds))) or has_changed(worlds)
    is_suspect = is_odd or MAY_DIFFER.search(program["code_sample"])
    worlds = (is_suspect and make_items(program, *THOROUGH)) or worlds or make_items(program, 2, 2, SLOW_S)
    return collections.Counter(filter(None, map(decide, zip(*worlds)))), len(worlds and worlds[0])


def make_items(program, count, worlds, deadline_s=_programs.DEADLINE_S):
    """The items, and what the program alone gives on their inputs in other worlds; [] where that takes too long."""
    source, maker = program["code_sample"], program["input_generator"]
    made = [run(f"{source}\n\n{maker}", MAKE_ITEMS, {"count": count}, 0, deadline_s)]
    for world in range(1, worlds if made[0] else 0):
        shown = [item and item["shown"] for item in made[0]]
        made.append(run(source, REPEAT_ITEMS, {"shown": shown, "world": world}, world, deadline_s))
    return made if all(made) else []


def run(source, wrapper, inputs, world, deadline_s):
    reply = _programs.run(f"SOURCE = {source!r}\n{CALLS}{wrapper}", repr(inputs), world, deadline_s)
    return json.loads(reply["text"]) if "text" in reply else None


def has_changed(worlds):
    return any(item and item["changed"] for item in worlds[0]) if worlds else True


def decide(items):
    first, *others = items
    if first is None:
        return "failed"
    if any(not is_same(output, first["same"]) for output in others):
        return "unstable"
    if not is_same(first["same"], first["output"]):
        return "mutating"
    return None if is_same(first["json"], first["output"]) else "unlike"


def is_same(a, b):
    """Equal as JSON, whose names have no order."""
    return a == b or "raised" not in (a, b) and sort(a) == sort(b)


def sort(text):
    return json.dumps(json.loads(text), sort_keys=True)


def main():
    programs = read_programs()
    first, last = map(int, sys.argv[1:]) if len(sys.argv) > 1 else (0, len(programs))
    for number in range(first, last):
        found, count = examine(programs[number])
        if found or count == 0:
            fingerprint = hashlib.sha256(programs[number]["code_sample"].encode()).hexdigest()[:8]
            print(number, fingerprint, f"{found.total()}/{count}", *found, flush=True)


if __name__ == "__main__":
    main()
