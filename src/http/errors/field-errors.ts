/** Turns zod issues into field errors: which fields of a request are invalid, and what was expected. */

import type { FieldError } from '@reasoning-gym-server/contract/errors'
import { z } from 'zod'

type Issue = z.core.$ZodIssue
type RawIssue = z.core.$ZodRawIssue

/** More faults than these help no caller. A body may have a million of them, and their combinations take minutes. */
const MAX_FIELD_ERRORS = 100

/** `part` stands for the whole body, query or other part of the request in paths. */
export function formatFieldErrors(issues: readonly Issue[], part: string): FieldError[] {
  return issues
    .slice(0, MAX_FIELD_ERRORS)
    .flatMap((issue) => formatIssue(issue, part))
    .slice(0, MAX_FIELD_ERRORS)
}

function formatIssue(issue: Issue, part: string): FieldError[] {
  const at = issue.path.map(String)
  const path = (...more: string[]) => [...at, ...more].join('.') || part
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, MAX_FIELD_ERRORS).map((key) => ({ path: path(key), message: 'unknown field' }))
  const [meant, ...others] =
    issue.code === 'invalid_union' ? issue.errors.map(analyzeUnionBranch).toSorted(compareBranchFit) : []
  if (!meant || meant.hasTypeMismatch) return [{ path: path(), message: issue.message }]
  const inner = meant.issues.slice(0, MAX_FIELD_ERRORS).map((one) => ({ ...one, path: [...issue.path, ...one.path] }))
  return formatFieldErrors(inner, part).map((error) => {
    const field = meant.unknownFields.find((name) => path(name) === error.path)
    const rivals = field === undefined ? [] : listConflictingFields(field, meant, others)
    return rivals.length === 0 ? error : { ...error, message: `cannot be combined with ${rivals.join(', ')}` }
  })
}

/** Why a value does not match one alternative of a union. */
interface UnionBranch {
  issues: Issue[]
  /** The value has another type, such as a list instead of a string; its content is not worth reporting. */
  hasTypeMismatch: boolean
  /** The first of the given fields that this alternative does not have. */
  unknownFields: string[]
}

function analyzeUnionBranch(issues: Issue[]): UnionBranch {
  const ofAll = issues.filter(({ path }) => path.length === 0)
  return {
    issues,
    hasTypeMismatch: ofAll.some((issue) => describeExpected(issue) !== undefined),
    unknownFields: ofAll.flatMap((issue) =>
      issue.code === 'unrecognized_keys' ? issue.keys.slice(0, MAX_FIELD_ERRORS) : [],
    ),
  }
}

/** Sorts the alternative that the caller most likely meant first: fewest unknown fields, then fewest issues. */
function compareBranchFit(a: UnionBranch, b: UnionBranch): number {
  return (
    Number(a.hasTypeMismatch) - Number(b.hasTypeMismatch) ||
    a.unknownFields.length - b.unknownFields.length ||
    a.issues.length - b.issues.length
  )
}

/** For a field that belongs to another alternative: the given fields that the other alternative lacks. */
function listConflictingFields(field: string, meant: UnionBranch, others: UnionBranch[]): string[] {
  const home = others.find(
    ({ hasTypeMismatch: isOfOtherType, unknownFields: strangers }) => !isOfOtherType && !strangers.includes(field),
  )
  return home?.unknownFields.filter((name) => !meant.unknownFields.includes(name)) ?? []
}

/** Our message for a missing value, a value of the wrong type, or one out of range; undefined keeps zod's message. */
export function formatIssueMessage(issue: RawIssue): string | undefined {
  const wanted = describeExpected(issue)
  if (wanted === undefined) return describeLimit(issue)
  const { input } = issue
  if (input === undefined) return `missing: expected ${wanted}`
  if (issue.code === 'invalid_value') return `expected ${wanted}`
  return `expected ${wanted}, received ${typeof input === 'number' ? input : z.core.util.parsedType(input)}`
}

const LIMITED_UNITS: Record<string, string> = { string: 'character', array: 'item' }

/** A number, text or list beyond its limits. */
function describeLimit(issue: RawIssue): string | undefined {
  if (issue.code !== 'too_small' && issue.code !== 'too_big') return undefined
  const isSmall = issue.code === 'too_small'
  const limit = Number(isSmall ? issue.minimum : issue.maximum)
  const unit = LIMITED_UNITS[issue.origin]
  if (unit !== undefined)
    return `must have ${isSmall ? 'at least' : 'at most'} ${limit} ${unit}${limit === 1 ? '' : 's'}`
  if (issue.origin !== 'number' && issue.origin !== 'int') return undefined
  const bound = issue.inclusive ? (isSmall ? 'at least' : 'at most') : isSmall ? 'above' : 'below'
  return `must be ${bound} ${limit}, received ${String(issue.input)}`
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

/** The expected type or values; undefined if the value has the right type and only its content is invalid. */
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
