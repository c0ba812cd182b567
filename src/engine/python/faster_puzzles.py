"""Replaces loops of futoshiki, zebra_puzzles, acre and sokoban, which take half of the time to make items of all tasks, as
`faster_makers.py` does for other tasks.
"""

import functools
import re
from collections.abc import Sequence

from pysat.solvers import Cadical153
from reasoning_gym.games.contrib.sokoban.src import astar as sokoban_search
from reasoning_gym.games.contrib.sokoban.src import utils as sokoban_states
from reasoning_gym.games.futoshiki import FutoshikiDataset
from reasoning_gym.induction.acre import acre, blicket
from reasoning_gym.logic.contrib.logic_puzzle import clues, generate


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


def _write_clue(clue):
    """Clues are frozen, and to find one in a cache would take longer than to compare."""
    known = clue.__dict__
    if "_text" not in known:
        known["_text"] = str(clue)
    return known["_text"]


class _OtherSolutions:
    """Finds out whether a zebra puzzle has another solution than its own, under any of its clues."""

    def __init__(self, puzzle):
        self.solver = Cadical153()
        self.numbers = {}
        self.switches = {}  # by clue: the literal that it holds with
        self._add(puzzle.constraints)
        own = [self._number_of(clues.comb(value, house)) for value, house in puzzle.solution.items()]
        self.solver.add_clause([-number for number in own])

    def exist(self, chosen):
        return self.solver.solve([self.switches.get(clue) or self._add_switch(clue) for clue in chosen])

    def _add_switch(self, clue):
        switch = self.switches[clue] = self._number_of(clue)
        self._add(clue.as_cnf(), -switch)
        return switch

    def _add(self, cnf, *more):
        for clause in cnf:
            self.solver.add_clause([*map(self._number_of, clause), *more])

    def _number_of(self, literal):
        if isinstance(literal, str) and literal.startswith("~"):
            return -self._number_of(literal[1:])
        return self.numbers.setdefault(literal, len(self.numbers) + 1)


def _has_unique_solution(puzzle, chosen):
    """The library makes a solver of all clues for each set of them, and lets it look for two solutions. The clues are true of the puzzle's
    own solution, so here one solver looks for another."""
    with puzzle.with_clues(chosen):
        if not hasattr(puzzle, "others"):
            puzzle.others = _OtherSolutions(puzzle)
        return not puzzle.others.exist(puzzle.clues)


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


_SOKOBAN_THINGS = re.compile("[@X%$]")


def _find_boxes_and_goals(state, shape):
    """The library looks at each cell, several times for each move."""
    boxes, goals, boxes_on_goal = [], [], []
    lists = {"@": boxes, "X": goals, "%": goals, "$": boxes_on_goal}
    for thing in _SOKOBAN_THINGS.finditer(state):
        lists[thing[0]].append(divmod(thing.start(), shape[1]))
    return boxes, goals, boxes_on_goal


REPLACEMENTS = (
    (sokoban_states, "find_boxes_and_goals", _find_boxes_and_goals),
    (sokoban_search, "is_deadlock", functools.lru_cache(maxsize=4096)(sokoban_states.is_deadlock)),
    (FutoshikiDataset, "_generate_random_solution", _generate_futoshiki_solution),
    (FutoshikiDataset, "count_solutions", _count_futoshiki_solutions),
    (clues.Clue, "__lt__", _compare_clues),
    (generate, "has_unique_solution", _has_unique_solution),
    (acre, "final_parse", lambda serialized_questions: ParsedQuestions(serialized_questions)),
)
