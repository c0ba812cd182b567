/** Parsers for option values. An invalid value is a usage error that states the expected form. */
import { InvalidArgumentError } from 'commander'

export function parseNumber(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('Expected a number.')
  return value
}

export function parseUnitInterval(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError('Expected a number from 0 to 1.')
  return value
}

export function integerParser(least = 0): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value) || value < least)
      throw new InvalidArgumentError(`Expected a whole number, ${least} or greater.`)
    return value
  }
}

export function parseJsonObject(text: string): Record<string, unknown> {
  const value = tryParseJson(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidArgumentError('Expected a JSON object, for example \'{"max_animals": 5}\'.')
  return { ...value }
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Collects the values of an option that may be repeated. */
export function appendValue(value: string, before: string[] = []): string[] {
  return [...before, value]
}
