"""A small but complete training loop: two ranks, two tasks, one server, and a policy that learns in seconds on a CPU.

    npm start                                        # in another terminal
    python examples/train.py [--url URL] [--ranks 2] [--steps 40]

Instead of a language model, the policy is a softmax over two choices: the format of the answer, and the effort (how many terms
of a sum it adds, or how many letters of a word it reverses). At first, all choices are equally likely. Little effort is enough
while the tasks are easy. As the curriculum makes them harder, only more effort earns a reward.

Everything around the policy works as in a real trainer:

* Each rank requests items from the run, samples a group of completions for each item, and posts the groups with the version of
  its policy.
* Each rank requests its share of the batch for the step, and posts more groups until the batch is complete.
* The ranks sum their gradients, so that all of them keep the same policy.
* Each rank acknowledges the step.
"""

import argparse
import itertools
import math
import multiprocessing
import random
import re
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "clients" / "python"))

from reasoning_gym_client import Client, NotReady, ReasoningGymError

GROUP_SIZE = 16
BATCH_SIZE = 128
ITEMS_AT_ONCE = 4
LEARNING_RATE = 4.0
EXPLORE = 0.04  # share of random choices, so that groups keep some variety until the end

# ---------------------------------------------------------------------------------------------------------------------
# The policy
# ---------------------------------------------------------------------------------------------------------------------

FORMATS = [
    "The answer is {}.",
    "<answer>{}</answer>",
    "<answer>{0}</answer> or rather <answer>{0}</answer>",
]
EFFORTS = [1, 2, 3, 5, 8, 40]  # number of terms or letters that the policy works on


def chain_sum(question, effort):
    """Adds the first terms of `… problem: 4 - 3 + 12`."""
    terms = re.findall(r"([+-]?)\s*(\d+)", question.split(":")[-1])
    return sum(int(sign + digits) for sign, digits in terms[:effort])


def spell_backward(question, effort):
    """Reverses the word at the end of the question and keeps the first letters of the result."""
    return question.split()[-1][::-1][:effort]


TASKS = {"chain_sum": chain_sum, "spell_backward": spell_backward}


class Policy:
    """A score for each choice: for the formats, and for the efforts of each task."""

    def __init__(self):
        self.scores = {"format": [0.0] * len(FORMATS), **{task: [0.0] * len(EFFORTS) for task in TASKS}}

    def chances(self, decision):
        weights = [math.exp(score - max(self.scores[decision])) for score in self.scores[decision]]
        return [weight / sum(weights) for weight in weights]

    def sample(self, task, question, rng):
        """Samples a completion. Its tokens are the choices behind it, with their log-probabilities."""
        tokens, logprobs = [], []
        for decision in ("format", task):
            chances = [(1 - EXPLORE) * p + EXPLORE / len(self.scores[decision]) for p in self.chances(decision)]
            (choice,) = rng.choices(range(len(chances)), chances)
            tokens.append(choice)
            logprobs.append(math.log(chances[choice]))
        answer = TASKS[task](question, EFFORTS[tokens[1]])
        return {
            "completion": FORMATS[tokens[0]].format(answer),
            "tokens": tokens,
            "masks": tokens,
            "logprobs": logprobs,
            "finish_reason": "stop",
        }

    def gradient(self, groups):
        """The policy gradient of the groups, weighted by advantage, with a clipped importance ratio for older samples."""
        slopes = {decision: [0.0] * len(scores) for decision, scores in self.scores.items()}
        for group in groups:
            for rollout, verdict in zip(group["rollouts"], group["verdicts"]):
                for decision, choice, logprob in zip(("format", group["task"]), rollout["tokens"], rollout["logprobs"]):
                    chances = self.chances(decision)
                    ratio = min(2.0, chances[choice] / math.exp(logprob))
                    for k, chance in enumerate(chances):
                        slopes[decision][k] += verdict["advantage"] * ratio * ((k == choice) - chance)
        return [slope for decision in self.scores for slope in slopes[decision]]

    def step(self, slopes):
        """Takes one step of gradient ascent."""
        left = iter(slopes)
        for scores in self.scores.values():
            for k in range(len(scores)):
                scores[k] += LEARNING_RATE * next(left)


# ---------------------------------------------------------------------------------------------------------------------
# The loop
# ---------------------------------------------------------------------------------------------------------------------


class AllReduce:
    """Sums a vector over the ranks, like torch.distributed.all_reduce. If a rank dies, the others stop waiting."""

    def __init__(self, context, ranks, size):
        self.ranks, self.size = ranks, size
        self.shared = context.Array("d", ranks * size, lock=False)
        self.barrier = context.Barrier(ranks, timeout=120)

    def sum(self, rank, vector):
        self.shared[rank * self.size : rank * self.size + len(vector)] = vector
        self.barrier.wait()
        total = [sum(self.shared[r * self.size + k] for r in range(self.ranks)) for k in range(len(vector))]
        self.barrier.wait()
        return total


