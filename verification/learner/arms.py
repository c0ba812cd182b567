"""Where each arm's items and rewards come from: a run of the server, or a plain loop over the library."""

import random
from collections import defaultdict

from world import LADDERS, MOST_SEEDS, draw

GROUP_SIZE = 8
SECONDS = 120  # to wait for items and verdicts

SERVER_ARMS = {
    "clean": {"preset": "clean"},
    "clean, learnability": {"preset": "clean", "sampling": "learnability"},
    "clean, upstream": {"preset": "clean", "scoring": "upstream"},
    "clean, curriculum": {"preset": "clean", "complexity_mode": "curriculum"},
    "clean, random": {"preset": "clean", "complexity_mode": "random"},
    "clean, defaults": {"preset": "clean", "complexity_mode": "none"},
    "original": {"preset": "original", "complexity_mode": "curriculum"},
}
IN_REACH = ", in reach"  # ends the names of arms whose runs know which rungs fit the learner's window


class ServerArm:
    """Items of a run, and the rewards that the server gives."""

    def __init__(self, judge, name, tasks, seed):
        words = name.replace(",", "").split()
        self.run = judge.client.run("-".join([*words, str(seed), str(random.SystemRandom().randrange(10**6))]), require_run=False)
        ranges = [{"task": task, "difficulty": [0, (about["reach"] - 1) / (LADDERS[task]["rungs"] - 1)]} for task, about in tasks.items()]
        common = {"tasks": ranges if name.endswith(IN_REACH) else list(tasks), "group_size": GROUP_SIZE, "seed": seed, "buffer": False, "min_trained_tokens": 0}
        self.run.put(**SERVER_ARMS[name.removesuffix(IN_REACH)], **common)
        self.step = 0

    def take(self, count):
        """`count` items as (handle, task, question)."""
        items = self.run.items(count, step=self.step, timeout_s=SECONDS)
        return [(item["id"], item["task"], item["question"]) for item in items]

    def reward(self, handles, answers):
        """Lists of rewards, a list of answers for each handle. None where an answer could not be scored."""
        groups = [
            {"item_id": handle, "group_id": f"{self.step}-{k}", "rollouts": [{"completion": f"<answer>{text}</answer>"} for text in texts]}
            for k, (handle, texts) in enumerate(zip(handles, answers))
        ]
        self.step += 1
        return [group["rewards"] for group in self.run.post_many(groups, wait_s=SECONDS)]


class PlainArm:
    """A loop over the library, by its own scores: tasks in equal shares. Subclasses choose the rung."""

    scoring = "upstream"

    def __init__(self, judge, tasks, seed):
        self.judge, self.tasks, self.rng = judge, tasks, random.Random(seed)

    def take(self, count):
        return [self.draw(self.rng.choice(list(self.tasks))) for _ in range(count)]

    def reward(self, handles, answers):
        recipes = [recipe for (_, _, recipe), texts in zip(handles, answers) for _ in texts]
        scores = iter(self.judge.score(recipes, [text for texts in answers for text in texts], self.scoring))
        groups = [[next(scores) for _ in texts] for texts in answers]
        for (task, k, _), group in zip(handles, groups):
            self.learn(task, k, [score or 0.0 for score in group])
        return groups

    def top(self, task):
        """The last rung that fits the learner's window."""
        return self.tasks[task]["reach"] - 1

    def choose(self, task):
        """The rung of the next item, or None for the library's defaults."""
        raise NotImplementedError

    def learn(self, task, rung, scores):
        """Is told the scores of a group."""

    def draw(self, task):
        k = self.choose(task)
        recipe, question, _ = draw(task, k, self.rng.randrange(MOST_SEEDS))
        return (task, k, recipe), task, question


class Defaults(PlainArm):
    def choose(self, task):
        return None


class RandomRung(PlainArm):
    def choose(self, task):
        return self.rng.randint(0, self.top(task))


class FixedRung(PlainArm):
    """The rung at difficulty 0.3."""

    def choose(self, task):
        return round(0.3 * self.top(task))


class Staircase(PlainArm):
    """Two groups in a row above 0.6: a rung up. Two below 0.3: a rung down."""

    def __init__(self, judge, tasks, seed):
        super().__init__(judge, tasks, seed)
        self.rungs, self.streaks = defaultdict(int), defaultdict(int)

    def choose(self, task):
        return self.rungs[task]

    def learn(self, task, rung, scores):
        mean = sum(scores) / len(scores)
        way = (mean > 0.6) - (mean < 0.3)
        self.streaks[task] = self.streaks[task] + way if way * self.streaks[task] >= 0 and way else way
        if rung == self.rungs[task] and abs(self.streaks[task]) >= 2:
            self.rungs[task] = min(max(self.rungs[task] + way, 0), self.top(task))
            self.streaks[task] = 0


class HardenedStaircase(Staircase):
    scoring = "hardened"


class Rlve(PlainArm):
    """The rule of RLVE (arXiv 2511.07317): items from the four topmost levels; a level more when 0.9 of 8 or more groups at the top are right."""

    WINDOW, THRESHOLD, PROMPTS = 4, 0.9, 8

    def __init__(self, judge, tasks, seed):
        super().__init__(judge, tasks, seed)
        self.tops, self.at_top = defaultdict(int), defaultdict(list)

    def choose(self, task):
        return self.rng.randint(max(0, self.tops[task] - self.WINDOW + 1), self.tops[task])

    def learn(self, task, rung, scores):
        if rung != self.tops[task]:
            return
        seen = self.at_top[task]
        seen.append(sum(score >= 1 for score in scores) / len(scores))
        if len(seen) < self.PROMPTS:
            return
        if sum(seen) / len(seen) >= self.THRESHOLD and rung < self.top(task):
            self.tops[task] += 1
        self.at_top[task] = []


PLAIN_ARMS = {
    "plain, defaults": Defaults,
    "plain, random rung": RandomRung,
    "plain, fixed 0.3": FixedRung,
    "plain, staircase": Staircase,
    "plain, staircase, hardened": HardenedStaircase,
    "plain, RLVE": Rlve,
}


def open_arm(name, judge, tasks, seed):
    return ServerArm(judge, name, tasks, seed) if name.removesuffix(IN_REACH) in SERVER_ARMS else PLAIN_ARMS[name](judge, tasks, seed)
