"""Trains a small transformer by GRPO, from one base model in each arm, and prints what it reaches on held-out questions.

    python learner.py base FOLDER SIZE URL BASE
    python learner.py train FOLDER SIZE URL STEPS SEED BASE ARM

`base` finds the tasks that fit and trains the base model: on the library's answers, then on answers with noise, so that it knows
more than it can say; BASE is its number, from 1. `train` prints a line of JSON for each measurement: arm, seed, base, step, rollouts,
tokens generated, `accuracy` (held-out answers that hardened scoring accepts, mean of the tasks), `paid` (those that the library's
scoring pays), both by task, and seconds of training so far. `verdicts` has a bit for each held-out question, in hexadecimal. Of the
steps since the last line: the share of groups with signal, the mean reward, the mean length in tokens, the entropy of a token in
nats, and by task its share of the groups and their mean rung, with the place and the cap that `frontier` estimates at the end.
"""

import json
import random
import sys
import time
from pathlib import Path

import numpy
from arms import GROUP_SIZE, open_arm
from model import Model
from text import END, FIRST_TASK, Window, decode, decode_words, encode_words
from world import MOST_SEEDS, MOST_TASKS, Judge, draw, list_candidates, survey

TINY = ["spell_backward", "coin_flip", "gcd", "isomorphic_strings", "ransom_note", "count_bits", "basic_arithmetic", "leg_counting"]
REVERSALS = ["spell_backward", "word_sequence_reversal"]
# The base model of the climb can reverse a text of any length, and says two tokens of it. The small size is for a GPU, the others are for two cores.
SIZES = {
    "tiny": {"layers": 2, "width": 64, "window": (40, 16), "batch": 128, "base": 2500, "noisy": 300, "rate": 2e-4, "groups": 16, "names": TINY},
    "climb": {"layers": 2, "width": 64, "window": (24, 24), "batch": 128, "base": 2500, "noisy": 600, "rate": 4e-4, "groups": 16, "names": REVERSALS}
    | {"fall": 0, "noise": (-0.93, 0.93, 0.93), "least_known": 0, "held_out": (9, 16), "measure_every": 10},
    "small": {"layers": 4, "width": 192, "window": (128, 40), "batch": 512, "base": 5000, "noisy": 800, "rate": 5e-5, "groups": 24},
}
# The climb on shorter texts, with a base model that takes a fifth of the time. It checks that the arms work, and is too short to compare them.
SIZES["hill"] = SIZES["climb"] | {"window": (12, 12), "batch": 64, "base": 2000, "noisy": 400}
REPORT_EVERY = 250  # steps of the base model
WARM_UP = 10  # steps
BASE_RATE, NOISY_RATE = 1e-3, 5e-4
EXAMPLES, EXAMPLE_SECONDS = 8_000, 4  # of each task for the base model, and the processor time that they may take


