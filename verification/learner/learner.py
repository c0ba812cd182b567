"""Trains a small transformer by GRPO, from one base model in each arm, and prints what it reaches on held-out questions.

    python learner.py base FOLDER SIZE URL
    python learner.py train FOLDER SIZE URL STEPS SEED ARM

`base` finds the tasks that fit and trains the base model: on the library's answers, then on answers with noise, so that it knows
more than it can say. `train` prints a line of JSON for each measurement: arm, seed, step, rollouts, `accuracy` (held-out answers that
hardened scoring accepts, mean of the tasks), `paid` (those that the library's scoring pays), both by task, the share of groups with
signal and the mean reward since the last line, and seconds of training so far.
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

    def create_base(self):
        """Trains the base model, and keeps the tasks of which it knows a little."""
        prompts, answers = (numpy.concatenate(part) for part in zip(*map(self.make_examples, self.tasks)))
        report(f"{len(prompts)} examples of {len(self.tasks)} tasks")
        pools = {token: answers[prompts[:, -1] == token] for token in set(prompts[:, -1].tolist())}
        pools = {token: rows[rows > END] for token, rows in pools.items()}
        model, rng = self.create_model(1), numpy.random.default_rng(1)
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
        model.save(self.folder / "base.npz")
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

    def train(self, steps, seed, name):
        held_out, model = HeldOut(self), self.create_model(seed)
        model.load(self.folder / "base.npz")
        arm, seconds, signal, rewarded = open_arm(name, self.judge, self.tasks, seed), 0.0, 0, 0.0
        for step in range(steps + 1):
            if step % self.measure_every == 0:
                right, paid = held_out.measure(model)
                groups = max(step and self.measure_every * self.groups, 1)
                row = {"arm": name, "seed": seed, "step": step, "rollouts": step * self.groups * GROUP_SIZE}
                row |= {"accuracy": mean(right), "paid": mean(paid), "signal": round(signal / groups, 3)}
                row |= {"reward": round(rewarded / groups, 3), "seconds": round(seconds, 1), "right_by_task": right, "paid_by_task": paid}
                print(json.dumps(row), flush=True)
                signal, rewarded = 0, 0.0
            started = time.monotonic()
            with_signal, reward = self.train_step(arm, model, self.rate * min(1, (step + 1) / WARM_UP))
            signal, rewarded, seconds = signal + with_signal, rewarded + reward, seconds + time.monotonic() - started

    def train_step(self, arm, model, rate):
        """Groups of the arm, advantages (reward − mean), an update. Returns how many groups had signal, and the sum of their mean rewards."""
        taken = arm.take(self.groups)
        rows = [self.window.read(self.tasks[task], question) for _, task, question in taken]
        prompts = numpy.repeat(numpy.asarray(rows, numpy.int32), GROUP_SIZE, 0)
        sampled = model.sample(prompts)
        said = [[decode(tokens) for tokens in sampled[k : k + GROUP_SIZE]] for k in range(0, len(sampled), GROUP_SIZE)]
        texts = [[decode_words(self.tasks[task], question, text) for text in group] for (_, task, question), group in zip(taken, said)]
        rewards = numpy.asarray(arm.reward([handle for handle, _, _ in taken], texts), dtype=float)  # None becomes NaN
        means = numpy.nan_to_num(numpy.nanmean(rewards, axis=1, keepdims=True))
        advantages = numpy.nan_to_num(rewards - means)
        model.learn(prompts, sampled, advantages.ravel(), rate)
        return int((advantages != 0).any(axis=1).sum()), float(means.sum())


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
        """The shares of right answers by task: by hardened scoring, and by the library's."""
        parts = [self.prompts[k : k + self.part] for k in range(0, len(self.prompts), self.part)]
        parts[-1] = numpy.resize(parts[-1], parts[0].shape)  # of one shape, so that one program is compiled
        said = [decode(tokens) for part in parts for tokens in model.sample(part)]
        texts = [decode_words(*question, text) for question, text in zip(self.questions, said)]
        return [self.share(texts, scoring) for scoring in ("hardened", "upstream")]

    def share(self, texts, scoring):
        good = {}
        for recipe, score in zip(self.recipes, self.judge.score(self.recipes, texts, scoring)):
            good.setdefault(recipe["task"], []).append(score is not None and score >= 1)
        return {name: round(float(numpy.mean(values)), 4) for name, values in good.items()}


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
    """Runs what the command line asks for: base FOLDER SIZE URL, or train FOLDER SIZE URL STEPS SEED NAME."""
    command, folder, size, url, *rest = sys.argv[1:]
    learner = learner_class(folder, size, url)
    if command == "base":
        learner.create_base()
    else:
        steps, seed, name = rest
        learner.train(int(steps), int(seed), name)


if __name__ == "__main__":
    run_command(Learner)
