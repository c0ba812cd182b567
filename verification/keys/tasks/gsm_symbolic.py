"""gsm_symbolic: one formula for each story, over the numbers of the story in their order, in exact fractions."""

import re
from fractions import Fraction as F
from math import floor


def half_up(price):
    return floor(price + F(1, 2))


def letters(question):
    count = int(re.search(r"with (\d+) letters|$", question)[1] or 26)
    times, part = numbers(question)[-2:]
    return 2 * (times * count + part * count)


def perimeter(question):
    area, long = numbers(question)
    long *= 3 if "yards, what" in question else 1
    return 2 * (long + area / long)


def not_more_than(most, value):
    return value if value <= most else None


# A phrase of the story, what is asked of its numbers, and whether the answer counts things that cannot be cut.
STORIES = [
    ("can peel", lambda rate, size, time, n: n / rate + n / size * time, "time"),
    ("bouncy balls came", lambda a, b, c, total: total - a - b - c, "things"),
    ("leaving early", lambda n, p, q, *_: n * p / 100 + n * (100 - p) / 100 * q / 100, "things"),
    ("pen pal", lambda n, lost, letters, pages, minutes: (n - lost) * letters * pages * minutes / 60, ""),
    ("use up all of her", lambda jars, each, size: jars * each / size, "things"),
    ("reach their goal", lambda weeks, a, b, more, goal: goal - a - b, "things"),
    ("times the number of boys", lambda girls, times: girls + girls * times, "things"),
    ("avid gardener", lambda new, each, ledges, gone: new + each * ledges - gone * ledges, "things"),
    ("in the ratio of", lambda sugar, water, n: n * sugar / (sugar + water), ""),
    ("bills. He buys", lambda bills, value, a, p, b, q: bills * value - a * p - b * q, "money"),
    ("times as old as", lambda age, years, times: age * times - years, "things"),
    ("times as much ", lambda times, n, m, fewer, again: n * times + n + m - fewer + m, "things"),
    ("minutes to finish a", lambda s, t, a, b: s * a + t * b, "time"),
    ("waterslide", lambda far, fast, near, faster: far / fast - near / faster, "time"),
    ("wants to exercise", lambda times, a, b: times * (a + b), "things"),
    ("athletic gear", lambda a, b, c, off, d: a + (a + b) + c / 2 + (d - off), "money"),
    ("times as many friends on", lambda a, b, n: n / a * b, "things"),
    ("occupied. Due to", lambda n, part, daily, weeks: n - n * part - daily * 7 * weeks, "things"),
    ("points in one game", lambda a, more, part: a + a * part / 100 + more, "things"),
    ("popping popcorn", lambda n, s, two, t, three, *_: n + n * two + n * three * F(13, 8), "things"),
    ("won't he be able to place", lambda size, n, count: n - size * count, "things"),
    ("flower bed", lambda long, space, owned, cost: (long / space - owned) * cost, "money"),
    ("will not go beyond", lambda budget, price, a, b: price * (100 + a + b) / 100 - budget, "money"),
    ("fewer hours of", lambda hours, rate, fee: hours * rate - fee, "money"),
    ("saw the Comet for the first", lambda years, age, times: age * times - years, "things"),
    ("nutritional info", lambda kcal, size, n, target, eaten: size / n * (target - eaten) / kcal, ""),
    ("A juggler", lambda n, p, q: n * p / 100 * q / 100, "things"),
    ("collects garbage", lambda n, m, each, p, o, times, pay: m * each * (2 + p / 100) * times * pay, "money"),
    ("normal brand", lambda price, p, daily, extra: price * (100 + p) / 100 * daily * 7 + extra, "money"),
    ("of all the puppies", lambda n, a, m, b: 100 * (a + b) / (n + m), ""),
    ("various hobbies", lambda n, a, b: n - a - b - 2 * b, "things"),
    ("sliced an", lambda total, a, b, c: not_more_than(total, 3 * a + 2 * b + c), "things"),
    ("cash register", lambda times, n: (n + n * times) * 7, "things"),
    ("were found by their friends", lambda n, each, left: n - 2 * each - left, "things"),
    ("-item quiz", lambda n, p, r: n * p / 100 * r / 100 + n * (100 - p) / 100 / 2, "things"),
    ("skeins of wool will", lambda children, *each: children * sum(each), "things"),
    ("-graders at", lambda n, girls, absent, boys: n - girls - boys, "things"),
    ("of all mentioned colors", lambda n, p: 2 * (n + n * (100 + p) / 100), "things"),
    ("is raising money", lambda part, own, cost: cost - cost * part - own, "money"),
    ("net proceeds", lambda price, a, b, loan: price * (100 - a - b) / 100 - loan, "money"),
    ("do they have together", lambda n, fewer: 2 * n - fewer, "things"),
    ("balls cost", lambda a, b, c, p, q, r: a * p + b * q + c * r, "money"),
    ("out of plastic", lambda husband, used, left: left + used - husband, "things"),
    ("as I pour it", lambda a, p, b, q, spill, left: (a - spill) * p + b * q, ""),
    ("school supplies", lambda n, p, m, q, paper: n * p + m * q + paper, "money"),
    ("A loaf of", lambda p, q, n, m: n * p - m * q, "money"),
    ("vending machines", lambda p, q, total, n, left: (total * (100 - left) - n * p) / q, "things"),
    ("piece puzzle", lambda a, b: a / 2 + b, "things"),
    ("friends can she invite", lambda n, tokens, rides, a, b: floor(n / (tokens + a + b * rides)) - 1, "things"),
    ("learning to write", letters, "things"),
    ("-sided die", lambda sides, n: 100 * (sides - n) / sides - 25, ""),
    ("minutes to walk to", lambda n, a, b: n - a - b, "time"),
    ("number of insects", lambda n: n + n / 2, "things"),
    ("have they made", lambda n, a, b: n - a - b, "things"),
    ("twice that number playing", lambda a, boys, girls: 3 * a + boys + girls, "things"),
    ("how many calories did he", lambda size, n, each: size * n * each, ""),
    ("fog bank", lambda minutes, miles, n: n / miles * minutes, ""),
    ("favorite walking trail", lambda n, beach, side, minutes, again: minutes + side / (2 * beach / minutes), ""),
    (" last? ", lambda n, each, times: n / (each + each * times), "things"),
    ("how many dozens", lambda n, a, m, b, days: (n * a + m * b) / 12, ""),
    ("watches TV", lambda h, m, h2, m2, h3, n, again: round((n - 2 * h - h2 - m2 / 60 - 2 * h3) * 60 / m), "things"),
    (" he picks ", lambda n, m, times: n + m + n * times, "things"),
    ("infected person infects", lambda n, r, days: n * (1 + r) ** days, "things"),
    ("is required to submit", lambda n, part: n - n * part, ""),
    ("tripped over", lambda n, dropped, found, fake: n - dropped + found - fake, "things"),
    ("per dozen", lambda n, p, m, q, k, r: n * p + m * q + k * r, "money"),
    ("is made out of", lambda n, times, total: total - n - n * times, "things"),
    ("fundraiser. On", lambda n, fewer, more, m, p, q: (n + n + more) * p + (m + m - fewer) * q, "money"),
    ("tubes of paint does", lambda n, m: n / 2 + 3 * m, "things"),
    ("average of their ages", lambda apart, age: age + apart / 2, ""),
    ("spools are", lambda a, b, c, d: 100 * (a + b) / (a + b + c + d), ""),
    ("works for a year", lambda weeks, days, pay: weeks * days * pay * 12, "money"),
    ("emails does", lambda n, p, days: n * (100 - p) / 100 * days, "things"),
    ("is left over for", lambda n, more: (n - more) / 2, ""),
    ("When the water is cold", lambda cold, extra, times, n: n * (extra + times * cold - cold), "time"),
    ("perimeter of the room", perimeter, ""),
    ("graduation", lambda n, graduates, faculty: (n - graduates - faculty) / graduates, "things"),
    ("Easter egg hunt", lambda n, a, k, less, part: 12 * n - a - a * k - (a * k - less) * (1 + part), "things"),
    ("can harvest", lambda size, each, months: size * each * floor(12 / months), "things"),
    ("nearest dollar", lambda a, b, c, n, m, k: n * half_up(a) + m * half_up(b) + k * half_up(c), "money"),
    ("slain", lambda n, a, times, b: n * a * times * b, "things"),
    ("shares of a stock", lambda n, price, up, down: n * price * (100 + up) / 100 * (100 - down) / 100, "money"),
    ("does this family eat", lambda a, b, c: a + b + c, "things"),
    ("feeding his livestock", lambda n, less, a, b: a * n + b * (2 * n - less), ""),
    ("wants to buy", lambda money, n, price: money - n * price, "money"),
]

