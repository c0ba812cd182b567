"""Runs the unit tests beside custom tasks, in a worker that does nothing after it. What they print goes nowhere."""

import importlib.util
import io
import os
import sys
import unittest

MAX_FAILURES = 20
MAX_TEXT = 500


def run(folder, pattern):
    """Runs the tests of a file, or of all files that match a pattern with `*`. Returns how many ran, and what failed."""
    loader = unittest.TestLoader()
    suite = _discover(loader, folder, pattern) if "*" in pattern else _load_file(loader, folder, pattern)
    result = unittest.TextTestRunner(io.StringIO()).run(suite)
    failed = [*result.failures, *result.errors]
    failures = [(str(test)[:MAX_TEXT], trace.strip().split("\n")[-1][:MAX_TEXT]) for test, trace in failed[:MAX_FAILURES]]
    return {"tests": result.testsRun, "failed": len(failed), "failures": failures}


def _discover(loader, folder, pattern):
    is_package = os.path.isfile(os.path.join(folder, "__init__.py"))
    return loader.discover(folder, pattern, os.path.dirname(folder) if is_package else folder)


def _load_file(loader, folder, name):
    """The sandbox shows the file, and not its folder."""
    path = os.path.join(folder, name)
    if not os.path.isfile(path):
        return unittest.TestSuite()
    spec = importlib.util.spec_from_file_location(name.removesuffix(".py"), path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return loader.loadTestsFromModule(module)
