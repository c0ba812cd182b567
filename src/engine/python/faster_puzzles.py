"""Replaces loops of zebra_puzzles and sokoban, as `faster_makers.py` does for other tasks.
"""

import functools
import re

from pysat.solvers import Cadical153
from reasoning_gym.games.contrib.sokoban.src import astar as sokoban_search
from reasoning_gym.games.contrib.sokoban.src import utils as sokoban_states
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
    (clues.Clue, "__lt__", _compare_clues),
    (generate, "has_unique_solution", _has_unique_solution),
)