class Learner:
    """The size, the tasks and the files of an experiment."""

    fall = 5.0  # the share of a rung among the examples falls by exp(−fall) from the first to the last
    noise = 0.1, 0.1, 0.6  # of the first character, more for each one after it, most
    least_known = 0.02  # of the held-out questions of a task, for the base model; other tasks are left out
    held_out = 6, 8  # rungs of each task, questions of each
    measure_every = 20  # steps

    def __init__(self, folder, size, url):
        self.folder, self.judge = Path(folder), Judge(url)
        for name, value in SIZES[size].items():
            setattr(self, name, value)
        self.window = Window(*self.window)
        path = self.folder / "tasks.json"
        names = SIZES[size].get("names") or list_candidates()
        self.tasks = json.loads(path.read_text()) if path.exists() else survey(self.window, names)

    def create_model(self, seed):
        vocabulary = FIRST_TASK + MOST_TASKS
        return Model(self.layers, self.width, vocabulary, self.window.answer, END, seed)

    def create_base(self, number):
        """Trains a base model. The first one also chooses the tasks: those of which it knows a little."""
        prompts, answers = (numpy.concatenate(part) for part in zip(*map(self.make_examples, self.tasks)))
        report(f"{len(prompts)} examples of {len(self.tasks)} tasks")
        pools = {token: answers[prompts[:, -1] == token] for token in set(prompts[:, -1].tolist())}
        pools = {token: rows[rows > END] for token, rows in pools.items()}
        model, rng = self.create_model(number), numpy.random.default_rng(number)
        for steps, rate, noisy in ((self.base, BASE_RATE, False), (self.noisy, NOISY_RATE, True)):
            model.forget_moments()
            for step in range(1, steps + 1):
                rows = rng.integers(len(prompts), size=self.batch)
                taught = add_noise(rng, pools, prompts[rows], answers[rows], self.noise) if noisy else answers[rows]
                if step % REPORT_EVERY == 0:
                    report(f"base model: step {step} of {steps}, {'noisy' if noisy else 'right'} answers")
                model.learn(prompts[rows], taught, numpy.ones(self.batch), rate * min(1, step / 100) * max(0.05, 1 - step / steps))
            known = HeldOut(self).measure(model)[0]
            report(f"knows {json.dumps(known)}")
        self.folder.mkdir(parents=True, exist_ok=True)
        model.save(self.folder / f"base-{number}.npz")
        if (self.folder / "tasks.json").exists():
            return
        kept = {name: task for name, task in self.tasks.items() if known[name] >= self.least_known}
        (self.folder / "tasks.json").write_text(json.dumps(kept, indent=1))

    def make_examples(self, name):
        task, rng = self.tasks[name], random.Random(f"{name} base")
        reach = task["reach"]
        weights = [2.718 ** (-self.fall * k / (reach - 1)) for k in range(reach)]
        prompts, answers, limit = [], [], time.process_time() + EXAMPLE_SECONDS
        while len(prompts) < EXAMPLES and time.process_time() < limit:
            _, question, answer = draw(name, rng.choices(range(reach), weights)[0], rng.randrange(MOST_SEEDS))
            prompts.append(self.window.read(task, question))
            answers.append(self.window.write(encode_words(task, question, answer)))
        return numpy.asarray(prompts, numpy.int32), numpy.asarray(answers, numpy.int32)

    def train(self, steps, seed, base, name):
        held_out, model = HeldOut(self), self.create_model(seed)
        model.load(self.folder / f"base-{base}.npz")
        arm, seconds, tokens, recent = open_arm(name, self.judge, self.tasks, seed), 0.0, 0, []
        for step in range(steps + 1):
            if step % self.measure_every == 0:
                right, paid, verdicts = held_out.measure(model)
                row = {"arm": name, "seed": seed, "base": base, "step": step, "rollouts": step * self.groups * GROUP_SIZE, "tokens": tokens}
                row |= {"accuracy": mean(right), "paid": mean(paid), **summarize(recent, arm.describe())}
                row |= {"seconds": round(seconds, 1), "right_by_task": right, "paid_by_task": paid, "verdicts": verdicts}
                print(json.dumps(row), flush=True)
                recent = []
            started = time.monotonic()
            recent.append(self.train_step(arm, model, self.rate * min(1, (step + 1) / WARM_UP)))
            tokens, seconds = tokens + recent[-1]["tokens"], seconds + time.monotonic() - started

    def train_step(self, arm, model, rate):
        """Groups of the arm, advantages (reward − mean), an update. Returns what happened."""
        taken = arm.take(self.groups)
        rows = [self.window.read(self.tasks[task], question) for _, task, question, _ in taken]
        prompts = numpy.repeat(numpy.asarray(rows, numpy.int32), GROUP_SIZE, 0)
        sampled, entropy = model.sample(prompts), model.entropy
        said = [[decode(tokens) for tokens in sampled[k : k + GROUP_SIZE]] for k in range(0, len(sampled), GROUP_SIZE)]
        texts = [[decode_words(self.tasks[task], question, text) for text in group] for (_, task, question, _), group in zip(taken, said)]
        rewards = numpy.asarray(arm.reward([handle for handle, *_ in taken], texts), dtype=float)  # None becomes NaN
        means = numpy.nan_to_num(numpy.nanmean(rewards, axis=1, keepdims=True))
        advantages = numpy.nan_to_num(rewards - means)
        model.learn(prompts, sampled, advantages.ravel(), rate)
        asked = [(task, rung) for _, task, _, rung in taken]
        signal, reward = (advantages != 0).any(axis=1).mean(), means.mean()
        return {"signal": signal, "reward": reward, "tokens": int((sampled != 0).sum()), "entropy": entropy, "asked": asked}


