"""count_bits: takes off powers of two, from the greatest down."""

import re


def read_number(question):
    return int(re.search(r"number (\d+)\?", question)[1])


def solve(question):
    number, ones = read_number(question), 0
    for power in range(number.bit_length(), -1, -1):
        if number >= 2**power:
            number, ones = number - 2**power, ones + 1
    return str(ones)


def wrong(question, key):
    number, ones = read_number(question), int(solve(question))
    zeros = number.bit_length() - ones
    if zeros != ones:
        yield "the zeros", str(zeros)
    if number.bit_length() != ones:
        yield "all bits", str(number.bit_length())
    yield "one too many", str(ones + 1)
    if bin(number)[2:] != str(ones):
        yield "the binary number", bin(number)[2:]
