"""self_reference: tries all ways in which the statements can be true or false."""

import re
from itertools import product

CLAIMS = [
    (r"At least (\d+) of these 7 statements are true", lambda n, truths: sum(truths) >= n),
    (r"At most (\d+) of these 7 statements are false", lambda n, truths: 7 - sum(truths) <= n),
    (r"Exactly (\d+) of these 7 statements are true", lambda n, truths: sum(truths) == n),
    (r"Exactly (\d+) of these 7 statements are false", lambda n, truths: 7 - sum(truths) == n),
    (r"Either Statement 3 or Statement 4 is true, but not both", lambda n, truths: truths[2] != truths[3]),
    (r"The number of true statements is a prime number", lambda n, truths: sum(truths) in (2, 3, 5, 7)),
    (r"The number of false statements is a composite number", lambda n, truths: 7 - sum(truths) in (4, 6)),
]


def solve(question):
    numbers = []
    for k, (pattern, _) in enumerate(CLAIMS):
        numbers.append(re.search(rf"Statement {k + 1}: '{pattern}\.'", question).groups())
    return str(
        sum(
            all(truth == claim(*map(int, n or [0]), truths) for truth, (_, claim), n in zip(truths, CLAIMS, numbers))
            for truths in product([False, True], repeat=7)
        )
    )


def wrong(question, key):
    right = int(solve(question))
    yield "one solution too many", str(right + 1)
    if right > 0:
        yield "one solution too few", str(right - 1)
