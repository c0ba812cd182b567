"""Replaces loops of futoshiki, zebra_puzzles and acre, which take half of the time to make items of all tasks, as `faster_makers.py` does
for other tasks.
"""

import functools
from collections.abc import Sequence

from reasoning_gym.games.futoshiki import FutoshikiDataset
from reasoning_gym.induction.acre import acre, blicket
from reasoning_gym.logic.contrib.logic_puzzle import clues, sat_utils


def _generate_futoshiki_solution(_dataset, size, rng):
    """The library tries every permutation of a row; here a number that its column has ends all that begin like that."""
    grid = [[0] * size for _ in range(size)]
    columns = [set() for _ in range(size)]

    def fill(row):
        if row == size:
            return True
        numbers = list(range(1, size + 1))
        rng.shuffle(numbers)
        return fill_from(row, 0, numbers)

    def fill_from(row, column, left):
        """The order is that of `itertools.permutations`."""
        if column == size:
            return fill(row + 1)
        for k, number in enumerate(left):
            if number not in columns[column]:
                grid[row][column] = number
                columns[column].add(number)
                if fill_from(row, column + 1, left[:k] + left[k + 1 :]):
                    return True
                columns[column].remove(number)
        return False

    if fill(0):
        return grid
    raise ValueError("Could not generate a random solution.")


def _count_futoshiki_solutions(_dataset, grid, constraints, limit=2):
    """The library tries each number in the first empty cell and looks at all constraints. Here numbers are bits, and the cell with the
    fewest comes first; the count is the same."""
    size = len(grid)
    rows, columns = [0] * size, [0] * size
    empty = []
    for r, line in enumerate(grid):
        for c, number in enumerate(line):
            rows[r] |= 1 << number
            columns[c] |= 1 << number
            if number == 0:
                empty.append((r, c))
    values = [list(line) for line in grid]
    less, greater = {}, {}  # by cell: cells that are less, or greater
    for (one, other), sign in constraints.items():
        low, high = (one, other) if sign == "<" else (other, one)
        less.setdefault(high, []).append(low)
        greater.setdefault(low, []).append(high)
    every = (1 << size + 1) - 2

    def find_candidates(cell):
        r, c = cell
        left = every & ~(rows[r] | columns[c])
        for rr, cc in less.get(cell, ()):
            left &= ~((2 << values[rr][cc]) - 1)
        for rr, cc in greater.get(cell, ()):
            if values[rr][cc]:
                left &= (1 << values[rr][cc]) - 1
        return left

    def count(limit):
        fewest, chosen, bits = size + 1, None, 0
        for place, cell in enumerate(empty):
            left = find_candidates(cell)
            number_left = left.bit_count()
            if number_left < fewest:
                fewest, chosen, bits = number_left, place, left
                if number_left < 2:
                    break
        if chosen is None:
            return 1
        r, c = cell = empty.pop(chosen)
        total = 0
        while bits and total < limit:
            bit = bits & -bits
            bits ^= bit
            values[r][c] = bit.bit_length() - 1
            rows[r] ^= bit
            columns[c] ^= bit
            total += count(limit - total)
            rows[r] ^= bit
            columns[c] ^= bit
        values[r][c] = 0
        empty.insert(chosen, cell)
        return total

    return count(limit) if limit > 0 else 0


def _compare_clues(clue, other):
    """The library writes both texts for each comparison of a sort."""
    return _write_clue(clue) < _write_clue(other)


@functools.lru_cache(maxsize=4096)
def _write_clue(clue):
    return str(clue)


_from_dnf = sat_utils.from_dnf


def _from_dnf_once(groups):
    return list(_from_dnf_of(tuple(map(tuple, groups))))


@functools.lru_cache(maxsize=4096)
def _from_dnf_of(groups):
    return _from_dnf(groups)


class ParsedQuestions(Sequence):
    """The questions of acre: only the one that is asked for becomes text. Each sample has six examples and then four questions."""

    QUESTIONS = 4

    def __init__(self, samples):
        self.samples = samples

    def __len__(self):
        return self.QUESTIONS * len(self.samples)

    def __getitem__(self, at):
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        sample, question = divmod(at % len(self), self.QUESTIONS)
        return blicket.final_parse(self.samples[sample : sample + 1])[question]


REPLACEMENTS = (
    (FutoshikiDataset, "_generate_random_solution", _generate_futoshiki_solution),
    (FutoshikiDataset, "count_solutions", _count_futoshiki_solutions),
    (clues.Clue, "__lt__", _compare_clues),
    (clues, "from_dnf", _from_dnf_once),
    (acre, "final_parse", lambda serialized_questions: ParsedQuestions(serialized_questions)),
)
