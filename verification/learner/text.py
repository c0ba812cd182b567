"""Questions and answers of the library as tokens: characters, after what all questions of a task have in common is cut away."""

import os

END, UNKNOWN, FIRST_CHARACTER = 1, 2, 3  # 0 is padding
CHARACTERS = "".join(map(chr, range(32, 127))) + "\n"
TOKENS = {character: FIRST_CHARACTER + k for k, character in enumerate(CHARACTERS)}
FIRST_TASK = FIRST_CHARACTER + len(CHARACTERS)
MIN_RUNGS = 5  # which a task must have within the learner's window
FITTING = 0.9  # the share of a rung's questions that must fit


class Window:
    """How many tokens of a question and of an answer the learner reads and writes."""

    def __init__(self, prompt, answer):
        self.prompt, self.answer = prompt, answer

    def write(self, answer):
        """The tokens of an answer, with its end."""
        body = [TOKENS.get(character, UNKNOWN) for character in answer[: self.answer - 1]] + [END]
        return body + [0] * (self.answer - len(body))

    def read(self, task, question):
        """The tokens of a question: padding, the part that differs from question to question, the task's token."""
        text = question.removeprefix(task["prefix"]).removesuffix(task["suffix"])
        body = [TOKENS.get(character, UNKNOWN) for character in text[-(self.prompt - 1) :]] + [task["token"]]
        return [0] * (self.prompt - len(body)) + body

    def survey(self, samples, defaults):
        """What the learner needs to know of a task, from (question, answer) pairs of each rung and of the default config: what its
        questions begin and end with, and how many rungs fit. None if too little fits."""
        questions = [question for rung in [*samples, defaults] for question, _ in rung]
        prefix = os.path.commonprefix(questions)
        suffix = os.path.commonprefix([question[len(prefix) :][::-1] for question in questions])[::-1]
        cut = len(prefix) + len(suffix)

        def fits(rung):
            good = [len(question) - cut < self.prompt and len(answer) < self.answer for question, answer in rung]
            return sum(good) >= FITTING * len(rung)

        reach = next((k for k, rung in enumerate(samples) if not fits(rung)), len(samples))
        return {"prefix": prefix, "suffix": suffix, "reach": reach} if reach >= MIN_RUNGS and fits(defaults) else None


def decode(tokens):
    """The text that tokens stand for."""
    characters = []
    for token in tokens:
        if token == END:
            break
        known = FIRST_CHARACTER <= token < FIRST_TASK
        characters.append(CHARACTERS[token - FIRST_CHARACTER] if known else "\N{REPLACEMENT CHARACTER}")
    return "".join(characters)
