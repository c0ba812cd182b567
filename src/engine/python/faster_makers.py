"""Replaces the slowest loops with which the library makes items. Each replacement draws the same random numbers and returns the same
values, so items stay the same byte for byte; test/engine/python/faster_makers_test.py compares them with the library's own.

Only what took most of the time to make items of all tasks is here. The order in which Python iterates over a set decides between
equally good solutions, so the replacements build the same sets in the same way.
"""

import operator
import re
from collections import deque
from fractions import Fraction

from reasoning_gym.games import sudoku
from reasoning_gym.games.countdown import CountdownDataset
from reasoning_gym.games.knight_swap import KnightSwapLogic
from reasoning_gym.games.puzzle24 import Puzzle24Dataset
from reasoning_gym.games.sudoku import SudokuDataset
from reasoning_gym.graphs.quantum_lock import QuantumLockDataset
from sympy import symbols

import faster_acre
import faster_datasets
import faster_futoshiki
import faster_puzzles


_explored = {}  # the board of the latest call: its moves, and all that was reached in each search that ended without a solution


class _KnightMoves(dict):
    """The moves from each set of places, which stand in the order in which the library's set of them is iterated. Places are also bits."""

    def __init__(self, board):
        self.board = board
        self.bits = {pos: 1 << k for k, pos in enumerate(board)}

    def __missing__(self, places):
        self[places] = moves = []
        for pos in places:
            for neighbor in self.board[pos]:
                moved = tuple(frozenset([neighbor if place == pos else place for place in places]))
                moves.append((self.bits[neighbor], moved, self.get_bits(moved), pos, neighbor))
        return moves

    def get_bits(self, places):
        return sum(self.bits[pos] for pos in places)


def solve_knight_swap(board, pieces, start_turn="w"):
    """The library creates a class for each call and an object with three fields for each state; a state is a number here. It also searches
    a board again for each placement of its pieces, though what was reached from one of them leads nowhere else."""
    key = tuple((pos, tuple(neighbors)) for pos, neighbors in board.items())
    if key not in _explored:
        _explored.clear()
        _explored[key] = (_KnightMoves({pos: list(neighbors) for pos, neighbors in board.items()}), [])
    moves, searches = _explored[key]
    white, black = (tuple(frozenset(pos for pos, piece in pieces.items() if piece == color)) for color in "wB")
    white_bits, black_bits, size = moves.get_bits(white), moves.get_bits(black), len(board)
    # The bits of the color that moves, those of the other, and whether white moves. White starts where black is to end.
    goals = (black_bits | white_bits << size | 1 << 2 * size, white_bits | black_bits << size)
    if start_turn == "w":
        start = (white_bits | black_bits << size | 1 << 2 * size, white, black, white_bits, black_bits)
    else:
        start = (black_bits | white_bits << size, black, white, black_bits, white_bits)
    for reached in searches:
        if start[0] in reached and goals[0] not in reached and goals[1] not in reached:
            return None
    queue = deque([start])
    previous = {start[0]: None}
    while queue:
        state, moving, waiting, moving_bits, waiting_bits = queue.popleft()
        if state in goals:
            return _trace(previous, state)
        white_moves = state >> 2 * size
        taken, after = moving_bits | waiting_bits, waiting_bits | (not white_moves) << 2 * size
        for bit, moved, moved_bits, pos, neighbor in moves[moving]:
            if not bit & taken:
                reached = after | moved_bits << size
                if reached not in previous:
                    previous[reached] = (state, ("w" if white_moves else "B", pos, neighbor))
                    queue.append((reached, waiting, moved, waiting_bits, moved_bits))
    searches.append(previous)
    return None


