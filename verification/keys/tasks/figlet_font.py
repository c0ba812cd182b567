"""figlet_font: writes the key in each font, and finds letters that look like another one in that font."""

import functools

import pyfiglet


@functools.cache
def figlets():
    return {font: pyfiglet.Figlet(font=font) for font in pyfiglet.FigletFont.getFonts()}


def drawing(question):
    return question.split(":\n\n" if question.startswith("Please") else "?\n\n", 1)[1]


@functools.lru_cache(50_000)
def draw(word, font):
    return figlets()[font].renderText(word)


def find_fonts(question, word):
    """The fonts, with the word as it was drawn: its letters apart or not."""
    wanted = drawing(question)
    lines = wanted.count("\n")
    for font, figlet in figlets().items():
        for text in (" ".join(word), word):
            if lines % figlet.Font.height in (0, 1) and draw(text, font) == wanted:
                yield font, text


def lookalikes(question, word):
    """Words of other letters that are drawn alike."""
    fonts = list(find_fonts(question, word))
    assert fonts
    for font, text in fonts[:1]:
        for k, letter in enumerate(text):
            for other in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if letter != " " else "":
                if other != letter.upper() and draw(text[:k] + other + text[k + 1 :], font) == draw(text, font):
                    yield (text[:k] + other + text[k + 1 :]).replace(" ", "")


def check(question, answer):
    return any(True for _ in find_fonts(question, answer.upper()))


def others(question, key):
    yield key.lower()
    yield key.capitalize()
    yield from lookalikes(question, key)


def wrong(question, key):
    yield "a letter is wrong", key[:-1] + ("A" if key[-1] != "A" else "B")
    yield "a letter is missing", key[:-1]
    yield "a letter too many", key + "S"
    if key != key[::-1]:
        yield "from right to left", key[::-1]
    yield "the drawing", drawing(question)
