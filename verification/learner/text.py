"""Questions and answers of the library as tokens: characters, after what all questions of a task have in common is cut away.

In some tasks, each word of a question is one token: a character that is drawn for it, anew for each question.
"""

import os
import random

END, UNKNOWN, FIRST_CHARACTER = 1, 2, 3  # 0 is padding
CHARACTERS, OTHER = "".join(map(chr, range(32, 127))) + "\n", "\N{REPLACEMENT CHARACTER}"
TOKENS = {character: FIRST_CHARACTER + k for k, character in enumerate(CHARACTERS)}
FIRST_TASK = FIRST_CHARACTER + len(CHARACTERS)
MIN_RUNGS = 5  # which a task must have within the learner's window
SEPARATORS = {"word_sequence_reversal": ", "}  # of the words that are one token each
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
        text = encode_words(task, question, cut(task, question))
        body = [TOKENS.get(character, UNKNOWN) for character in text[-(self.prompt - 1) :]] + [task["token"]]
        return [0] * (self.prompt - len(body)) + body

    def survey(self, samples, defaults, separator=None):
        """What the learner needs to know of a task, from (question, answer) pairs of each rung and of the default config: what its
        questions begin and end with, how many rungs fit, and the separator of its words. None if too little fits."""
        questions = [question for rung in [*samples, defaults] for question, _ in rung]
        prefix = os.path.commonprefix(questions)
        suffix = os.path.commonprefix([question[len(prefix) :][::-1] for question in questions])[::-1]
        task = {"prefix": prefix, "suffix": suffix, "separator": separator}

        def fits(rung):
            texts = [(encode_words(task, question, cut(task, question)), encode_words(task, question, answer)) for question, answer in rung]
            good = [len(question) < self.prompt and len(answer) < self.answer for question, answer in texts]
            return sum(good) >= FITTING * len(rung)

        reach = next((k for k, rung in enumerate(samples) if not fits(rung)), len(samples))
        return {**task, "reach": reach} if reach >= MIN_RUNGS and fits(defaults) else None


def decode(tokens):
    """The text that tokens stand for."""
    characters = []
    for token in tokens:
        if token == END:
            break
        known = FIRST_CHARACTER <= token < FIRST_TASK
        characters.append(CHARACTERS[token - FIRST_CHARACTER] if known else OTHER)
    return "".join(characters)


def cut(task, question):
    """The part of a question that differs from question to question."""
    return question.removeprefix(task["prefix"]).removesuffix(task["suffix"])


def encode_words(task, question, text):
    """A text, with a character for each word if the task is one of words."""
    if not task["separator"]:
        return text
    characters = draw_characters(task, question)
    return "".join(characters.get(word, OTHER) for word in text.split(task["separator"]))


def decode_words(task, question, text):
    """The text that `encode_words` was given."""
    if not task["separator"]:
        return text
    words = {character: word for word, character in draw_characters(task, question).items()}
    return task["separator"].join(words.get(character, OTHER) for character in text)


def draw_characters(task, question):
    """The character of each word of a question. Of more words than characters, the last ones have none."""
    words = dict.fromkeys(cut(task, question).split(task["separator"]))
    return dict(zip(words, random.Random(question).sample(CHARACTERS, len(CHARACTERS))))
