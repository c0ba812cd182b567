"""What several tries and feedback change: a small transformer trained by GRPO with one try at each question, or with two and feedback of a level.

    python tries.py base FOLDER SIZE URL BASE
    python tries.py train FOLDER SIZE URL STEPS SEED BASE ARM

`base` goes on from the base model of learner.py, which it trains if there is none. It trains that model on second tries too: after its
own wrong answer and the server's feedback of a random level, the right answer. The last steps are on answers with noise. `train` prints
a line of JSON for each measurement: arm, seed, step, rollouts, tokens generated so far, and the shares of held-out questions that are
right at the first try (`first`) and after the second (`last`), both by task. In each step, all arms of a seed get the same questions.
`last` is measured with the arm's own feedback, and without for one try.
"""

import json
import random
import re
from collections import Counter

import numpy
from arms import GROUP_SIZE
from learner import BASE_RATE, NOISY_RATE, REPORT_EVERY, WARM_UP, Learner, add_noise, mean, report, run_command
from model import Model
from text import END, FIRST_TASK, TOKENS, UNKNOWN, decode
from world import MOST_SEEDS, MOST_TASKS, draw

ARMS = {"one try": (1, "none"), "two tries": (2, "none"), "two tries, format": (2, "format"), "two tries, rule": (2, "rule")}
EXPLAINED = ["gcd", "spell_backward", "coin_flip", "count_bits", "basic_arithmetic"]
DISCOUNT = 0.5
GROUPS, BATCH = 8, 64  # of a step of GRPO, of a step of the base model
EXAMPLES, STEPS, NOISY_STEPS = 16_000, 800, 150  # of the base model
MEASURE_EVERY = 20  # steps
RUNGS, HELD_OUT = 4, 25  # the lowest rungs of each task, held-out questions of each
FIRST_WORD, MOST_WORDS = FIRST_TASK + MOST_TASKS, 128
SECOND_PROMPT, FEEDBACK = 72, 24  # tokens
PART = 512  # answers sampled at once
WRONG = "The answer is wrong."  # as the server says in place of feedback