def generate_quantum_puzzle(_dataset, rng, difficulty=1):
    """The library keeps every path to a state in its queue, and copies it for each button. Here a state is queued once."""
    small = [2, 3] if difficulty >= 5 else [1, 2]
    operations = [("add", small), ("subtract", small), ("multiply", [2, 3] if difficulty >= 7 else [2])]
    while True:
        combinations = []
        while len(combinations) < 3:
            kind, values = rng.choice(operations)
            value = rng.choice(values)
            combination = (kind, value, rng.choices(["any", "green", "red"], weights=[4, 2, 1], k=1)[0])
            if combination not in combinations:
                combinations.append(combination)
        base = 5 + difficulty**1.5
        target = max(8, int(base + rng.randint(-int(base * 0.2), int(base * 0.3))))
        max_steps = min(15, 6 + int(difficulty * 1.5))
        path = _find_button_path(combinations, target, max_steps)
        if path is not None:
            return {
                "initial_value": 0,
                "initial_state": "red",
                "target_value": target,
                "buttons": [
                    {"name": name, "type": kind, "value": value, "active_state": state}
                    for name, (kind, value, state) in zip("ABC", combinations)
                ],
                "max_steps": max_steps,
                "solution": path,
            }


def _find_button_path(combinations, target, max_steps):
    """Leaves out what is too high or too low for the steps that remain, most of all states: only subtracting leads down from above
    zero, and only adding up from below. All that follows from a state that is left out is left out, too."""
    start = (0, "red")
    previous = {start: None}
    level = [start]
    most_added, most_subtracted = (max((amount for kind, amount, _ in combinations if kind == own), default=0) for own in ("add", "subtract"))
    for steps_left in reversed(range(max_steps)):
        lowest, highest = -most_added * steps_left, target + most_subtracted * steps_left
        reached = []
        for place in level:
            value, state = place
            next_state = "green" if state == "red" else "red"
            for name, (kind, amount, active) in zip("ABC", combinations):
                if active != "any" and active != state:
                    continue
                changed = value + amount if kind == "add" else value - amount if kind == "subtract" else value * amount
                after = (changed, next_state)
                if not lowest < changed <= highest or after in previous:
                    continue
                previous[after] = (place, name)
                if changed == target:
                    return _trace(previous, after)
                reached.append(after)
        level = reached
    return None


def _trace(previous, place):
    path = []
    while previous[place] is not None:
        place, name = previous[place]
        path.append(name)
    path.reverse()
    return path


class _Candidate:
    """An expression of puzzle24 with its value. Only the one that is chosen becomes an expression of sympy."""

    def __init__(self, value, steps, syms):
        self._value = value
        self._steps = steps
        self._syms = syms

    def subs(self, _values):
        return self._value

    def __str__(self):
        return str(_build_expression(self._steps, self._syms))


_OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def _generate_candidate(self, rng, num_terms):
    """The library evaluates each candidate with sympy, and 64 candidates of 65 do not give 24."""
    numbers, steps, value = _draw_expression(self.config, rng, num_terms)
    syms = symbols(f"x:{num_terms}")
    return _Candidate(value, steps, syms), numbers, syms


def _generate_countdown_expression(self, rng):
    """The library evaluates each candidate with sympy, and most miss the range of targets."""
    num_terms = rng.randint(self.config.min_numbers, self.config.max_numbers)
    for _ in range(100):
        numbers, steps, value = _draw_expression(self.config, rng, num_terms)
        if self.config.min_target <= int(value) <= self.config.max_target:
            text = str(_build_expression(steps, symbols(f"x_0:{num_terms}")))
            return re.sub(r"x_(\d+)", lambda symbol: str(numbers[int(symbol[1])]), text), numbers, int(value)
    raise ValueError("Failed to generate valid expression after 100 attempts")


def _draw_expression(config, rng, num_terms):
    """Returns the numbers, the operators between them and the value, for which each operator applies to all before it."""
    numbers = [rng.randint(config.min_value, config.max_value) for _ in range(num_terms)]
    value = Fraction(numbers[0])
    steps = []
    for i in range(1, num_terms):
        op = rng.choice(config.operators)
        if op not in ("+", "-", "*"):
            op = _choose_division(rng, numbers, i, value)
        steps.append(op)
        value = _OPERATIONS[op](value, numbers[i])
    return numbers, steps, value


def _build_expression(steps, syms):
    expression = syms[0]
    for op, symbol in zip(steps, syms[1:]):
        expression = _OPERATIONS[op](expression, symbol)
    return expression


