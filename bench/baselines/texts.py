"""Requests for the benchmarks, one JSON document a line: a new item, completions of 2 KB for it, and the library's scores of them.

    python texts.py TASK|mix REQUESTS COMPLETIONS FIRST_INDEX SEED [entries]

No item and no completion comes twice. Of the completions of an item, one in eight is right, one in eight has the right answer in
another notation, and the others are near misses. `mix` takes all tasks in turn. `entries` adds the library's entry of the item.
"""

import json
import random
import re
import signal
import sys
import time

from entries import SIZE, dataset_of, entry_of
from reasoning_gym.factory import DATASETS
from reasoning_gym.utils import extract_answer

# Their completions have no scores, and no other server gets them: items of list_functions depend on what drew from Python's global
# generator before, and sympy takes up to minutes for an answer to an integral, so these two tasks would decide every ratio.
NOT_COMPARED = {"list_functions", "simple_integration", "intermediate_integration"}
DEPEND_ON_SIZE = {"acre", "word_ladder"}
BYTES = 2000
MAX_SECONDS = 4
MAX_LENGTH = 60_000
LETTERS = "abcdfghijklmnopqrstuvwxyz"  # no e: between digits, it makes an exponent that the library computes for minutes
WORDS = """let us see whether both sides agree when the third value is moved over then divide what remains count how
often it occurs keep the smaller one and go back to line two because that step was wrong after all try again slowly""".split()


def thinking(chance):
    lines, size = [], 0
    while size < BYTES:
        words = [chance.choice(WORDS) for _ in range(chance.randint(5, 14))]
        line = f"{' '.join(words)} = {chance.randint(0, 9999)}.\n"
        lines.append(line)
        size += len(line)
    return "".join(lines)


class TooLong(BaseException):
    """No exception that the library catches."""


def end_scoring(*_):
    raise TooLong


def score(dataset, answer, entry):
    signal.alarm(MAX_SECONDS)
    try:
        return min(1.0, max(0.0, float(dataset.score_answer(extract_answer(f"<answer>{answer}</answer>"), entry))))
    except Exception:
        return 0.0
    finally:
        signal.alarm(0)


def make(task, index):
    """The item at an index, or another one if the server does not take it: after ten seconds, or with answers above 65,536 characters."""
    start = time.process_time()
    entry = entry_of(task, 1, index)
    is_taken = time.process_time() - start < MAX_SECONDS and len(entry["answer"] or "") < MAX_LENGTH
    return (index, entry) if is_taken else make(task, index + 1_000_000)


def ask(chance, task, index):
    index, entry = make(task, index)
    dataset = dataset_of(task, 1)
    right = entry["answer"] if entry["answer"] is not None else "none"
    answers = []
    while len(answers) < completions_per_item:
        answers += [right, chance.choice(FORMAT_FAULTS)(right), *(near_miss(chance, right) for _ in range(6))]
    answers = answers[:completions_per_item]
    chance.shuffle(answers)
    scores = []
    for k, answer in enumerate(answers if task not in NOT_COMPARED else []):
        try:
            scores.append(score(dataset, answer, entry))
        except TooLong:
            answers[k] = right
            scores.append(score(dataset, right, entry))
    completions = [f"{thinking(chance)}<answer>{answer}</answer>" for answer in answers]
    config = {"size": SIZE} if task in DEPEND_ON_SIZE else {}
    asked = {"task": task, "seed": 1, "index": index, "config": config, "completions": completions, "scores": scores}
    return asked | ({"entry": entry} if sys.argv[6:] == ["entries"] else {})


FORMAT_FAULTS = [
    lambda text: f"\\boxed{{{text}}}",
    lambda text: f"${text}$",
    lambda text: f"The answer is {text}.",
    lambda text: f"{text}\n\nThis is the result.",
    lambda text: f"**{text}**",
    lambda text: text.replace("**", "^").replace(", ", "; "),
]


def near_miss(chance, text):
    """The right answer with a number, a sign or a word wrong; mostly one fault, sometimes more."""
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        text = chance.choice([change_number, change_number, change_sign, drop_word, swap_words, change_letter])(chance, text)
    return text or "none"


def change_number(chance, text):
    numbers = list(re.finditer(r"\d+", text))
    if not numbers:
        return change_letter(chance, text)
    number = chance.choice(numbers)
    changed = abs(int(number[0][:15]) + chance.choice([1, -1, 2, -2, 3, 5, 10, -10, chance.randint(-99, 99)]))
    return f"{text[: number.start()]}{changed}{text[number.end() :]}"


def change_sign(chance, text):
    signs = [k for k, sign in enumerate(text) if sign in "+-"]
    if not signs:
        return f"-{text}"
    at = chance.choice(signs)
    return text[:at] + ("-" if text[at] == "+" else "+") + text[at + 1 :]


def drop_word(chance, text):
    words = text.split(" ")
    if len(words) == 1:
        return change_letter(chance, text)
    del words[chance.randrange(len(words))]
    return " ".join(words)


def swap_words(chance, text):
    words = text.split(" ")
    if len(words) == 1:
        return change_number(chance, text)
    a, b = chance.sample(range(len(words)), 2)
    words[a], words[b] = words[b], words[a]
    return " ".join(words)


def change_letter(chance, text):
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(LETTERS) + text[at + 1 :]


signal.signal(signal.SIGALRM, end_scoring)
which, count, completions_per_item, first, seed = sys.argv[1], *map(int, sys.argv[2:6])
out, sys.stdout = sys.stdout, sys.stderr  # some scorers print
tasks = sorted(set(DATASETS) - {"composite"}) if which == "mix" else [which]
chance = random.Random(seed)
asks = [ask(chance, tasks[k % len(tasks)], first + k // len(tasks)) for k in range(count)]
chance.shuffle(asks)
for one in asks:
    print(json.dumps(one, separators=(",", ":"), default=str), file=out)
