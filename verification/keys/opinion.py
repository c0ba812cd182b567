"""Runs the second opinion on one task: `opinion.py TASK` reads a request per line and writes an opinion per line, both JSON.

    {"question": str, "key": str | null, "only_key": bool}    →    {"answers", "key_is_right", "others", "wrong", "solved_at_start"}

The module tasks/TASK.py has some of these functions. Each sees the text of a question, as a model does, and no metadata:

    solve(question)          the answer, or a list with the answers of all readings of the question; None if no answer is right.
                             A question may end with a line "Note: …" that settles the reading: then only that reading counts.
    check(question, answer)  whether an answer obeys every rule of the question, for tasks with many right answers
    others(question, key)    right answers that are spelled or solved differently than the key, each of which must earn 1;
                             the key is None where the library has none
    wrong(question, key)     pairs of a rule's name and an answer that breaks just this rule, none of which may earn 1
    solved_at_start(question)  whether the question asks for something that is so already
    same(a, b)               whether two texts are one answer; default: equal but for white space

    WHY = "…"                why there is no second opinion, in a module with neither solve nor check

With `only_key`, others and wrong are left out: a key that was changed on purpose may have any form.
`answers` is [] without solve, and null where no answer is right. `key_is_right` is null where nothing can tell.
"""

import importlib
import json
import os
import sys
import traceback

sys.path.insert(0, os.path.dirname(__file__))


def form_opinion(module, question, key, only_key):
    same = getattr(module, "same", lambda a, b: a.split() == b.split())
    answers = []
    if hasattr(module, "solve"):
        answers = module.solve(question)
        answers = [answers] if isinstance(answers, str) else None if answers is None else _distinct(answers, same)
    is_right = None
    if key is not None and hasattr(module, "check"):
        is_right = bool(module.check(question, key))
    elif key is not None and hasattr(module, "solve"):
        is_right = answers is not None and any(same(key, answer) for answer in answers)
    return {
        "answers": answers,
        "key_is_right": is_right,
        "others": list(module.others(question, key)) if hasattr(module, "others") and not only_key else [],
        "wrong": [list(pair) for pair in module.wrong(question, key)] if hasattr(module, "wrong") and not only_key else [],
        "solved_at_start": bool(module.solved_at_start(question)) if hasattr(module, "solved_at_start") else False,
    }


def _distinct(answers, same):
    found = []
    for answer in answers:
        if not any(same(answer, other) for other in found):
            found.append(answer)
    return found


def main():
    module = importlib.import_module(f"tasks.{sys.argv[1]}")
    about = {"why": getattr(module, "WHY", None), "functions": [name for name in ("solve", "check") if hasattr(module, name)]}
    print(json.dumps(about), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            opinion = form_opinion(module, request["question"], request["key"], request.get("only_key", False))
        except Exception:
            if request.get("only_key", False):  # no text that it can read is no right key
                print(json.dumps({"answers": [], "key_is_right": False, "others": [], "wrong": [], "solved_at_start": False}), flush=True)
                continue
            opinion = {"failed": traceback.format_exc(limit=-3)}
        print(json.dumps(opinion), flush=True)


if __name__ == "__main__":
    main()
