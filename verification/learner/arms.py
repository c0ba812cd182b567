"""Where each arm's items and rewards come from: a run of the server, or a plain loop over the library."""

import json
import os
import random
import subprocess
from collections import defaultdict
from pathlib import Path

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
    "server, staircase": {"preset": "clean"},
}
IN_REACH = ", in reach"  # ends the names of arms whose runs know which rungs fit the learner's window


def climb_stairs(rung, streak, scores, top):
    """Two groups in a row above 0.6: a rung up. Two below 0.3: a rung down. Returns the rung and the streak."""
    mean = sum(scores) / len(scores)
    way = (mean > 0.6) - (mean < 0.3)
    streak = streak + way if way * streak >= 0 and way else way
    return (min(max(rung + way, 0), top), 0) if abs(streak) >= 2 else (rung, streak)


class ServerArm:
    """Items of a run, and the rewards that the server gives."""

    def __init__(self, judge, name, tasks, seed):
        words = name.replace(",", "").split()
        self.run = judge.client.run("-".join([*words, str(seed), str(random.SystemRandom().randrange(10**6))]), require_run=False)
        self.tasks = tasks
        ranges = [{"task": task, "difficulty": [0, difficulty_of(task, about["reach"] - 1)]} for task, about in tasks.items()]
        common = {"tasks": ranges if name.endswith(IN_REACH) else list(tasks), "group_size": GROUP_SIZE, "seed": seed, "buffer": False, "min_trained_tokens": 0}
        self.run.put(**SERVER_ARMS[name.removesuffix(IN_REACH)], **common)
        self.step = 0

    def take(self, count):
        """`count` items as (handle, task, question, rung); no rung at the library's defaults."""
        items = self.run.items(count, step=self.step, timeout_s=SECONDS)
        return [(item["id"], item["task"], item["question"], rung_at(item["task"], item["difficulty"])) for item in items]

    def reward(self, handles, answers):
        """Lists of rewards, a list of answers for each handle. None where an answer could not be scored."""
        groups = [
            {"item_id": handle, "group_id": f"{self.step}-{k}", "rollouts": [{"completion": f"<answer>{text}</answer>"} for text in texts]}
            for k, (handle, texts) in enumerate(zip(handles, answers))
        ]
        self.step += 1
        return [group["rewards"] for group in self.run.post_many(groups, wait_s=SECONDS)]

    def describe(self):
        """The estimate of `frontier` for each task: place and cap."""
        tasks = self.run.get()["tasks"]
        return {task: {key: state[key] for key in ("place", "cap") if key in state} for task, state in tasks.items()}


class ServerStaircase(ServerArm):
    """A staircase that fixes the difficulty of each task of a run, and changes it between steps."""

    def __init__(self, judge, name, tasks, seed):
        self.rungs, self.streaks = defaultdict(int), defaultdict(int)
        super().__init__(judge, name, tasks, seed)
        self.fix_difficulties()

    def fix_difficulties(self):
        self.run.set_mix([{"task": task, "difficulty": difficulty_of(task, self.rungs[task])} for task in self.tasks])

    def take(self, count):
        self.taken = super().take(count)
        return self.taken

    def reward(self, handles, answers):
        rewards, before = super().reward(handles, answers), dict(self.rungs)
        for (_, task, _, rung), group in zip(self.taken, rewards):
            if rung == self.rungs[task]:
                top, scores = self.tasks[task]["reach"] - 1, [score or 0.0 for score in group]
                self.rungs[task], self.streaks[task] = climb_stairs(rung, self.streaks[task], scores, top)
        if self.rungs != before:
            self.fix_difficulties()
        return rewards

    def describe(self):
        return {}


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
        return (task, k, recipe), task, question, k

    def describe(self):
        return {}


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
    """The rule of `climb_stairs`."""

    def __init__(self, judge, tasks, seed):
        super().__init__(judge, tasks, seed)
        self.rungs, self.streaks = defaultdict(int), defaultdict(int)

    def choose(self, task):
        return self.rungs[task]

    def learn(self, task, rung, scores):
        if rung == self.rungs[task]:
            self.rungs[task], self.streaks[task] = climb_stairs(rung, self.streaks[task], scores, self.top(task))


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


class HardenedRlve(Rlve):
    scoring = "hardened"


class Frontier(PlainArm):
    """The rule of the mode `frontier`, computed by frontier.ts with the server's code."""

    scoring = "hardened"

    def __init__(self, judge, tasks, seed):
        super().__init__(judge, tasks, seed)
        program = [os.environ.get("NODE", "node"), str(Path(__file__).with_name("frontier.ts"))]
        self.rule = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.states = {task: self.ask(task=task, difficulties=[difficulty_of(task, k) for k in range(self.top(task) + 1)]) for task in tasks}
        self.step = 0

    def ask(self, **group):
        self.rule.stdin.write(json.dumps(group) + "\n")
        self.rule.stdin.flush()
        return json.loads(self.rule.stdout.readline())

    def choose(self, task):
        return self.states[task]["rung"]

    def learn(self, task, rung, scores):
        score = sum(scores) / len(scores)
        self.states[task] = self.ask(task=task, rung=rung, score=score, rollouts=len(scores), step=self.step)

    def reward(self, handles, answers):
        rewards = super().reward(handles, answers)
        self.step += 1
        return rewards

    def describe(self):
        return {task: {"place": state["place"], "cap": state["cap"]} for task, state in self.states.items()}


class AlternatingFrontier(Frontier):
    """Every other item of a task is of the next harder rung."""

    def __init__(self, judge, tasks, seed):
        super().__init__(judge, tasks, seed)
        self.counts = defaultdict(int)

    def choose(self, task):
        self.counts[task] += 1
        return min(super().choose(task) + self.counts[task] % 2, self.top(task))


class ReachingFrontier(AlternatingFrontier):
    """Every other item of a task is of the next harder rung, where the learner is expected to solve a tenth of those."""

    def choose(self, task):
        return super().choose(task) if self.states[task]["solved"] >= 0.1 else Frontier.choose(self, task)


PLAIN_ARMS = {
    "plain, defaults": Defaults,
    "plain, random rung": RandomRung,
    "plain, fixed 0.3": FixedRung,
    "plain, staircase": Staircase,
    "plain, staircase, hardened": HardenedStaircase,
    "plain, RLVE": Rlve,
    "plain, RLVE, hardened": HardenedRlve,
    "plain, frontier, hardened": Frontier,
    "plain, frontier, alternating, hardened": AlternatingFrontier,
    "plain, frontier, reaching, hardened": ReachingFrontier,
}


def open_arm(name, judge, tasks, seed):
    if name.removesuffix(IN_REACH) not in SERVER_ARMS:
        return PLAIN_ARMS[name](judge, tasks, seed)
    return (ServerStaircase if name.startswith("server, staircase") else ServerArm)(judge, name, tasks, seed)


def difficulty_of(task, rung):
    return rung / (LADDERS[task]["rungs"] - 1)


def rung_at(task, difficulty):
    return None if difficulty is None else round(difficulty * (LADDERS[task]["rungs"] - 1))
