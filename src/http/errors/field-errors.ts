/** Which fields of a request are wrong, and what was expected of them: zod's issues, told to the caller. */
import { z } from 'zod'
import type { FieldError } from '../../contract/errors.ts'

type Issue = z.core.$ZodIssue
type RawIssue = z.core.$ZodRawIssue

/** `part`: what the request as a whole is called. */
export function formatFieldErrors(issue: Issue, part: string): FieldError[] {
  const at = issue.path.map(String)
  const path = (...more: string[]) => [...at, ...more].join('.') || part
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: path(key), message: 'unknown field' }))
  const [meant, ...others] =
    issue.code === 'invalid_union' ? issue.errors.map(analyzeUnionBranch).toSorted(compareBranchFit) : []
  if (!meant || meant.hasTypeMismatch) return [{ path: path(), message: issue.message }]
  return meant.issues
    .flatMap((inner) => formatFieldErrors({ ...inner, path: [...issue.path, ...inner.path] }, part))
    .map((error) => {
      const field = meant.unknownFields.find((name) => path(name) === error.path)
      const rivals = field === undefined ? [] : listConflictingFields(field, meant, others)
      return rivals.length === 0 ? error : { ...error, message: `does not go together with ${rivals.join(', ')}` }
    })
}

/** What stands against one alternative of a union. */
interface UnionBranch {
  issues: Issue[]
  /** A list where a string was expected, say: nothing in it is worth a word. */
  hasTypeMismatch: boolean
  /** Fields that this alternative does not have. */
  unknownFields: string[]
}

function analyzeUnionBranch(issues: Issue[]): UnionBranch {
  const ofAll = issues.filter(({ path }) => path.length === 0)
  return {
    issues,
    hasTypeMismatch: ofAll.some((issue) => describeExpected(issue) !== undefined),
    unknownFields: ofAll.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : [])),
  }
}

/** First the alternative that was meant: most of what is given belongs to it, and least else is against it. */
function compareBranchFit(a: UnionBranch, b: UnionBranch): number {
  return (
    Number(a.hasTypeMismatch) - Number(b.hasTypeMismatch) ||
    a.unknownFields.length - b.unknownFields.length ||
    a.issues.length - b.issues.length
  )
}

/** A field of another alternative: the fields that are given and that one does not have. */
function listConflictingFields(field: string, meant: UnionBranch, others: UnionBranch[]): string[] {
  const home = others.find(
    ({ hasTypeMismatch: isOfOtherType, unknownFields: strangers }) => !isOfOtherType && !strangers.includes(field),
  )
  return home?.unknownFields.filter((name) => !meant.unknownFields.includes(name)) ?? []
}

/** In plain words, where a value is missing or of another type than expected; zod's own words for all else. */
export function formatIssueMessage(issue: RawIssue): string | undefined {
  const wanted = describeExpected(issue)
  if (wanted === undefined) return undefined
  const { input } = issue
  if (input === undefined) return `missing: expected ${wanted}`
  if (issue.code === 'invalid_value') return `expected ${wanted}`
  return `expected ${wanted}, received ${typeof input === 'number' ? input : z.core.util.parsedType(input)}`
}

const TYPE_DESCRIPTIONS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}
const OR_LIST_FORMAT = new Intl.ListFormat('en', { type: 'disjunction' })

/** What should stand in place of the whole value; undefined where only something about it is wrong. */
function describeExpected(issue: Issue | RawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if ('inst' in issue && issue.inst instanceof z.ZodNumberFormat) return TYPE_DESCRIPTIONS.int
      return TYPE_DESCRIPTIONS[issue.expected] ?? issue.expected
    case 'invalid_value':
      return OR_LIST_FORMAT.format(issue.values.map((value) => JSON.stringify(value)))
    case 'invalid_union': {
      const wanted = issue.errors.map((inner) =>
        inner
          .filter(({ path }) => path.length === 0)
          .map(describeExpected)
          .find(Boolean),
      )
      const all = wanted.filter((one) => one !== undefined)
      return all.length === 0 || all.length < wanted.length ? undefined : OR_LIST_FORMAT.format(new Set(all))
    }
    default:
      return undefined
  }
}
