"""Runs the unit tests beside custom tasks: `python run_task_tests.py FOLDER PATTERN`. Prints one line of JSON: how many ran, and what
failed. The library is imported as the server does it, without packages for plots."""

import io
import json
import os
import sys
import unittest

import library  # noqa: F401


def main(folder, pattern):
    is_package = os.path.isfile(os.path.join(folder, "__init__.py"))
    suite = unittest.TestLoader().discover(folder, pattern, os.path.dirname(folder) if is_package else folder)
    result = unittest.TextTestRunner(io.StringIO()).run(suite)
    failures = [(str(test), trace.strip().split("\n")[-1]) for test, trace in [*result.failures, *result.errors]]
    print(json.dumps({"tests": result.testsRun, "failures": failures}))


main(os.path.abspath(sys.argv[1]), sys.argv[2])
