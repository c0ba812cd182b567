"""What wrong keys cost: a small transformer trained by GRPO on the library's keys, or on corrected ones.

    python keys.py base FOLDER SIZE URL BASE
    python keys.py train FOLDER SIZE URL STEPS SEED BASE ARM

Each word of a question is a token, and so is the answer; a person is read as a number and a sex. `base` trains the base model on the
keys that are right, and on random answers where the key is wrong, so that it favors neither answer there. Its last steps are on answers
with noise, so that it knows more than it says. In `train`, the arms of a seed get the same questions in the same order. A reward is 1
for what the scoring of the arm pays in full, else 0. `train` prints a line of JSON for each measurement: arm, seed, step, rollouts, and
for each task `wrong_keys` (their share on its rung) and three shares of sampled answers to held-out questions: `right` (key right,
answer right), `recovered` (key wrong, answer right) and `misled` (key wrong, answer equal to it).
"""

import json
import random
import re
from pathlib import Path

import numpy
from arms import GROUP_SIZE
from learner import BASE_RATE, NOISY_RATE, REPORT_EVERY, SIZES, WARM_UP, report, run_command
from model import Model
from text import END, FIRST_CHARACTER, UNKNOWN
from world import MOST_SEEDS, Judge, draw, library

ARMS = {"upstream keys": "upstream", "corrected keys": "hardened"}
RUNGS = {"syllogism": 5, "family_relationships": 0}  # where many keys are wrong
DULL = set("Consider these statements are Does it logically follow that They have a called is to What How relation related".split())
NEVER_KEYS = {"family_relationships": ["daughter-in-law", "son-in-law"]}  # right answers that the library never gives
PAID_IN_FULL = 0.99
PROMPT, ANSWER = 16, 2  # tokens
FIRST_WORD, MOST_WORDS = FIRST_CHARACTER, 256  # tokens
EXAMPLES, STEPS, NOISY_STEPS = 6_000, 1_000, 300  # of each task for the base model, and its steps
NOISE = 0.5  # the share of answers that the last steps of the base model replace
HELD_OUT = 200  # questions of each task with a right key, and as many with a wrong one
MEASURE_EVERY = 20  # steps


