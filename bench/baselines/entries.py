"""Items of the library for the baselines, kept as a user of the library would keep them."""

import random
from functools import lru_cache

import numpy
import reasoning_gym

SIZE = 500


@lru_cache(maxsize=1000)
def dataset_of(task, seed):
    return reasoning_gym.create_dataset(task, seed=seed, size=SIZE)


@lru_cache(maxsize=10_000)
def entry_of(task, seed, index):
    # Some items of codeio draw from the global generators, as the server seeds them.
    random.seed(seed + index)
    numpy.random.seed(seed + index)
    return dataset_of(task, seed)[index]
