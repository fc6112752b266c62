"""All tests of the bench: `python3 -m unittest test_bench` in this folder, or `python3 tests/bench/test_bench.py`
anywhere."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def load_tests(loader, _, __):
    """The tests of every check_*.py."""
    return loader.discover(str(HERE), pattern="check_*.py")


if __name__ == "__main__":
    unittest.main()
