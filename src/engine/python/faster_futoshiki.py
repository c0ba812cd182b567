"""Replaces the loops of futoshiki, as `faster_makers.py` does for other tasks. Numbers that a cell may have are bits.

A clue is removed if one solution is left and the library's own solver finds one. That solver is wrong about hidden pairs, so it fails
for some puzzles, and items depend on it: `_Logic` draws the same conclusions in the same order.
"""

import itertools

from reasoning_gym.games.futoshiki import FutoshikiDataset

def _generate_solution(_dataset, size, rng):
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


def _remove_clues(dataset, grid, constraints, rng):
    """The library solves each puzzle before it counts the solutions. A cell without which there are two keeps its clue for good."""
    size = len(grid)
    target = size * size // 10
    search = _Search(grid, constraints)
    cells = list(itertools.product(range(size), repeat=2))
    needed = set()

    def remove():
        for r, c in cells:
            if size * size - len(search.empty) <= target:
                break
            number = grid[r][c]
            if number == 0 or (r, c) in needed:
                continue
            if search.has_other_solution((r, c), number):
                needed.add((r, c))
                continue
            grid[r][c] = 0
            if _solves(dataset, grid, constraints):
                search.clear((r, c), number)
            else:
                grid[r][c] = number

    rng.shuffle(cells)
    remove()
    if size * size - len(search.empty) > 2 * target:
        rng.shuffle(cells)
        remove()
    return grid


class _Search:
    """A puzzle with one solution, for which it looks whether there are others once a clue is removed."""

    def __init__(self, grid, constraints):
        self.every = (2 << len(grid)) - 2
        self.rows = [sum(1 << number for number in line) for line in grid]
        self.columns = [sum(1 << number for number in line) for line in zip(*grid)]
        self.values = {(r, c): number for r, line in enumerate(grid) for c, number in enumerate(line)}
        self.empty = []
        self.less, self.greater = ({cell: [] for cell in self.values} for _ in range(2))
        for (one, other), sign in constraints.items():
            low, high = (one, other) if sign == "<" else (other, one)
            self.less[high].append(low)
            self.greater[low].append(high)

    def clear(self, cell, number):
        self._flip(cell, 1 << number)
        self.values[cell] = 0
        self.empty.append(cell)

    def has_other_solution(self, cell, number):
        """Another solution has another number in the cell, for the puzzle has one solution with this number."""
        self._flip(cell, 1 << number)
        found = self._try(cell, self._find_candidates(cell) & ~(1 << number))
        self._flip(cell, 1 << number)
        self.values[cell] = number
        return found

    def _flip(self, cell, bit):
        self.rows[cell[0]] ^= bit
        self.columns[cell[1]] ^= bit

    def _find_candidates(self, cell):
        r, c = cell
        left = self.every & ~(self.rows[r] | self.columns[c])
        if left:
            for low in self.less[cell]:
                left &= -(2 << self.values[low])
            for high in self.greater[cell]:
                if self.values[high]:
                    left &= (1 << self.values[high]) - 1
        return left

    def _try(self, cell, bits):
        found = False
        while bits and not found:
            bit = bits & -bits
            bits ^= bit
            self.values[cell] = bit.bit_length() - 1
            self._flip(cell, bit)
            found = self._can_be_filled()
            self._flip(cell, bit)
        self.values[cell] = 0
        return found

    def _can_be_filled(self):
        """Fills the cell with the fewest candidates first."""
        fewest, chosen, bits = len(self.rows) + 1, None, 0
        for place, cell in enumerate(self.empty):
            left = self._find_candidates(cell)
            number_left = left.bit_count()
            if number_left < fewest:
                fewest, chosen, bits = number_left, place, left
                if number_left < 2:
                    break
        if chosen is None:
            return True
        cell = self.empty.pop(chosen)
        found = self._try(cell, bits)
        self.empty.insert(0, cell)
        return found


def _solves(dataset, grid, constraints):
    """Returns whether the library's solver finds a solution, be it a wrong one."""
    size = len(grid)
    if size > _MOST_ORDERED:
        return dataset._solve([line[:] for line in grid], constraints) is not None
    logic = _Logic([number for line in grid for number in line], size, constraints)
    while logic.empty and logic.progress():
        pass
    if not logic.empty:
        return True
    at = logic.empty[0]
    filled = [logic.values[r * size : (r + 1) * size] for r in range(size)]
    r, c = divmod(at, size)
    for number in _NUMBERS[logic.left[at]]:
        if dataset._is_valid(filled, r, c, number, constraints):
            filled[r][c] = number
            if _solves(dataset, filled, constraints):
                return True
            filled[r][c] = 0
    return False


_MOST_ORDERED = 15  # up to here, the library's sets are iterated in ascending order, but for pairs


class _NumbersOfBits(dict):
    def __missing__(self, bits):
        self[bits] = numbers = tuple(number for number in range(1, bits.bit_length()) if bits >> number & 1)
        return numbers


_NUMBERS = _NumbersOfBits()