class KeysLearner:
    def __init__(self, folder, size, url):
        self.folder, self.judge, self.size = Path(folder), Judge(url), SIZES[size]
        path = self.folder / "keys.json"
        about = json.loads(path.read_text()) if path.exists() else {}
        self.words, self.answers, self.wrong_keys = (about.get(name, {}) for name in ("words", "answers", "wrong_keys"))

    def create_model(self, seed):
        return Model(self.size["layers"], self.size["width"], FIRST_WORD + MOST_WORDS, ANSWER, END, seed)

    def pay(self, items, answers, scoring):
        """1 for each answer that is paid in full, else 0."""
        scores = self.judge.score([recipe for recipe, _, _ in items], answers, scoring)
        return [int((score or 0) >= PAID_IN_FULL) for score in scores]

    def draw(self, seed, task, count):
        """Items as (recipe, question, key), and whether the key of each is right."""
        rng = random.Random(f"{task} {seed}")
        items = [draw(task, RUNGS[task], rng.randrange(MOST_SEEDS)) for _ in range(count)]
        return items, self.pay(items, [key for _, _, key in items], "hardened")

    def read(self, items):
        rows = numpy.zeros((len(items), PROMPT), numpy.int32)
        for row, (_, question, _) in zip(rows, items):
            body = [self.words.get(word, UNKNOWN) for word in split(question)]
            row[PROMPT - len(body) :] = body
        return rows

    def write(self, answers):
        return numpy.asarray([[self.words[answer], END] for answer in answers], numpy.int32)

    def decode(self, rows):
        """A word for each row of tokens; an empty one where the learner said more or less than one."""
        words = {token: word for word, token in self.words.items()}
        return [words.get(first, "") if second == END else "" for first, second in rows.tolist()]

    def create_base(self, number):
        drawn = {task: self.draw("base", task, EXAMPLES) for task in RUNGS}
        self.survey(drawn)
        report(f"wrong keys: {json.dumps(self.wrong_keys)}; {len(self.words)} words")
        examples = [(task, item, is_right) for task in RUNGS for item, is_right in zip(*drawn[task])]
        model, held_out = self.create_model(1), self.draw_held_out()
        for steps, rate, noise in ((STEPS, BASE_RATE, 0.0), (NOISY_STEPS, NOISY_RATE, NOISE)):
            self.teach(model, examples, steps, rate, noise)
            report(f"after {steps} steps with noise {noise}: {json.dumps(self.measure(model, held_out))}")
        self.folder.mkdir(parents=True, exist_ok=True)
        model.save(self.folder / f"keys-{number}.npz")
        about = {"words": self.words, "answers": self.answers, "wrong_keys": self.wrong_keys}
        (self.folder / "keys.json").write_text(json.dumps(about, indent=1))

    def survey(self, drawn):
        """Finds the share of wrong keys and the answers of each task, and the words of all."""
        self.wrong_keys = {task: round(1 - sum(is_right) / EXAMPLES, 4) for task, (_, is_right) in drawn.items()}
        self.answers = {task: sorted({key for _, _, key in items}) + NEVER_KEYS.get(task, []) for task, (items, _) in drawn.items()}
        said = {word for items, _ in drawn.values() for _, question, _ in items for word in split(question)}
        self.words = {word: FIRST_WORD + k for k, word in enumerate(sorted(said.union(*self.answers.values())))}

    def teach(self, model, examples, steps, rate, noise):
        """Supervised learning. Where the key is wrong, and for a share `noise` of the others, the answer is a random one of the task."""
        rng, prompts = random.Random(1), self.read([item for _, item, _ in examples])
        model.forget_moments()
        for step in range(1, steps + 1):
            rows = rng.choices(range(len(examples)), k=self.size["batch"])
            picked = [examples[k] for k in rows]
            taught = [key if is_right and rng.random() >= noise else rng.choice(self.answers[task]) for task, (_, _, key), is_right in picked]
            ramp = min(1, step / 100) * max(0.05, 1 - step / steps)
            model.learn(prompts[rows], self.write(taught), numpy.ones(len(rows)), rate * ramp)
            if step % REPORT_EVERY == 0:
                report(f"base model: step {step} of {steps}, noise {noise}")

    def train(self, steps, seed, base, name):
        held_out, rng, model = self.draw_held_out(), random.Random(seed), self.create_model(seed)
        model.load(self.folder / f"keys-{base}.npz")
        for step in range(steps + 1):
            if step % MEASURE_EVERY == 0:
                row = {"arm": name, "seed": seed, "step": step, "rollouts": step * self.size["groups"] * GROUP_SIZE}
                print(json.dumps({**row, "tasks": self.measure(model, held_out)}), flush=True)
            self.train_step(model, rng, ARMS[name], self.size["rate"] * min(1, (step + 1) / WARM_UP))

    def train_step(self, model, rng, scoring, rate):
        """Groups of both tasks, advantages (reward − mean), an update."""
        drawn = [draw(task, RUNGS[task], rng.randrange(MOST_SEEDS)) for task in rng.choices(list(RUNGS), k=self.size["groups"])]
        items = [item for item in drawn for _ in range(GROUP_SIZE)]
        prompts = self.read(items)
        sampled = model.sample(prompts)
        rewards = numpy.asarray(self.pay(items, self.decode(sampled), scoring), float).reshape(-1, GROUP_SIZE)
        model.learn(prompts, sampled, (rewards - rewards.mean(axis=1, keepdims=True)).ravel(), rate)

    def draw_held_out(self):
        """By task: questions with a right key, then as many with a wrong one. Fails if the scorings differ on the former for any word."""
        held_out = {}
        for task in RUNGS:
            items, is_right = self.draw("held out", task, HELD_OUT * 12)
            good, bad = ([item for item, right in zip(items, is_right) if right == wanted][:HELD_OUT] for wanted in (1, 0))
            pairs = [(item, word) for item in good for word in self.answers[task]]
            if self.pay(*zip(*pairs), "upstream") != self.pay(*zip(*pairs), "hardened"):
                raise ValueError(f"the scorings of {task} differ where its key is right")
            held_out[task] = good, bad
        return held_out

    def measure(self, model, held_out):
        """The shares of each task, from an answer to each held-out question."""
        return {task: {"wrong_keys": self.wrong_keys[task], **self.measure_task(model, *parts)} for task, parts in held_out.items()}

    def measure_task(self, model, good, bad):
        said = self.decode(model.sample(self.read(good + bad)))
        right = self.pay(good + bad, said, "hardened")
        misled = [word == key for word, (_, _, key) in zip(said[len(good) :], bad)]
        shares = {"right": right[: len(good)], "recovered": right[len(good) :], "misled": misled}
        return {name: round(float(numpy.mean(values)), 4) for name, values in shares.items()}


def find_sexes():
    """The sex of each name of a family."""
    config = library.get_dataset("family_relationships", {}, 0).config
    return {**dict.fromkeys(config.male_names, "man"), **dict.fromkeys(config.female_names, "woman")}


def split(question):
    """The words up to the last question mark, without those that say nothing here. People are numbered, and stand with their sex."""
    words = [word for word in re.findall(r"[A-Za-z]+", question[: question.rindex("?")]) if word not in DULL]
    numbers = {name: k for k, name in enumerate(dict.fromkeys(word for word in words if word in SEXES))}
    return [f"{SEXES[word]} {numbers[word]}" if word in SEXES else word for word in words]


SEXES = find_sexes()

if __name__ == "__main__":
    run_command(KeysLearner)