class TriesLearner(Learner):
    def __init__(self, *args):
        super().__init__(*args)
        path = self.folder / "words.json"
        self.words = json.loads(path.read_text()) if path.exists() else {}
        self.names = [name for name in EXPLAINED if name in self.tasks]

    def create_model(self, seed):
        return Model(self.layers, self.width, FIRST_WORD + MOST_WORDS, self.window.answer, END, seed)

    def draw(self, rng, count):
        """Questions as (recipe, task, question, answer)."""
        names = [rng.choice(self.names) for _ in range(count)]
        items = [(name, *draw(name, rng.randrange(self.count_rungs(name)), rng.randrange(MOST_SEEDS))) for name in names]
        return [(recipe, name, question, answer) for name, recipe, question, answer in items]

    def count_rungs(self, name):
        return min(RUNGS, self.tasks[name]["reach"])

    def read(self, items):
        return numpy.asarray([self.window.read(self.tasks[name], question) for _, name, question, _ in items], numpy.int32)

    def read_again(self, items, answers, texts):
        """The prompts of second tries: question, first answer, feedback, the task's token."""
        rows = numpy.zeros((len(items), SECOND_PROMPT), numpy.int32)
        for row, first, answer, text in zip(rows, self.read(items).tolist(), answers.tolist(), texts):
            *question, task = [token for token in first if token]
            body = [*question, END, *[token for token in answer if token], *self.read_feedback(text), task][-SECOND_PROMPT:]
            row[-len(body) :] = body
        return rows

    def read_feedback(self, text):
        """A token for each known word, and for each character that is quoted or in no word."""
        tokens = []
        for quoted, word, character in split_feedback(text):
            tokens += [TOKENS.get(one, UNKNOWN) for one in quoted or character] if not word else [self.words.get(word, UNKNOWN)]
        return tokens[:FEEDBACK]

    def ask(self, items, answers, level):
        """What the server says about first answers: a text for each wrong one, None for others."""
        rollouts = [{"recipe": item[0], "turns": [decode(tokens)]} for item, tokens in zip(items, answers)]
        verdicts = self.judge.judge(rollouts, scoring="hardened", extraction="bare", feedback=level)
        wrong = [verdict.get("score") is not None and verdict["score"] < 1 for verdict in verdicts]
        return [verdict.get("feedback", {}).get("text", WRONG) if is_wrong else None for verdict, is_wrong in zip(verdicts, wrong)]

    def play(self, model, items, level, tries=2):
        """Up to `tries` tries: the prompts and answers of each turn, and the verdicts. The answer of a turn that is not needed is empty."""
        prompts = self.read(items)
        turns = [(prompts, sample(model, prompts))]
        spoken = [[decode(tokens)] for tokens in turns[0][1]]
        if tries == 2:
            texts = self.ask(items, turns[0][1], level)
            prompts = self.read_again(items, turns[0][1], [text or WRONG for text in texts])
            answers = sample(model, prompts)
            answers[[text is None for text in texts]] = 0
            turns.append((prompts, answers))
            spoken = [one if text is None else [*one, decode(tokens)] for one, text, tokens in zip(spoken, texts, answers)]
        rollouts = [{"recipe": item[0], "turns": texts} for item, texts in zip(items, spoken)]
        return turns, self.judge.judge(rollouts, scoring="hardened", extraction="bare", try_discount=DISCOUNT)

    def create_base(self, number):
        rng, rows = random.Random(1), numpy.random.default_rng(1)
        if not (self.folder / f"base-{number}.npz").exists():
            super().create_base(number)
        model = super().create_model(1)
        model.load(self.folder / f"base-{number}.npz")
        tokens = model.parameters["tokens"]
        new = rows.normal(0, 0.1 * tokens.shape[1] ** -0.5, (MOST_WORDS, tokens.shape[1]))  # so small that no answer has them
        model.parameters["tokens"] = numpy.concatenate([tokens, new.astype(numpy.float32)])
        items = self.draw(rng, EXAMPLES)
        prompts = self.read(items)
        answers = numpy.asarray([self.window.write(item[3]) for item in items], numpy.int32)
        wrong = sample(model, prompts)
        levels = [self.ask(items, wrong, level) for level in ("none", "format", "rule")]
        texts = [rng.choice(sorted(set(said) - {None}) or [None]) for said in zip(*levels)]
        heard = Counter(word for text in texts if text for _, word, _ in split_feedback(text) if word)
        self.words = {word: FIRST_WORD + k for k, (word, _) in enumerate(heard.most_common(MOST_WORDS))}
        kept = [k for k, text in enumerate(texts) if text]
        report(f"{len(kept)} second tries at {len(items)} questions, {len(self.words)} words")
        second = self.read_again([items[k] for k in kept], wrong[kept], [texts[k] for k in kept])
        prompts = numpy.concatenate([widen(prompts, SECOND_PROMPT), second])
        answers = numpy.concatenate([answers, answers[kept]])
        self.teach(model, rows, prompts, answers, STEPS, BASE_RATE)
        self.teach(model, rows, prompts, answers, NOISY_STEPS, NOISY_RATE, noisy=True)
        model.save(self.folder / f"tries-{number}.npz")
        (self.folder / "words.json").write_text(json.dumps(self.words, indent=1))

    def teach(self, model, rng, prompts, answers, steps, rate, noisy=False):
        pools = {token: answers[prompts[:, -1] == token] for token in set(prompts[:, -1].tolist())}
        pools = {token: rows[rows > END] for token, rows in pools.items()}
        model.forget_moments()
        for step in range(1, steps + 1):
            rows = rng.integers(len(prompts), size=BATCH)
            taught = add_noise(rng, pools, prompts[rows], answers[rows]) if noisy else answers[rows]
            model.learn(prompts[rows], taught, numpy.ones(BATCH), rate * min(1, step / 100) * max(0.05, 1 - step / steps))
            if step % REPORT_EVERY == 0:
                report(f"base model: step {step} of {steps}, {'noisy' if noisy else 'right'} answers")

    def train(self, steps, seed, base, name):
        tries, level = ARMS[name]
        held_out, rng, model, generated = self.draw_held_out(), random.Random(seed), self.create_model(seed), 0
        model.load(self.folder / f"tries-{base}.npz")
        for step in range(steps + 1):
            if step % MEASURE_EVERY == 0:
                row = {"arm": name, "seed": seed, "step": step, "rollouts": step * GROUPS * GROUP_SIZE, "tokens": generated}
                first, last = self.measure(model, held_out, level)
                print(json.dumps({**row, "first": mean(first), "last": mean(last), "first_by_task": first, "last_by_task": last}), flush=True)
            items = [item for item in self.draw(rng, GROUPS) for _ in range(GROUP_SIZE)]
            turns, verdicts = self.play(model, items, level, tries)
            generated += sum(int((answers != 0).sum()) for _, answers in turns)
            rewards = numpy.asarray([verdict.get("reward") for verdict in verdicts], float).reshape(-1, GROUP_SIZE)  # None becomes NaN
            advantages = numpy.nan_to_num(rewards - numpy.nanmean(rewards, axis=1, keepdims=True)).ravel()
            prompts = numpy.concatenate([widen(prompts, turns[-1][0].shape[1]) for prompts, _ in turns])
            answers = numpy.concatenate([answers for _, answers in turns])
            model.learn(prompts, answers, numpy.tile(advantages, len(turns)), self.rate * min(1, (step + 1) / WARM_UP))

    def draw_held_out(self):
        rng = random.Random(271828)
        drawn = [(name, *draw(name, k, rng.randrange(MOST_SEEDS))) for name in self.names for k in range(self.count_rungs(name)) for _ in range(HELD_OUT)]
        return [(recipe, name, question, answer) for name, recipe, question, answer in drawn]

    def measure(self, model, items, level):
        """The shares of right answers by task: at the first try, and after the second."""
        _, verdicts = self.play(model, items, level)
        first, last = {}, {}
        for (_, name, _, _), verdict in zip(items, verdicts):
            first.setdefault(name, []).append(((verdict.get("turns") or [{}])[0].get("score") or 0) >= 1)
            last.setdefault(name, []).append((verdict.get("score") or 0) >= 1)
        return [{name: round(float(numpy.mean(right)), 4) for name, right in good.items()} for good in (first, last)]


def split_feedback(text):
    """(quoted, word, character) of each part, of which one is not empty."""
    return re.findall(r"`([^`]*)`|([A-Za-z]{2,})|([^\s`])", text)


def sample(model, prompts):
    """In parts of one shape, so that one program is compiled."""
    parts = [prompts[k : k + PART] for k in range(0, len(prompts), PART)]
    size = min(PART, len(prompts))
    return numpy.concatenate([model.sample(numpy.resize(part, (size, part.shape[1])))[: len(part)] for part in parts])


def widen(prompts, width):
    return numpy.pad(prompts, ((0, 0), (width - prompts.shape[1], 0)))


if __name__ == "__main__":
    run_command(TriesLearner)
