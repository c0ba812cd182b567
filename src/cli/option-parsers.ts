/** How the values of options are read; what cannot be read is a wrong usage that says what was wanted. */
import { InvalidArgumentError } from 'commander'

export function parseUnitInterval(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError('It must be a number from 0 to 1.')
  return value
}

export function integerParser(least = 0): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value) || value < least)
      throw new InvalidArgumentError(`It must be a whole number from ${least}.`)
    return value
  }
}

export function parseJsonObject(text: string): Record<string, unknown> {
  const value = tryParseJson(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidArgumentError('It must be a JSON object, as \'{"max_animals": 5}\'.')
  return { ...value }
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** For options that may be given more than once. */
export function appendValue(value: string, before: string[] = []): string[] {
  return [...before, value]
}

/** Lines of examples for the end of a command's help. */
export function formatExamples(...lines: string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n')
}
