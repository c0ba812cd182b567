"""The shortest use of the server: items, completions, rewards.

    npm start                                # in another terminal
    python examples/rewards.py [--url URL]

The first completion of each item is right, the second wrong, and the third lacks the answer tags that the prompt asks for. Nothing
is stored on the server. `client.rewards` is a reward function for any training loop: it takes one item ID per completion.
"""

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "clients" / "python"))

from reasoning_gym_client import Client, ReasoningGymError


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", help="address of the server (default: REASONING_GYM_URL, else http://127.0.0.1:8000)")
    client = Client(parser.parse_args().url)

    for item in client.make("chain_sum", difficulty=0.2, seed=1, count=3):
        terms = item["question"].split(":")[-1]
        right = sum(int(sign + digits) for sign, digits in re.findall(r"([+-]?)\s*(\d+)", terms))
        completions = [f"<answer>{right}</answer>", f"<answer>{right + 1}</answer>", f"The answer is {right}."]
        rewards = client.rewards([item["id"]] * 3, completions)
        print(item["question"])
        for reward, completion in zip(rewards, completions):
            print(f"  reward {reward}: {completion}")


if __name__ == "__main__":
    try:
        main()
    except ReasoningGymError as error:
        sys.exit(str(error))
