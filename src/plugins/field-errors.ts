/** Which fields of a request are wrong, and what was expected of them: zod's issues, told to the caller. */
import { z } from 'zod'
import type { FieldError } from '../faults.ts'

type Issue = z.core.$ZodIssue
type RawIssue = z.core.$ZodRawIssue

/** `part`: what the request as a whole is called. */
export function fieldErrors(issue: Issue, part: string): FieldError[] {
  const at = issue.path.map(String)
  const path = (...more: string[]) => [...at, ...more].join('.') || part
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: path(key), message: 'unknown field' }))
  const [meant, ...others] = issue.code === 'invalid_union' ? issue.errors.map(branchOf).toSorted(byFit) : []
  if (!meant || meant.isOfOtherType) return [{ path: path(), message: issue.message }]
  return meant.issues
    .flatMap((inner) => fieldErrors({ ...inner, path: [...issue.path, ...inner.path] }, part))
    .map((error) => {
      const field = meant.strangers.find((name) => path(name) === error.path)
      const rivals = field === undefined ? [] : rivalsOf(field, meant, others)
      return rivals.length === 0 ? error : { ...error, message: `does not go together with ${rivals.join(', ')}` }
    })
}

/** What stands against one alternative of a union. */
interface Branch {
  issues: Issue[]
  /** A list where a string was expected, say: nothing in it is worth a word. */
  isOfOtherType: boolean
  /** Fields that this alternative does not have. */
  strangers: string[]
}

function branchOf(issues: Issue[]): Branch {
  const ofAll = issues.filter(({ path }) => path.length === 0)
  return {
    issues,
    isOfOtherType: ofAll.some((issue) => wantedBy(issue) !== undefined),
    strangers: ofAll.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : [])),
  }
}

/** First the alternative that was meant: most of what is given belongs to it, and least else is against it. */
function byFit(a: Branch, b: Branch): number {
  return (
    Number(a.isOfOtherType) - Number(b.isOfOtherType) ||
    a.strangers.length - b.strangers.length ||
    a.issues.length - b.issues.length
  )
}

/** A field of another alternative: the fields that are given and that one does not have. */
function rivalsOf(field: string, meant: Branch, others: Branch[]): string[] {
  const home = others.find(({ isOfOtherType, strangers }) => !isOfOtherType && !strangers.includes(field))
  return home?.strangers.filter((name) => !meant.strangers.includes(name)) ?? []
}

/** In plain words, where a value is missing or of another type than expected; zod's own words for all else. */
export function wording(issue: RawIssue): string | undefined {
  const wanted = wantedBy(issue)
  if (wanted === undefined) return undefined
  const { input } = issue
  if (input === undefined) return `missing: expected ${wanted}`
  if (issue.code === 'invalid_value') return `expected ${wanted}`
  return `expected ${wanted}, received ${typeof input === 'number' ? input : z.core.util.parsedType(input)}`
}

const TYPES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}
const EITHER = new Intl.ListFormat('en', { type: 'disjunction' })

/** What should stand in place of the whole value; undefined where only something about it is wrong. */
function wantedBy(issue: Issue | RawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if ('inst' in issue && issue.inst instanceof z.ZodNumberFormat) return TYPES.int
      return TYPES[issue.expected] ?? issue.expected
    case 'invalid_value':
      return EITHER.format(issue.values.map((value) => JSON.stringify(value)))
    case 'invalid_union': {
      const wanted = issue.errors.map((inner) =>
        inner
          .filter(({ path }) => path.length === 0)
          .map(wantedBy)
          .find(Boolean),
      )
      const all = wanted.filter((one) => one !== undefined)
      return all.length === 0 || all.length < wanted.length ? undefined : EITHER.format(new Set(all))
    }
    default:
      return undefined
  }
}