# What a careful reader would ask back about, the start of a note that settles it, and the answer in the other reading.
READINGS = [
    ("can peel|minutes to finish|waterslide|minutes to walk|When the water", "minutes", lambda n, *_: n / 60),
    ("times the number of boys", "more boys", lambda n, girls, times: whole(girls + girls / times)),
    ("vending machines", "money", lambda n, p, q, total, m, left: (100 * total - m * p) / q),
    ("piece puzzle", "in that hour", lambda n, a, b: b),
    ("-sided die", "percentage points", lambda n, *_: 4 * n),
    ("nutritional info", "enough bags", lambda n, kcal, size, *_: min(n, size)),
]


def whole(value):
    return value if value.denominator == 1 else None


def numbers(question):
    texts = re.findall(r"\d+/\d+|\d+(?:,\d{3})*(?:\.\d+)?", question.partition(" Give the result")[0])
    return [F(text.replace(",", "")).limit_denominator(1000) for text in texts]


def solve(question):
    plain, _, note = question.partition("\n\nNote: ")
    formula, kind = next(story[1:] for story in STORIES if story[0] in plain)
    values = numbers(plain)
    answer = formula(plain) if formula in (letters, perimeter) else formula(*values)
    if "does this family eat" in plain:
        days = [7] if "one week" in plain else [30] if "30 days" in note else [28, 29, 30, 31]
        return [form(answer * day) for day in days]
    if answer is None or answer < 0 or (kind == "things" and answer.denominator > 1):
        return None
    open_readings = [row for row in READINGS if re.search(row[0], plain) and row[1] not in note]
    found = [other(answer, *values) for _, _, other in open_readings]
    return [form(value) for value in [answer, *found] if value is not None]


def form(value):
    value = F(value)
    return str(value) if value.denominator == 1 else f"{float(value):.4f}".rstrip("0")


def same(a, b):
    return abs(float(a) - float(b)) <= (0.005 if "." in a and "." in b else 0)


def others(question, key):
    answers = solve(question) or []
    if len(answers) == 1:
        yield f"${float(answers[0]):.2f}" if "." in answers[0] else f"${answers[0]}.00"
        yield f"{float(answers[0]):,.4f}".rstrip("0").rstrip(".") if "." in answers[0] else f"{int(answers[0]):,}"


def wrong(question, key):
    for answer in (solve(question) or [])[:1]:
        yield "one more", form(F(answer) + 1)
        yield "two answers", f"{answer} or {form(F(answer) + 1)}"
        yield "a tenth more", f"{float(answer) + 0.1:.1f}"
        if answer != "0":
            yield "the other sign", f"-{answer}"
