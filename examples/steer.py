"""Steers the task mix of a live run from outside, and compares it with plain weights.

    npm start                                  # in another terminal
    python examples/steer.py [--url URL] [--steps 20]

A bandit gives each task a weight by how much the model learned from its last groups. After each step, it sets the new weights
with `run.set_mix`; the items that were handed out before stay as they are. Each item says its `propensity`, the probability
with which it was drawn. Divided by it, the gains of a step are an unbiased estimate for all tasks, whatever the mix was.

The model is simulated: it knows the answers, and gives them with a probability for each task. It learns from groups whose
rewards differ, and it never learns the tasks that are out of its reach. The run without a bandit has the same seed.
"""

import argparse
import math
import random
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "clients" / "python"))

from reasoning_gym_client import Client, ReasoningGymError

# Skill of the model at the start, as log-odds of a right answer: three tasks are too easy, three in reach, six too hard.
SKILLS = {
    **dict.fromkeys(["gcd", "lcm", "chain_sum"], 6.0),
    **dict.fromkeys(["products", "count_bits", "spell_backward"], -2.5),
    **dict.fromkeys(["bitwise_arithmetic", "number_sorting", "leg_counting", "prime_factorization", "word_sorting", "fraction_simplification"], -9.0),
}
ITEMS_PER_STEP = 16
GROUP_SIZE = 8
LEARNING_RATE = 0.25


class Learner:
    """A model whose skill at a task grows with the variance of the rewards of its groups."""

    def __init__(self, seed):
        self.skills = dict(SKILLS)
        self.rng = random.Random(seed)

    def accuracy(self, task):
        return 1 / (1 + math.exp(-self.skills[task]))

    def answer(self, item):
        right = [self.rng.random() < self.accuracy(item["task"]) for _ in range(GROUP_SIZE)]
        return [{"completion": f"<answer>{item['answer'] if one else 'unknown'}</answer>"} for one in right]

    def learn(self, task, gain):
        self.skills[task] += LEARNING_RATE * gain


class Bandit:
    """A weight for each task: its estimated gain, and a little for tasks that may have something to teach later."""

    def __init__(self, memory=0.8, explore=0.1):
        self.gains = dict.fromkeys(SKILLS, 1.0)  # optimistic, so that each task is tried
        self.memory, self.explore = memory, explore

    def observe(self, drawn):
        """Updates the estimates. `drawn`: (task, gain, propensity) of each item of a step."""
        for task in self.gains:
            sums = sum(gain / propensity for one, gain, propensity in drawn if one == task)
            self.gains[task] = self.memory * self.gains[task] + (1 - self.memory) * sums / len(drawn)

    def mix(self):
        total = sum(self.gains.values())
        return [
            {"task": task, "weight": self.explore / len(self.gains) + (1 - self.explore) * gain / total}
            for task, gain in self.gains.items()
        ]


def train(run, steps, bandit):
    """Trains a new learner. Returns its accuracy after each step, and the share of groups with signal."""
    learner = Learner(seed=1)
    run.put(tasks=list(SKILLS), group_size=GROUP_SIZE, buffer=False, min_trained_tokens=0, length_penalty=False)
    curve, signal = [], []
    for step in range(steps):
        items = [run.client.item(item["id"], run=run.name, reveal=True) for item in run.items(ITEMS_PER_STEP, step=step)]
        groups = run.post_many([{"item_id": item["id"], "rollouts": learner.answer(item)} for item in items], wait_s=60)
        gains = [4 * statistics.pvariance(group["rewards"]) for group in groups]
        for item, gain in zip(items, gains):
            learner.learn(item["task"], gain)
        signal += [gain > 0 for gain in gains]
        if bandit:
            bandit.observe([(item["task"], gain, item["propensity"]) for item, gain in zip(items, gains)])
            run.set_mix(bandit.mix())
        curve.append(statistics.mean(learner.accuracy(task) for task in SKILLS))
    return curve, statistics.mean(signal)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", help="address of the server (default: REASONING_GYM_URL, else http://127.0.0.1:8000)")
    parser.add_argument("--api-key", help="key of an admin, because the model looks the answers up")
    parser.add_argument("--run", default=f"steer-{int(time.time())}")
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    client = Client(args.url, api_key=args.api_key)
    plain, plain_signal = train(client.run(f"{args.run}-plain"), args.steps, None)
    steered, steered_signal = train(client.run(f"{args.run}-steered"), args.steps, Bandit())
    print(f"{'step':>4} {'plain':>6} {'steered':>8}")
    for step in range(0, args.steps, max(1, args.steps // 10)):
        print(f"{step:>4} {plain[step]:>6.2f} {steered[step]:>8.2f}")
    print(f"groups with signal: {plain_signal:.2f} plain, {steered_signal:.2f} steered")
    print(f"accuracy at the end: {plain[-1]:.2f} plain, {steered[-1]:.2f} steered")


if __name__ == "__main__":
    try:
        main()
    except ReasoningGymError as error:
        sys.exit(str(error))
