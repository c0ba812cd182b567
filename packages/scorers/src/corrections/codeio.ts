/** codeio: answers are JSON values, programs check inputs, and the output of some cannot be foreseen. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { loads } from '../python/json.ts'
import { catchPythonError } from '../python/numbers.ts'
import { equals, PyDict, PyFloat, type PyValue } from '../python/values.ts'
import { type DatasetEntry, requireOracleAnswer } from '../scorer.ts'
import type { Correction } from './correction.ts'

/**
 * Fingerprints of programs whose items are unsound, as verification/keys/tasks/_unsound_programs.py prints them. `unsound`: they depend on
 * the time, random numbers or the order of sets, or change their input before the question shows it. `unlike_json`: no JSON is the input
 * that they need, such as one with tuples or with numbers as keys.
 */
const Programs = z.strictObject({ unsound: z.string(), unlike_json: z.string() })
const programs = Programs.parse(
  JSON.parse(readFileSync(new URL('../data/codeio-programs.json', import.meta.url), 'utf8')),
)
const UNSOUND_PROGRAMS: ReadonlySet<string> = new Set(programs.unsound.split(' '))
const UNLIKE_JSON_PROGRAMS: ReadonlySet<string> = new Set(programs.unlike_json.split(' '))

const INPUT_PREDICTION = '\nCan you predict a feasible input without writing any code?'
/** Before the program, which ends the question. */
const PROGRAM_TIP = 'refer to this code to guide your reasoning but not copy spans of code directly.\n\n'
const Metadata = z.looseObject({ input_data: z.unknown(), output_data: z.unknown() })

export const codeio: Correction = {
  reason:
    'Of all inputs that give the output only one is paid, "1" is taken for 1, and no answer is right where the program fails, changes its own input, or depends on the time, random numbers or the order of sets.',
  decide({ entry }) {
    const key = parse(requireOracleAnswer(entry))
    const isInput = isInputPrediction(entry)
    return (answer) => {
      const given = parse(answer)
      if (given === undefined || key === undefined) return undefined
      if (isInput) return isSame(given, key, true) || (hasSameNames(given, key) ? undefined : false)
      return isSame(given, key, false)
    }
  },
  hasRightAnswer(entry) {
    if (hasFailed(entry)) return false
    const program = getFingerprint(entry)
    return !UNSOUND_PROGRAMS.has(program) && !(isInputPrediction(entry) && UNLIKE_JSON_PROGRAMS.has(program))
  },
}

/** The library shows an empty input and an empty output where the program raises. */
function hasFailed({ metadata }: DatasetEntry): boolean {
  const { input_data, output_data } = Metadata.parse(metadata)
  return JSON.stringify([input_data, output_data]) === '[{},{}]'
}

/** As in verification/keys/tasks/_unsound_programs.py. */
function getFingerprint({ question }: DatasetEntry): string {
  const at = question.indexOf(PROGRAM_TIP)
  const program = question.slice(at + PROGRAM_TIP.length, -1)
  return createHash('sha256').update(program).digest('hex').slice(0, 8)
}

/** Whether the question asks for an input that gives an output; it asks for the output of an input otherwise. */
export function isInputPrediction({ question }: DatasetEntry): boolean {
  return question.includes(INPUT_PREDICTION)
}

/** Whether a text is JSON with a value for each input of the program. */
export function isPossibleInput(entry: DatasetEntry, text: string): boolean {
  return hasSameNames(parse(text), parse(requireOracleAnswer(entry)))
}

function hasSameNames(given: PyValue | undefined, key: PyValue | undefined): boolean {
  return (
    given instanceof PyDict &&
    key instanceof PyDict &&
    given.size === key.size &&
    given.keys().every((name) => key.has(name))
  )
}

function parse(text: string): PyValue | undefined {
  return catchPythonError(() => loads(text), undefined)
}

/** Equal as JSON: numbers by value unless `isStrict`, and true is no number. */
function isSame(a: PyValue | undefined, b: PyValue | undefined, isStrict: boolean): boolean {
  if (a === undefined || b === undefined || typeof a === 'boolean' || typeof b === 'boolean') return a === b
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, k) => isSame(item, b[k], isStrict))
  if (a instanceof PyDict && b instanceof PyDict)
    return a.size === b.size && a.entries().every(([name, value]) => isSame(value, b.get(name), isStrict))
  if (a instanceof PyFloat && b instanceof PyFloat && Number.isNaN(a.value)) return Number.isNaN(b.value)
  return equals(a, b) && (!isStrict || a instanceof PyFloat === b instanceof PyFloat)
}
