"""Replaces what acre does for each of its 500 samples, as `faster_makers.py` does for other tasks. An item needs one of them, but all
draw random numbers from the same generator.
"""

from collections.abc import Sequence

from reasoning_gym.induction.acre import acre, blicket, const

_LIMITS = {
    blicket.OnOffOff: (
        const.ONOFFOFF_MIN_POTENTIAL,
        const.ONOFFOFF_MAX_POTENTIAL,
        const.ONOFFOFF_MIN_NON,
        const.ONOFFOFF_MAX_NON,
    ),
    blicket.OnOnOff: (
        const.ONONOFF_MIN_POTENTIAL,
        const.ONONOFF_MAX_POTENTIAL,
        const.ONONOFF_MIN_NON,
        const.ONONOFF_MAX_NON,
    ),
}


def _draw_half_each(size, train, config_size, regime, rng):
    samples = [
        _draw_sample(machine_class, config_size, train, regime, rng)
        for machine_class in (blicket.OnOffOff, blicket.OnOnOff)
        for _ in range(size // 2)
    ]
    rng.shuffle(samples)
    return samples


def _draw_of_one_kind(size, train, regime, rng):
    machine_class = blicket.OnOffOff if train else blicket.OnOnOff
    samples = [_draw_sample(machine_class, const.ALL_CONFIG_SIZE, train, regime, rng) for _ in range(size)]
    rng.shuffle(samples)
    return samples


def _draw_sample(machine_class, config_size, train, regime, rng):
    """The library also checks its own books, and no draw makes its checks fail. It keeps the views, which are thousands of objects that the
    garbage collector visits again and again; it soon forgets tuples of texts and numbers."""
    machine = machine_class(*_LIMITS[machine_class], config_size, True, rng)
    views = machine.get_views()
    questions = machine.generate_cause_questions(train=train, regime=regime) + machine.generate_intervention_questions(views)
    return (
        tuple([(view.light_state, *view.objects) for view in views]),
        tuple([(question[1], *question[0].objects) for question in questions]),
    )


class ParsedQuestions(Sequence):
    """The questions of all samples, four each. Only the one that is asked for becomes text."""

    QUESTIONS = 4

    def __init__(self, samples):
        self.samples = samples

    def __len__(self):
        return self.QUESTIONS * len(self.samples)

    def __getitem__(self, at):
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        sample, question = divmod(at % len(self), self.QUESTIONS)
        views, questions = self.samples[sample]
        label, *objects = questions[question]
        return {
            "examples": [blicket.get_example(seen, light_state) for light_state, *seen in views],
            "question": blicket.get_trial(objects, label),
        }


REPLACEMENTS = (
    (acre, "config_control", _draw_half_each),
    (acre, "dist_control", _draw_of_one_kind),
    (acre, "serialize", lambda questions: questions),
    (acre, "final_parse", lambda serialized_questions: ParsedQuestions(serialized_questions)),
)
