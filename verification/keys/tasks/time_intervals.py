"""time_intervals: reads both stamps of the question and takes the span between them, whole units of it."""

import re
from datetime import datetime, timedelta

CLOCKS = [f"{clock}{zone}" for clock in ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f") for zone in ("", " %z")]
FORMATS = [
    f"{day}{time}"
    for day in ("", "%Y-%m-%d", "%B %d, %Y", "%m/%d/%Y", "%A, %B %d, %Y", "%a %b %d %Y", "%d %B %Y", "%Y-%m-%d (%A)")
    for glue in ("", " ", ", ", " at ")
    for time in ("", *(f"{glue}{clock}" for clock in CLOCKS))
]
STAMPS = r"\b(?:between|from|at) (.+) (?:and ended at|and completed at|and arrived at|and|to) (.+?)[?.] (?=[A-Z])"


def read(text, day_first):
    for form in FORMATS:
        try:
            return datetime.strptime(text, form.replace("%m/%d", "%d/%m") if day_first else form), "%d" in form
        except ValueError:
            continue


def spans(question):
    """Each reading of the span, None where the end comes before the start."""
    note = question.partition("\n\nNote: ")[2]
    texts = re.search(STAMPS, question).groups()
    found = []
    for day_first in [False] if "month/day/year" in note or "/" not in texts[0] else [False, True]:
        stamps = [read(text, day_first) for text in texts]
        if None in stamps:
            continue
        (start, has_date), (end, _) = stamps
        span = end - start
        if not has_date and span < timedelta():
            span += timedelta(days=1)
            if " between " in question and "next day" not in note:
                found.append(start - end)  # the other way round, on one day
        if span >= timedelta() and span not in found:
            found.append(span)
    return found


def forms(question, span):
    note = question.partition("\n\nNote: ")[2]
    wanted = re.search(r"in ((?:D days)?(?:, )?(?:HH:MM)?(?::SS)?(?:\.mmm)?)\.", question)[1]
    if wanted == "D days":
        lasts = not re.match("What is the duration|Calculate|How much time", question) and "first day" not in note
        return [f"{span.days + more} days" for more in ([0, 1] if lasts else [0])]
    roundings = [0, 30] if wanted.endswith("HH:MM") and "do not round" not in note else [0]
    return [write(span + timedelta(seconds=more), wanted) for more in roundings]


def write(span, wanted):
    minutes, seconds = divmod(span.seconds, 60)
    text = wanted.replace("D days", f"{span.days} days").replace("HH:MM", f"{minutes // 60:02}:{minutes % 60:02}")
    return text.replace("SS", f"{seconds:02}").replace("mmm", f"{span.microseconds // 1000:03}")


def solve(question):
    return [text for span in spans(question) for text in forms(question, span)] or None


def others(question, key):
    answers = solve(question)
    if answers and len(set(answers)) == 1 and re.match(r"1 days", answers[0]):
        yield answers[0].replace("days", "day")


def wrong(question, key):
    for answer in (solve(question) or [])[:1]:
        days = re.fullmatch(r"(\d+) days", answer)
        if days:
            yield "a day more", f"{int(days[1]) + 40} days"
            yield "in other units", f"{days[1]} hours"
            yield "more than the days", f"{answer}, 05:00"
        else:
            yield "a minute more", re.sub(r":(\d\d)", lambda m: f":{(int(m[1]) + 1) % 60:02}", answer, count=1)
            yield "minutes beyond the hour", re.sub(
                r"(\d\d):(\d\d)", lambda m: f"{int(m[1]) - 1:02}:{int(m[2]) + 60}", answer, count=1
            )
            yield "two spans", f"{answer}, {answer}"
        if "." in answer:
            yield "cut to hundredths", answer[:-1] if answer[-1] != "0" else answer[:-3] + "999"
            yield "a millisecond off", answer[:-1] + str((int(answer[-1]) + 1) % 10)