def post_groups(run, policy, version, name, rng):
    """Answers the next items of the run and posts the groups. Returns the sum and the number of the rewards."""
    groups = []
    for k, item in enumerate(run.items(ITEMS_AT_ONCE, timeout_s=30)):
        rollouts = [policy.sample(item["task"], item["question"], rng) for _ in range(GROUP_SIZE)]
        named = {"item_id": item["id"], "group_id": f"{name}-{k}"}
        groups.append({**named, "policy_version": version, "rollouts": rollouts})
    posted = run.post_many(groups, wait_s=60)
    rewards = [reward for group in posted for reward in group.get("rewards", []) if reward is not None]
    return sum(rewards), len(rewards)


def take_batch(run, policy, step, rank, ranks, rng):
    """Posts groups until the batch of the step is complete, and returns this rank's share. Groups without signal do not count."""
    rewards, count = 0.0, 0
    for k in itertools.count():
        more = post_groups(run, policy, step, f"{step}-{rank}-{k}", rng)
        rewards, count = rewards + more[0], count + more[1]
        try:
            batch = run.batch(step, rank=rank, ranks=ranks, policy_version=step, balance="rollouts", timeout_s=0)
            return batch, rewards, count
        except NotReady:
            continue


def train(rank, args, all_reduce):
    run = Client(args.url, api_key=args.api_key).run(args.run)
    rng = random.Random(args.seed * 1000 + rank)
    policy = Policy()
    means = []
    for step in range(args.steps):
        batch, rewards, count = take_batch(run, policy, step, rank, args.ranks, rng)
        # Divide by the size of the whole batch, because the shares of the ranks may differ in size.
        slopes = [slope / batch["totals"]["trained_rollouts"] for slope in policy.gradient(batch["groups"])]
        *slopes, rewards, count = all_reduce.sum(rank, [*slopes, rewards, count])
        policy.step(slopes)
        run.ack(step, rank=rank, ranks=args.ranks)
        mean = rewards / max(count, 1)
        if rank == 0 and (step % 5 == 0 or step == args.steps - 1):
            tasks = run.get()["tasks"]
            levels = [tasks.get(task, {}).get("difficulty") or 0 for task in TASKS]
            row = [step, mean, *levels, batch["totals"]["groups"], batch["totals"]["rollouts"], batch["lag"]["max"]]
            print("{:>5} {:>12.2f} {:>10.2f} {:>15.2f} {:>7} {:>10} {:>5}".format(*row), flush=True)
        means.append(mean)
    if rank == 0:
        moves = len(run.history())
        print(f"mean reward {means[0]:.2f} -> {means[-1]:.2f}; the curriculum was updated {moves} times\n")
        draw_curve(means)
        show_one_group(run, policy, rng)


def draw_curve(means, rows=8):
    """Draws the mean reward as a chart of text: one column per step, one row per eighth."""
    for row in range(rows, 0, -1):
        line = "".join("#" if mean * rows >= row - 0.5 else " " for mean in means)
        print(f"{row / rows:>5.2f} |{line}".rstrip())
    print("      +" + "-" * len(means) + "> step", flush=True)


def show_one_group(run, policy, rng):
    """Prints what the policy answers to one item now, and the rewards."""
    item = run.items(1, timeout_s=30)[0]
    texts = sorted({policy.sample(item["task"], item["question"], rng)["completion"] for _ in range(200)})
    rewards = run.client.rewards([item["id"]] * len(texts), texts)
    print("\n" + item["question"].splitlines()[-1])
    for reward, text in sorted(zip(rewards, texts), reverse=True):
        print(f"  reward {reward}: {text}")


def rank_main(rank, args, all_reduce):
    """Trains one rank. If it fails, the other ranks fail too, because they would wait for its gradient."""
    try:
        train(rank, args, all_reduce)
    except threading.BrokenBarrierError:
        sys.exit(f"rank {rank}: stopped because another rank failed")
    except ReasoningGymError as error:
        all_reduce.barrier.abort()
        sys.exit(f"rank {rank}: {error}")
    except BaseException:
        all_reduce.barrier.abort()
        raise


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", help="address of the server (default: REASONING_GYM_URL, else http://127.0.0.1:8000)")
    parser.add_argument("--api-key", help="API key (default: REASONING_GYM_API_KEY)")
    parser.add_argument("--run", default=f"example-{int(time.time())}")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if min(args.ranks, args.steps) < 1:
        parser.error("--ranks and --steps must be at least 1")

    run = Client(args.url, api_key=args.api_key).run(args.run)
    run.put(
        tasks=list(TASKS),
        complexity_mode="curriculum",
        group_size=GROUP_SIZE,
        batch_size=BATCH_SIZE,
        min_trained_tokens=0,  # these completions have only two tokens
        max_policy_lag=4,
    )
    print(f"run {args.run}: {args.ranks} ranks, {args.steps} steps")
    print(f"{'step':>5} {'mean reward':>12} " + " ".join(f"{task:>10}" for task in TASKS) + f"  {'groups':>7} {'rollouts':>10} {'lag':>5}", flush=True)

    context = multiprocessing.get_context("spawn")
    all_reduce = AllReduce(context, args.ranks, len(FORMATS) + len(TASKS) * len(EFFORTS) + 2)
    ranks = [context.Process(target=rank_main, args=(rank, args, all_reduce)) for rank in range(args.ranks)]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join()
    sys.exit(max(abs(process.exitcode) for process in ranks))


if __name__ == "__main__":
    try:
        main()
    except ReasoningGymError as error:
        sys.exit(str(error))