class _Logic:
    """The rules of the library's solver. Cells are numbered row by row."""

    def __init__(self, values, size, constraints):
        self.values = values
        self.size = size
        self.rows = [range(r * size, (r + 1) * size) for r in range(size)]
        self.columns = [range(c, size * size, size) for c in range(size)]
        every = (2 << size) - 2
        self.empty = [cell for cell, number in enumerate(values) if number == 0]
        self.left = [1 << number if number else every for number in values]
        self.pairs = {}  # by cell: a pair as its set is iterated
        self.signs = []  # cells that are less, with those that are greater
        for ((r, c), (rr, cc)), sign in constraints.items():
            one, other = r * size + c, rr * size + cc
            self.left[one] &= ~(1 << size if sign == "<" else 2)
            self.signs.append((one, other) if sign == "<" else (other, one))

    def progress(self):
        """Applies each rule once, or until the puzzle is solved. As in the library, hidden singles and pairs are no progress."""
        progress = False
        for rule in _RULES:
            progress |= rule(self)
            self._place_singles()
            if not self.empty:
                break
        return progress

    def _place_singles(self):
        left = self.left
        singles = [cell for cell in self.empty if left[cell] and not left[cell] & (left[cell] - 1)]
        if singles:
            for cell in singles:
                self.values[cell] = left[cell].bit_length() - 1
            self.empty = [cell for cell in self.empty if self.values[cell] == 0]

    def _exclude(self, cell, bits):
        """Returns whether the cell had any of them."""
        had = self.left[cell] & bits
        self.left[cell] ^= had
        return had != 0

    def _exclude_placed(self):
        progress, left, values = False, self.left, self.values
        for line in (*self.rows, *self.columns):
            once = twice = 1  # the bit of an empty cell
            for cell in line:
                bit = 1 << values[cell]
                twice |= once & bit
                once |= bit
            for cell in line:
                bits = left[cell] & (twice if values[cell] else once)
                if bits:
                    left[cell] ^= bits
                    progress = True
        return progress

    def _exclude_by_signs(self):
        progress = False
        for low, high in self.signs:
            low_value, high_value = self.values[low], self.values[high]
            if low_value and not high_value:
                progress |= self._exclude(high, (2 << low_value) - 1)
            if high_value and not low_value:
                progress |= self._exclude(low, -(1 << high_value))
        return progress

    def _find_hidden_singles(self):
        in_rows = [self._find_unique(line) for line in self.rows]
        in_columns = [self._find_unique(line) for line in self.columns]
        for cell in self.empty:
            r, c = divmod(cell, self.size)
            unique = self.left[cell] & (in_rows[r] | in_columns[c])
            if unique:
                first = next(number for number in self._iterate(cell) if unique >> number & 1)
                self.left[cell] = 1 << first
                in_rows[r] = self._find_unique(self.rows[r])
                in_columns[c] = self._find_unique(self.columns[c])
        return False

    def _find_unique(self, line):
        once = twice = 0
        left = self.left
        for cell in line:
            bits = left[cell]
            twice |= once & bits
            once |= bits
        return once & ~twice

    def _iterate(self, cell):
        bits = self.left[cell]
        return self.pairs[cell] if cell in self.pairs and bits & (bits - 1) else _NUMBERS[bits]

    def _exclude_naked_pairs(self):
        progress = False
        for cell in self.empty:
            bits = self.left[cell]
            if bits.bit_count() != 2:
                continue
            r, c = divmod(cell, self.size)
            for line in (self.rows[r], self.columns[c]):
                for other in line:
                    if other != cell and self.left[other] == bits:
                        for third in line:
                            if third != cell and third != other and self.left[third] & bits:
                                progress |= self._exclude(third, bits)
        return progress

    def _find_hidden_pairs(self):
        left, values, size = self.left, self.values, self.size
        for cell in self.empty:
            r, c = divmod(cell, size)
            for line, first in ((self.rows[r], c + 1), (self.columns[c], r + 1)):
                for other in line[first:]:
                    if values[other] == 0 and (left[cell] & left[other]).bit_count() > 1:
                        self._find_hidden_pair(cell, other, line)
        return False

    def _find_hidden_pair(self, cell, other, line):
        """The library asks for each pair of the one cell in an iterator over those of the other, which the first that is not there ends.
        It asks for no number alone, so others may be in these cells after all. The last pair that it finds holds."""
        others = [self.left[third] for third in line if third != cell and third != other]
        pairs, found = itertools.permutations(self._iterate(other), 2), None
        for pair in itertools.permutations(self._iterate(cell), 2):
            if pair not in pairs:
                break
            bits = 1 << pair[0] | 1 << pair[1]
            if all(third & bits != bits for third in others):
                found = pair
        if found:
            self.left[cell] = self.left[other] = 1 << found[0] | 1 << found[1]
            self.pairs[cell] = self.pairs[other] = tuple(set(found))

    def _exclude_x_wings(self):
        return self._exclude_by_lines(self.rows, self.columns) | self._exclude_by_lines(self.columns, self.rows)

    def _exclude_by_lines(self, lines, crossing):
        """Where two lines have a number at the same two places only, no other line has it there."""
        wings, left = {}, self.left
        for k, line in enumerate(lines):
            once = twice = thrice = 0
            for cell in line:
                bits = left[cell]
                thrice |= twice & bits
                twice |= once & bits
                once |= bits
            for number in _NUMBERS[twice & ~thrice]:
                places = tuple(at for at, cell in enumerate(line) if left[cell] >> number & 1)
                wings.setdefault((number, places), []).append(k)
        progress = False
        for (number, places), own in wings.items():
            if len(own) > 1:
                kept = own if len(own) == 2 else ()  # of three lines, each pair excludes the third
                for at in places:
                    for k, cell in enumerate(crossing[at]):
                        if k not in kept:
                            progress |= self._exclude(cell, 1 << number)
        return progress


_RULES = (
    _Logic._exclude_placed,
    _Logic._exclude_by_signs,
    _Logic._find_hidden_singles,
    _Logic._exclude_naked_pairs,
    _Logic._find_hidden_pairs,
    _Logic._exclude_x_wings,
)

REPLACEMENTS = (
    (FutoshikiDataset, "_generate_random_solution", _generate_solution),
    (FutoshikiDataset, "_remove_clues", _remove_clues),
)
