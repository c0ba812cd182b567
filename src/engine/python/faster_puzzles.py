"""Replaces loops of zebra_puzzles, sokoban and game_of_life, as `faster_makers.py` does for other tasks."""

import functools
import re

import cellpylib
import numpy
from pysat.solvers import Cadical153
from reasoning_gym.games.contrib.sokoban.src import astar as sokoban_search
from reasoning_gym.games.contrib.sokoban.src import utils as sokoban_states
from reasoning_gym.games.contrib.sokoban.src.player import ReversePlayer
from reasoning_gym.logic.contrib.logic_puzzle import clues, generate


def _compare_clues(clue, other):
    """The library writes both texts for each comparison of a sort."""
    return _write_clue(clue) < _write_clue(other)


def _write_clue(clue):
    """Clues are frozen, and to find one in a cache would take longer than to compare."""
    known = clue.__dict__
    if "_text" not in known:
        known["_text"] = str(clue)
    return known["_text"]


_REMOVAL_WEIGHTS = {
    clues.not_at: 0.75,
    clues.found_at: 0.75,
    clues.same_house: 0.75,
    clues.beside: 1.2,
    clues.left_of: 1.2,
    clues.right_of: 1.2,
    clues.one_between: 1.5,
    clues.two_between: 1.5,
}


def _try_to_remove(puzzle, chosen, n, must_have=frozenset()):
    """The library sorts the clues twice, and makes the table of weights again for each of them."""
    ordered = sorted(chosen, key=_write_clue)
    weights = [_REMOVAL_WEIGHTS.get(type(clue), 1) for clue in ordered]
    candidates = set(puzzle.rng.choices(ordered, weights, k=n)) - must_have
    fewer = chosen.difference(candidates)
    return fewer if _has_unique_solution(puzzle, fewer) else fewer | candidates


class _OtherSolutions:
    """Finds out whether a zebra puzzle has another solution than its own, under any of its clues."""

    def __init__(self, puzzle):
        self.solver = Cadical153()
        self.numbers, self.highest = {}, 0
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
        numbers = self.numbers
        for clause in cnf:
            self.solver.add_clause([*[numbers.get(literal) or self._number_of(literal) for literal in clause], *more])

    def _number_of(self, literal):
        number = self.numbers.get(literal)
        if number is None and isinstance(literal, str) and literal.startswith("~"):
            number = self.numbers[literal] = -self._number_of(literal[1:])
        elif number is None:
            self.highest += 1
            number = self.numbers[literal] = self.highest
        return number


def _has_unique_solution(puzzle, chosen):
    """The library makes a solver of all clues for each set of them, and lets it look for two solutions. The clues are true of the puzzle's
    own solution, so here one solver looks for another."""
    with puzzle.with_clues(chosen):
        if not hasattr(puzzle, "others"):
            puzzle.others = _OtherSolutions(puzzle)
        return not puzzle.others.exist(puzzle.clues)


_BOXES_AND_GOALS = re.compile("[@X]")
_find_path = sokoban_search.astar


def _find_path_from_place(matrix, player_pos, **options):
    """The library goes on from numbers of numpy, with which its sums take several times as long."""
    return _find_path(matrix, tuple(map(int, player_pos)), **options)


def _forget_player(state):
    return state.replace("*", "-").replace("%", "X")


def _is_deadlock(state, shape):
    """The library looks for one after each move, though only a push of a box can make one."""
    return bool(state) and _is_deadlock_of_boxes(_forget_player(state), shape)


_is_deadlock_of_boxes = functools.lru_cache(maxsize=4096)(sokoban_states.is_deadlock)


def _estimate_cost(state, player_pos, shape):
    boxes, cost = _estimate_cost_of_boxes(_forget_player(state), shape)
    x, y = player_pos
    return cost + min([abs(box_x - x) + abs(box_y - y) for box_x, box_y in boxes], default=0)


@functools.lru_cache(maxsize=1024)
def _estimate_cost_of_boxes(state, shape):
    height, width = shape
    boxes, goals = [], []
    for thing in _BOXES_AND_GOALS.finditer(state):
        (boxes if thing[0] == "@" else goals).append(divmod(thing.start(), width))
    distances = [min(abs(box_x - goal_x) + abs(box_y - goal_y) for goal_x, goal_y in goals) for box_x, box_y in boxes]
    return boxes, len(boxes) * height * width + sum(distances)


def _write_state(player):
    return "".join([element.char for element in player.game.puzzle.flat if element])


def _evolve_life(board, timesteps, apply_rule, **_):
    """The library applies the rule to each cell. A cell and its neighbors number three, or four with a living cell, if it is to live."""
    history = numpy.zeros((timesteps, *board.shape[1:]), dtype=board.dtype)
    history[0] = board[-1]
    for cells, following in zip(history, history[1:]):
        rows = cells + numpy.roll(cells, 1, axis=0) + numpy.roll(cells, -1, axis=0)
        alive = rows + numpy.roll(rows, 1, axis=1) + numpy.roll(rows, -1, axis=1)
        following[:] = (alive == 3) | ((alive == 4) & (cells == 1))
    return history


REPLACEMENTS = (
    (cellpylib, "evolve2d", _evolve_life),
    (sokoban_search, "astar", _find_path_from_place),
    (sokoban_search, "is_deadlock", _is_deadlock),
    (sokoban_search, "manhattan_sum", _estimate_cost),
    (ReversePlayer, "get_state", _write_state),
    (clues.Clue, "__lt__", _compare_clues),
    (generate, "has_unique_solution", _has_unique_solution),
    (generate, "try_to_remove", _try_to_remove),
)
