"""The safe readers give what `eval` and sympy's `parse_expr` give for an honest answer, and refuse what could do harm.

    PYTHONPATH=src/engine/python PYTHONHASHSEED=1 python -m unittest discover -s test/engine/python -p "*_test.py"
"""

import builtins
import os
import re
import tempfile
import time
import types
import unittest
from pathlib import Path

import sympy
from sympy.parsing.sympy_parser import parse_expr

import safe_eval

LITERALS = """
[1, 2, 3] | (1, 2) | 1, 2 | 1, | [] | () | {} | {1, 2} | {"a": [1]} | 1 | -1 | +1 | --1 | 1.5 | .5 | 2. | 1e3 | 1_000 | 0x1F
1j | True | None | "a" | 'a' | "a" "b" | ["a" 'b'] | r"\\d" | b"a" | "é" | '''a''' | [[1,0],[0,1]] | [(1, -2), {3}] |  [1]
[1] # a note | ["_"] * 3 + ["Q"] | "_" * 3 + "Q" | [["_"] * 2, ["Q"]] | 2 - 1 | [0] + [] | (1)
""".replace("\n", " | ").split(" | ")

NO_LITERALS = ["[1, 2", "[1 2]", "[1, 2].", "1 2 3", "[01]", "[A, B]", "Q _\n_ Q", "above matrix", "x = [1]", "", "```[1]```", "null"]

ARITHMETIC = """
91+30+(81-22)+58 | 8*(7-(8/2)) | 10 + 7 / (1 / 2) | -2**2 | 2**-2 | 2**3**2 | 2/3/4 | 2-3-4 | 1.5 | 2. | .5 | 1e3 | 1.5e-3 | 1_000
0.1+0.2+0.3 | 0.2[1] | .[9] | 3! | 3!! | (3!)! | 2**3! | 7//2 | -7//2 | 7%3 | 7.5%2 | 2^3 | 95^2 | 10**20 | 100! | 1/3 | 1/0 | 0/0
007 | 08 | 0x1F | 2j | 24 = 24 | 24=24 | 4*6 = 24 | 4*6 == 24 | 4*6 != 24 | 4*6 or 6*4 | 0 and 1 | not 0 | True | None | "24" | '2' '4'
(1 | 1) | 6/2(1+2) | 3×4 | 3−4 | 3÷4 | 1 2 | 1; | 24. | 24: | 4*6 # = 24 | abs(-5) | sqrt(16) | floor(7/2) | pow(2, 3) | S(1)/3
Rational(1, 3) | factorial(5) | sqrt(8) | 8**(1/3) | (-8)**(1/3) | 4**0.5 | log(100, 10) | root(8, 3) | oo - oo | 2.0*3 | `24` | $24$
int(3) | 24/1.0
""".replace("\n", " | ").split(" | ") + ["(1 +\n2)", "1 +\n2", "1 + \\\n2", "\t1 + 2\r\n", "\n1", "1\n2", "# 1", " "]

FORMULAS = """
x | X | 2*x | 2x | 2 x | x y | x**2 | x^2 | cos(x)^2 | x² | -x**2 | (-x)**2 | x/2 | x**(3/2) | x**0.5 | x**-1 | x + C | x + c | x+K
-cos(6*x + 10)**4/2 + C | 0.25*cos(18*x + 16) + C | (-2/15)*(3*x - 7)**5 + C | 2*(3*x - 1)*sqrt(3*x - 1) + C
exp(x) | E**x | e**x | exp(9*x**2 - 4*x - 8) | exp(2*log(x)) | exp(x)*sin(x)/2 - exp(x)*cos(x)/2 | 2**x | log(x) | ln(x) | log(x, 2)
log(Abs(x)) | log(abs(x)) | log(|x|) | |x| | x*asin(3*x) + sqrt(1 - 9*x**2)/3 | x*atan(2*x) - log(4*x**2 + 1)/4 | arctan(x) | arcsin(x)
sin**2(x) | sin^2(x) | sin x | sinh(x) | asech(x) | tan(x) | cot(x) | sec(x) | csc(x) | sin(pi/6) | pi*x | I*x | sin(x, y) | sin() | f(x)
f() | C(x) | x(2) | (x+1)(x-1) | (x+1)*(x-1) | ((x+1)*(x-1))**5 | (2*x*y)**3 | (x+1)**1000 | x! | -Integral(x**2*cos(x), x) + C
\\frac{1}{2}*x | \\cos(x) | $x$ | y = x | y == x | x == x | x. | x, y) | x' | x dx | ∫ x | α + π | x + C or C | C and x | x # done | "x^2 + C"
lambda | lambda x | for | x if | x.y | x[0] | math.sin(x) | np.exp(x) | x*0.1 + x*0.2 + x*0.3 | 0.0*x | x - x | sign(x) | cbrt(x) | e | beta*x
""".replace("\n", " | ").split(" | ")

