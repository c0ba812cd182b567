"""Evaluates a model that you run yourself, for example with vLLM's LLM.generate, SGLang or your own loop.

    npm start                                # in another terminal
    python examples/evaluate.py [--url URL]

The server returns the items of the suite, you send the completions, and the server scores them and computes the results. To
evaluate a model behind an OpenAI-compatible API, call `client.start_eval(suite, {"name": …, "base_url": …})` instead, and then
`client.follow_eval(id)`.
"""

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "clients" / "python"))

from reasoning_gym_client import Client, ReasoningGymError


def generate(conversations):
    """Returns one completion per conversation. This "model" can only add; replace it with your own."""
    return [answer(messages[-1]["content"]) for messages in conversations]


def answer(question):
    if "arithmetic problem:" not in question:
        return "I do not know."
    terms = re.findall(r"([+-]?)\s*(\d+)", question.split("arithmetic problem:")[-1])
    return f"<answer>{sum(int(sign + digits) for sign, digits in terms)}</answer>"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", help="address of the server (default: REASONING_GYM_URL, else http://127.0.0.1:8000)")
    client = Client(parser.parse_args().url)
    print("frozen suites:", ", ".join(suite["name"] for suite in client.suites()))

    # A suite of your own: five items of each of two tasks. Use "original" for the frozen benchmark of all tasks.
    suite = {"tasks": ["chain_sum", "spell_backward"], "n": 5}
    done = client.evaluate(generate, suite, labels={"model": "adds up"})

    result = done["result"]
    print(f"{done['status']}: mean score {result['mean_score']:.2f}, format faults {result['format_faults']:.2f}")
    for task, figures in result["tasks"].items():
        print(f"{task:<16} {figures['mean_score']:.2f}, the mean of {figures['n']} items")

    print("\nOne answer of each task:")
    samples = {sample["task"]: sample for sample in client.eval_samples(done["id"])}
    for task, sample in samples.items():
        print(f"{task:<16} score {sample['score']}: {sample['completion']}")


if __name__ == "__main__":
    try:
        main()
    except ReasoningGymError as error:
        sys.exit(str(error))
