"""Stands in for pycosat, the library's one dependency without a wheel: zebra_puzzles counts solutions with it."""

from pysat.solvers import Solver


def itersolve(clauses):
    """Yield every model of the CNF `clauses` as a list of signed integers, as pycosat does."""
    with Solver(name="cadical153", bootstrap_with=clauses) as solver:
        yield from solver.enum_models()
