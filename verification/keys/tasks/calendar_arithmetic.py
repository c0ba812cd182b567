"""calendar_arithmetic: counts on the calendar, in each reading that the question leaves open."""

import calendar
import re
from datetime import date, timedelta

MONTHS = "|".join(calendar.month_name[1:])
DAYS = "|".join(calendar.day_name)
DATE = rf"(?:({DAYS}), )?({MONTHS}) (\d+)(?:, (\d+))?"


def solve(question):
    if "leap year" in question.partition("\n\nNote: ")[0]:
        return "Yes" if calendar.isleap(int(re.search(r"\d+", question)[0])) else "No"
    if re.search("first day of the year|January 1 fell|is January 1st", question):
        return from_first_day(question)
    if " days" in question and re.search("Starting|today|Count (forw|backw)", question) or "-day jump" in question:
        start = dates(question)[0][1]
        count = int(re.search(r"(\d+)[ -]days?", question)[1])
        back = re.search("ago|before|backward", question)
        return f"{start + timedelta(-count if back else count):%A}"
    if "meeting" in question or "event" in question or "Determine the day of the month" in question:
        return event_day(question)
    if "business days" in question or "excluding weekends" in question:
        return business_days(question)
    if re.search("How many|Count the|how many", question):
        (_, first), (_, last) = dates(question)
        wanted = re.search(rf"(?:many|of|does) ({DAYS})", question)[1]
        return str(sum(f"{first + timedelta(k):%A}" == wanted for k in range((last - first).days + 1)))
    numeric = re.search(r"(\d\d)/(\d\d)/(\d{4})", question)
    if numeric is None:
        return f"{dates(question)[0][1]:%A}"
    one, two, year = map(int, numeric.groups())
    orders = [(one, two)] if two > 12 or "month/day" in question else [(one, two), (two, one)]
    return [f"{date(year, month, day):%A}" for month, day in orders]


def dates(question):
    """The printed weekday and the date, where a date without a year has that of the other one."""
    found = re.findall(DATE, question.partition("\n\nNote: ")[0])
    years = [int(year) for *_, year in found if year]
    month = list(calendar.month_name).index
    return [(weekday, date(int(year or years[0]), month(name), int(day))) for weekday, name, day, year in found]


def from_first_day(question):
    plain, _, note = question.partition("\n\nNote: ")
    first = list(calendar.day_name).index(re.search(DAYS, plain)[0])
    name, day = re.findall(rf"({MONTHS}) (\d+)\b", plain)[-1]
    month, day = list(calendar.month_name).index(name), int(day)
    years = [2023] if "not a leap" in note else [2024] if "leap" in note else [2023, 2024]
    fits = [year for year in years if day <= calendar.monthrange(year, month)[1]]
    numbers = [(date(year, month, day) - date(year, 1, 1)).days for year in fits]
    return [calendar.day_name[(first + number) % 7] for number in numbers]


def event_day(question):
    ordinal, weekday = re.search(rf"(first|second|third|fourth|last) ({DAYS})", question).groups()
    name, year = re.search(rf"({MONTHS}) (\d+)", question).groups()
    weeks = calendar.monthcalendar(int(year), list(calendar.month_name).index(name))
    days = [week[list(calendar.day_name).index(weekday)] for week in weeks]
    days = [day for day in days if day]
    return str(days[-1] if ordinal == "last" else days[["first", "second", "third", "fourth"].index(ordinal)])


def business_days(question):
    (_, first), (weekday, last) = dates(question)
    years = re.search(r"Note: the first date is in (\d+) and the second one in (\d+)", question)
    if years:
        return count_business_days(first.replace(year=int(years[1])), last.replace(year=int(years[2])))
    if first <= last and f"{last:%A}" == weekday:
        return count_business_days(first, last)
    return [count_business_days(first, last.replace(year=last.year + 1)), count_business_days(*sorted((first, last)))]


def count_business_days(first, last):
    return str(sum((first + timedelta(k)).weekday() < 5 for k in range((last - first).days + 1)))


def wrong(question, key):
    answers = solve(question)
    answers = [answers] if isinstance(answers, str) else answers
    if answers[0] in calendar.day_name:
        yield "the next day", next(day for day in calendar.day_name if day not in answers)
        yield "two days", "Monday, Tuesday"
    elif answers[0] in ("Yes", "No"):
        yield "the opposite", "No" if answers[0] == "Yes" else "Yes"
    else:
        yield "one off", str(max(map(int, answers)) + 1)
        yield "no number", "several"
