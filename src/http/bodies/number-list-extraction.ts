/**
 * Parses the number lists of large group bodies separately, because tokens, masks and log-probabilities are nearly all of
 * their bytes. A placeholder replaces each list in the rest of the JSON; after parsing, the list replaces the placeholder.
 */
import { randomUUID } from 'node:crypto'
import { parseNumberList } from '@reasoning-gym-server/codec/number-lists/number-lists'
import { isNumberArray, type NumberArray } from '@reasoning-gym-server/codec/typed-arrays'
import { MAX_JSON_ENTRIES } from './json-limits.ts'

const LIST_FIELDS = ['tokens', 'masks', 'logprobs'] as const
const LIST_FIELD_KEYS = LIST_FIELDS.map((name) => Buffer.from(`"${name}"`))
/** Extracting shorter lists does not pay off. */
const MIN_LIST_BYTES = 256
/** A random value per process, so that no client can send it. */
const PLACEHOLDER_PREFIX = `list-${randomUUID()}-`
const QUOTED_PLACEHOLDER_PREFIX = Buffer.from(`"${PLACEHOLDER_PREFIX}`)
const QUOTE = Buffer.from('"')

const COLON = 0x3a
const OPEN = 0x5b
const CLOSE = 0x5d
const JSON_WHITESPACE = new Set([0x20, 0x09, 0x0a, 0x0d])

/** A body without its lists, and the lists in order. A null in a list is NaN. */
interface ExtractedLists {
  remainder: Buffer
  lists: NumberArray[]
}

/**
 * Extracts the lists from a body. The sequence of closing quote, colon and bracket never occurs within a string, so the
 * remainder is valid JSON if and only if the body is. A list with anything but numbers and nulls stays in the body.
 */
export function extractNumberLists(body: Buffer): ExtractedLists {
  const lists: NumberArray[] = []
  const pieces: Buffer[] = []
  let copiedUntil = 0
  const nextKey = createKeyFinder(body)
  for (let key = nextKey(0); key; ) {
    const opening = findArrayStart(body, key.end)
    if (opening === undefined) {
      key = nextKey(key.end)
      continue
    }
    const closing = body.indexOf(CLOSE, opening)
    if (closing < 0) break
    const list = closing - opening < MIN_LIST_BYTES ? undefined : parseNumberList(body, opening + 1, closing)
    if (list && list.length <= MAX_JSON_ENTRIES) {
      pieces.push(
        body.subarray(copiedUntil, opening),
        QUOTED_PLACEHOLDER_PREFIX,
        Buffer.from(String(lists.length)),
        QUOTE,
      )
      lists.push(list)
      copiedUntil = closing + 1
    }
    key = nextKey(closing) // also after a list that stays, so that nested lists are not scanned repeatedly
  }
  return { remainder: lists.length === 0 ? body : Buffer.concat([...pieces, body.subarray(copiedUntil)]), lists }
}

/** Replaces the placeholders: with typed arrays in rollouts, and with plain arrays elsewhere. */
export function restoreNumberLists(value: unknown, lists: NumberArray[]): unknown {
  for (const rollout of collectRollouts(value)) {
    for (const name of LIST_FIELDS) {
      const list = getListByPlaceholder(rollout[name], lists)
      if (list) rollout[name] = list
    }
  }
  return restorePlainLists(value, lists)
}

/** Finds the first of the keys at or after a position. It scans no byte twice for the same key. */
function createKeyFinder(body: Buffer): (from: number) => { end: number } | undefined {
  const positions = LIST_FIELD_KEYS.map(() => -1)
  return (from) => {
    let first: { at: number; end: number } | undefined
    LIST_FIELD_KEYS.forEach((key, k) => {
      let at = positions[k] ?? -1
      if (at < from) at = body.indexOf(key, from)
      if (at < 0) at = Number.POSITIVE_INFINITY // no further occurrence
      positions[k] = at
      if (at < (first?.at ?? Number.POSITIVE_INFINITY)) first = { at, end: at + key.length }
    })
    return first
  }
}

/** The opening bracket if the key's value is a list; otherwise undefined. */
function findArrayStart(body: Buffer, key: number): number | undefined {
  const colon = skipWhitespace(body, key)
  if (body[colon] !== COLON) return undefined
  const opening = skipWhitespace(body, colon + 1)
  return body[opening] === OPEN ? opening : undefined
}

function skipWhitespace(body: Buffer, from: number): number {
  let at = from
  while (JSON_WHITESPACE.has(body[at] ?? 0)) at++
  return at
}

/** The rollouts in a body of one group or several groups; empty for any other value. */
function collectRollouts(value: unknown): Record<string, unknown>[] {
  if (!isJsonObject(value)) return []
  const groups = Array.isArray(value.groups) ? value.groups.filter(isJsonObject) : [value]
  return groups.flatMap(({ rollouts }) => (Array.isArray(rollouts) ? rollouts.filter(isJsonObject) : []))
}

function restorePlainLists(value: unknown, lists: NumberArray[]): unknown {
  const list = getListByPlaceholder(value, lists)
  if (list) return Array.from(list, (x) => (Number.isNaN(x) ? null : x))
  if (Array.isArray(value)) {
    for (let k = 0; k < value.length; k++) value[k] = restorePlainLists(value[k], lists)
  } else if (isJsonObject(value)) {
    for (const [name, field] of Object.entries(value)) value[name] = restorePlainLists(field, lists)
  }
  return value
}

function getListByPlaceholder(value: unknown, lists: NumberArray[]): NumberArray | undefined {
  return typeof value === 'string' && value.startsWith(PLACEHOLDER_PREFIX)
    ? lists[Number(value.slice(PLACEHOLDER_PREFIX.length))]
    : undefined
}

/** Whether the value is a JSON object. */
function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isNumberArray(value)
}