HARMFUL = [
    "__import__('os').system('touch pwned')", '"".__class__', "x.__class__", "().__class__", "x[0]", "[0][0]", "f'{1}'", "f(x)(y)",
    "lambda: 1", "(lambda: 1)()", "lambda x: x", "[i for i in range(9)]", "(i for i in x)", "{**x}", "[*x]", "(y := 5)", "x if x else y",
    "exec", "exec(x)", "open", "open('pwned', 'w')", "eval(x)", "print(1)", "input()", "breakpoint()", "getattr(x, y)", "globals()",
    "Symbol('x')", "Symbol(x)", "Function('f')(x)", "Integer('1')", "sympify('1')", "S('1')", "S", "Q", "N(pi, 10**9)", "Float(pi, 10**9)",
    "parse_expr(x)", "lambdify(x, x)", "Lambda(x, x)(1)", "integrate(x, x)", "sqrt(4, evaluate=False)",
    "f'{x}'", "x @ y", "await x", "yield", "x; y", "import os", "x = 5",
]  # fmt: skip

ENDLESS = [
    "9**9**9**9", "9**9**9 % 7", "9**9**9 // 7", "[9**9**9]", "99999999!", "factorial(10**9)", "((9!)!)!", "9" + "!" * 99_999,
    "1e100000000", "1e-100000000", "10**-100000000", "0x" + "f" * 16_000, "0x" + "f" * 200_000, "9" * 5000, "1." + "1" * 5000,
    "(" * 100_000 + "1" + ")" * 100_000, "[" * 60 + "]" * 60, "-" * 100_000 + "1", "-" * 16_000 + "1", "2**" * 5000 + "2",
    "(" * 30 + "2" + "**60)" * 30, "(" * 30 + "x" + "**60)" * 30, "((x+1)**1000)**1000", "(2*x)**(10**12)", "x**(10**30)", "sqrt(2)**(10**10)",
    "exp(10**12*log(2))", "exp(10**12*log(2*x))", "E**(10**12*log(2*x))", "2**(10**12*log(3)/log(2))", "root(2, 1/10**12)", "pow(2, 10**12)",
    "exp(exp(exp(99)))", "sin(exp(exp(99)))", "floor(exp(exp(99)))", "exp(exp(99)) % 7", "cosh(cosh(cosh(999)))", "1e300**1e300",
    "1 << 10**12", "gamma(10**9)", "fibonacci(10**9)", "binomial(10**9, 10**8)", "primepi(10**15)", "*".join(["2**1000"] * 1000),
    "*".join(f"a{i}" for i in range(3000)), "+".join(f"1/(7**300+{i})" for i in range(900)),
]  # fmt: skip

ENDLESS_LITERALS = [
    "[9**9**9]", "9**9", '"A"*10**9', '["A"]*999999', "[[[0]*99]*99]*99", "[[[]]*999]*999", "99999*99999", "9" * 5000, "+".join(["[0]"] * 999),
    "[" * 100_000, "(" * 60 + ")" * 60, "-" * 100_000 + "1", '"' + "A" * 200_000 + '"', "[" + "0," * 100_000 + "]",
]  # fmt: skip


def local_dict():
    return {"x": sympy.Symbol("x"), "C": sympy.Symbol("C")}


def outcome(read, *arguments):
    """What a reader makes of a text, so that two of them compare: the value with its type, or that it raises."""
    try:
        value = read(*arguments)
    except Exception:
        return "raises"
    return type(value), sympy.srepr(value) if isinstance(value, sympy.Basic) else repr(value)