class HeldOut:
    """Questions of rungs spread over what the learner can read, from seeds of their own."""

    def __init__(self, learner):
        rng = random.Random(271828)
        self.judge, self.part, self.recipes, self.questions, prompts = learner.judge, learner.groups * GROUP_SIZE, [], [], []
        rungs, questions = learner.held_out
        for name, task in learner.tasks.items():
            for k in sorted({round(k * (task["reach"] - 1) / (rungs - 1)) for k in range(rungs)}):
                for _ in range(questions):
                    recipe, question, _ = draw(name, k, rng.randrange(MOST_SEEDS))
                    self.recipes.append(recipe)
                    self.questions.append((task, question))
                    prompts.append(learner.window.read(task, question))
        self.prompts = numpy.asarray(prompts, numpy.int32)

    def measure(self, model):
        """The shares of right answers by task, by hardened scoring and by the library's, and the hardened verdicts as bits."""
        parts = [self.prompts[k : k + self.part] for k in range(0, len(self.prompts), self.part)]
        parts[-1] = numpy.resize(parts[-1], parts[0].shape)  # of one shape, so that one program is compiled
        said = [decode(tokens) for part in parts for tokens in model.sample(part)]
        texts = [decode_words(*question, text) for question, text in zip(self.questions, said)]
        hardened, upstream = (self.judge.score(self.recipes, texts, scoring) for scoring in ("hardened", "upstream"))
        bits = "".join(str(int(is_right(score))) for score in hardened)
        return self.share(hardened), self.share(upstream), f"{int(bits, 2):0{len(bits) // 4}x}"

    def share(self, scores):
        good = {}
        for recipe, score in zip(self.recipes, scores):
            good.setdefault(recipe["task"], []).append(is_right(score))
        return {name: round(float(numpy.mean(values)), 4) for name, values in good.items()}


def is_right(score):
    return score is not None and score >= 1


def summarize(recent, estimates):
    """What happened in the steps since the last measurement."""
    if not recent:
        return {}
    asked = [each for step in recent for each in step["asked"]]
    tasks = {}
    for name in sorted({task for task, _ in asked}):
        rungs = [rung for task, rung in asked if task == name and rung is not None]
        estimate = {key: round(value, 3) for key, value in estimates.get(name, {}).items()}
        share = sum(task == name for task, _ in asked) / len(asked)
        tasks[name] = {"share": round(share, 3), **({"rung": round(float(numpy.mean(rungs)), 2)} if rungs else {}), **estimate}
    means = {key: round(float(numpy.mean([step[key] for step in recent])), 3) for key in ("signal", "reward", "entropy")}
    tokens = sum(step["tokens"] for step in recent)
    return {**means, "length": round(tokens / (len(asked) * GROUP_SIZE), 2), "tasks": tasks}


def add_noise(rng, pools, prompts, answers, noise=Learner.noise):
    """Replaces characters of answers, later ones likelier, by others that answers of the task have."""
    first, more, most = noise
    chances = numpy.minimum(most, first + more * numpy.arange(answers.shape[1]))
    replaced = (rng.random(answers.shape) < chances) & (answers > END)
    others = numpy.stack([rng.choice(pools[token], answers.shape[1]) for token in prompts[:, -1].tolist()])
    return numpy.where(replaced, others, answers)


def mean(by_task):
    return round(sum(by_task.values()) / len(by_task), 4)


def report(line):
    print(line, file=sys.stderr, flush=True)


def run_command(learner_class):
    """Runs what the command line asks for: base FOLDER SIZE URL BASE, or train FOLDER SIZE URL STEPS SEED BASE NAME."""
    command, folder, size, url, *rest = sys.argv[1:]
    learner = learner_class(folder, size, url)
    if command == "base":
        learner.create_base(*map(int, rest))
    else:
        *numbers, name = rest
        learner.train(*map(int, numbers), name)


if __name__ == "__main__":
    run_command(Learner)