def _choose_division(rng, numbers, i, value):
    """Moves a divisor of the value to place `i`, if one is left. Returns the operator to use."""
    if numbers[i] == 0:
        return "+"
    remaining = [number for number in numbers[i:] if number != 0]
    rng.shuffle(remaining)
    for divisor in remaining:
        if int(value) % divisor == 0:
            numbers[i] = divisor
            return "/"
    return "-"


# By the digits that a row, a column and a box contain, as bits with 0 for an empty cell: the digits that are left, in the order in
# which the library's set of them is iterated.
_LEFT_DIGITS = [tuple(set(range(1, 10)) - {digit for digit in range(10) if bits >> digit & 1}) for bits in range(1 << 10)]


class _SudokuSearch:
    """A board, its empty cells in reading order, and the digits in each row, column and box as bits."""

    def __init__(self, board):
        self.board = board
        self.used = [1] * 27  # rows, columns, boxes; an empty cell counts as 0, and each cell that is asked for is empty
        self.empty = []
        for row in range(9):
            for column in range(9):
                if board[row][column] == 0:
                    self.empty.append((row, 9 + column, 18 + row // 3 * 3 + column // 3))
                else:
                    self._flip(row, 9 + column, 18 + row // 3 * 3 + column // 3, board[row][column])

    def _flip(self, row, column, box, digit):
        used, bit = self.used, 1 << digit
        used[row] ^= bit
        used[column] ^= bit
        used[box] ^= bit

    def solve(self, first=0):
        """Fills the board with the first solution. Returns whether there is one."""
        if first == len(self.empty):
            return True
        row, column, box = self.empty[first]
        cells, used = self.board[row], self.used
        for digit in _LEFT_DIGITS[used[row] | used[column] | used[box]]:
            cells[column - 9] = digit
            self._flip(row, column, box, digit)
            if self.solve(first + 1):
                return True
            self._flip(row, column, box, digit)
            cells[column - 9] = 0
        return False

    def count(self, limit):
        """Counts solutions up to the limit, filling the cell with the fewest digits first."""
        used, fewest, chosen = self.used, 10, None
        for place, (row, column, box) in enumerate(self.empty):
            left = len(_LEFT_DIGITS[used[row] | used[column] | used[box]])
            if left < fewest:
                fewest, chosen = left, place
                if left == 1:
                    break
        if chosen is None:
            return 1
        row, column, box = cell = self.empty.pop(chosen)
        total = 0
        for digit in _LEFT_DIGITS[used[row] | used[column] | used[box]]:
            self._flip(row, column, box, digit)
            total += self.count(limit)
            self._flip(row, column, box, digit)
            if total >= limit:
                break
        self.empty.insert(chosen, cell)
        return total


class _CopyOfRows:
    """In place of the module `copy`, for boards."""

    @staticmethod
    def deepcopy(board):
        return [row[:] for row in board]


def _solve_sudoku(_dataset, board):
    return _SudokuSearch(board).solve()


def _count_sudoku_solutions(_dataset, board, limit=2):
    """The library builds four sets for each empty cell at each step, and leaves the board filled in part. Its caller drops the board."""
    return _SudokuSearch(board).count(limit)


REPLACEMENTS = (
    (KnightSwapLogic, "solve_swap", staticmethod(solve_knight_swap)),
    (QuantumLockDataset, "generate_quantum_puzzle", generate_quantum_puzzle),
    (CountdownDataset, "_generate_expression", _generate_countdown_expression),
    (Puzzle24Dataset, "_generate_candidate_expression", _generate_candidate),
    (sudoku, "copy", _CopyOfRows),  # deepcopy took 2 of 4.4 ms
    (SudokuDataset, "_solve", _solve_sudoku),
    (SudokuDataset, "_count_solutions", _count_sudoku_solutions),
    *faster_acre.REPLACEMENTS,
    *faster_futoshiki.REPLACEMENTS,
    *faster_puzzles.REPLACEMENTS,
    *faster_datasets.REPLACEMENTS,
)
ORIGINALS = tuple((owner, name, vars(owner)[name]) for owner, name, _ in REPLACEMENTS)


def patch_library(functions=REPLACEMENTS):
    """Installs the replacements. With `ORIGINALS`, the library is as it was."""
    for owner, name, function in functions:
        setattr(owner, name, function)