class Reading(unittest.TestCase):
    def setUp(self):
        self.home, self.folder = os.getcwd(), tempfile.TemporaryDirectory()
        os.chdir(self.folder.name)

    def tearDown(self):
        left = os.listdir()
        os.chdir(self.home)
        self.folder.cleanup()
        self.assertEqual(left, [], "a text was run as code")

    def assert_refuses(self, read, texts):
        for text in texts:
            with self.subTest(text=text[:60]):
                start = time.process_time()
                self.assertRaises(Exception, read, text)
                self.assertLess(time.process_time() - start, 1, "milliseconds; a second on a busy machine")

    def test_a_literal_is_what_eval_makes_of_it(self):
        for text in LITERALS:
            with self.subTest(text=text):
                self.assertEqual(outcome(safe_eval.parse_literal, text), outcome(eval, text))
        self.assertEqual(safe_eval.parse_literal(" \t[1,\n 2]\n"), [1, 2])

    def test_what_eval_does_not_take_for_a_literal_is_refused(self):
        for text in NO_LITERALS:
            with self.subTest(text=text):
                self.assertEqual(outcome(eval, text), "raises")
                self.assertEqual(outcome(safe_eval.parse_literal, text), "raises")

    def test_a_calculation_is_what_parse_expr_makes_of_it(self):
        for text in ARITHMETIC:
            with self.subTest(text=text):
                self.assertEqual(outcome(safe_eval.parse_expression, text), outcome(parse_expr, text))

    def test_a_formula_is_what_parse_expr_makes_of_it(self):
        for text in FORMULAS:
            for names in (lambda: None, local_dict):
                with self.subTest(text=text, names=names()):
                    self.assertEqual(outcome(safe_eval.parse_expression, text, names()), outcome(parse_expr, text, names()))

    def test_a_quoted_antiderivative_is_read_as_diff_would_read_it(self):
        self.assertEqual(safe_eval.parse_antiderivative('"x^2 + C"', local_dict()), sympy.sympify("x^2 + C"))
        self.assert_refuses(safe_eval.parse_antiderivative, [f'"{text}"' for text in HARMFUL if '"' not in text])
        self.assert_refuses(safe_eval.parse_antiderivative, ["\"'x'\"", "['x']", "\"__import__('os').system('touch pwned')\""])

    def test_what_float_would_refuse_is_refused_before_it_looks_for_a_value(self):
        for text in ("24", "4*6", "sqrt(16)", "1/3", "2**0.5", "nan", "oo", "True", '"24"'):
            self.assertEqual(outcome(safe_eval.parse_number, text), outcome(parse_expr, text))
        self.assert_refuses(safe_eval.parse_number, ["x", "log(y**1000)", "sin(x**1000)", "I", "f(3)", "log(asin(9))", "zoo"])

    def test_a_long_polynomial_is_read(self):
        text = " + ".join(f"{10**90 + i}*x**{i}" for i in range(101))
        self.assertEqual(safe_eval.parse_expression(text), parse_expr(text))

    def test_a_matrix_of_100_by_100_is_read_however_it_is_laid_out(self):
        text = "[\n" + ",\n".join("  [\n" + ",\n".join("    7" for _ in range(100)) + "\n  ]" for _ in range(100)) + "\n]"
        self.assertEqual(safe_eval.parse_literal(text), [[7] * 100] * 100)

    def test_code_is_refused(self):
        self.assert_refuses(safe_eval.parse_expression, [*HARMFUL, "['x']", "('x',)"])
        self.assert_refuses(safe_eval.parse_literal, HARMFUL)

    def test_what_would_not_end_is_refused_at_once(self):
        self.assert_refuses(safe_eval.parse_expression, ENDLESS)
        self.assert_refuses(safe_eval.parse_antiderivative, [f'"{text}"' for text in ENDLESS])
        self.assert_refuses(safe_eval.parse_literal, ENDLESS_LITERALS)

    def test_installed_the_scorers_run_no_code_and_score_an_honest_answer_as_ever(self):
        import library  # noqa: F401  brings the stand-ins for what is not installed
        from reasoning_gym.factory import create_dataset

        safe_eval.patch_library()
        full = {task: 1.0 for task in ("countdown", "puzzle24", "polynomial_multiplication", "simple_integration", "intermediate_integration")}
        as_list = {"binary_matrix": 0.1, "spiral_matrix": 0.1, "string_insertion": 0.1, "n_queens": 0.5}
        for task, score in (full | as_list).items():
            with self.subTest(task=task):
                dataset = create_dataset(task, seed=1)
                entry = dataset[0]
                answer = entry["answer"]
                if task in as_list:
                    rows = [line.split() for line in answer.split("\n")]
                    answer = str({"spiral_matrix": rows[0], "string_insertion": list(answer)}.get(task, rows))
                self.assertEqual(dataset.score_answer(answer, entry), score)
                for harm in (HARMFUL[0], f'"{HARMFUL[0]}"', f"[{HARMFUL[0]}]", *ENDLESS[:8]):
                    self.assertLessEqual(dataset.score_answer(harm, entry), 0.05)


class NamesOfSympy(unittest.TestCase):
    def test_the_native_scorer_of_integrals_takes_none_of_them_for_a_symbol(self):
        known = {name for name, value in vars(builtins).items() if isinstance(value, types.BuiltinFunctionType)}
        exec("from sympy import *", sympy_names := {})  # as `parse_expr` does
        known |= sympy_names.keys()
        source = Path(__file__, "../../../../packages/scorers/src/integration/antiderivative-text.ts").resolve().read_text()
        listed = set(re.search(r"SYMPY_NAMES = new Set\(\s*`([^`]*)`", source)[1].split())
        functions = set(re.search(r"FUNCTION_NAMES = '([^']*)'", source)[1].split())
        short = {name for name in known if re.fullmatch("[A-Za-z][A-Za-z0-9]{0,2}", name)}
        self.assertEqual(short - functions - {"E", "I", "pi"}, listed)


if __name__ == "__main__":
    unittest.main()
