/**
 * Large bodies of groups: nearly all of their bytes are lists of tokens, masks and log-probabilities. These are read apart,
 * the rest as any JSON: where a list stood, the rest has a mark, which becomes the list again in what was read.
 */
import { randomUUID } from 'node:crypto'
import { isNumberArray, type NumberArray } from '../../codec/number-lists/number-array.ts'
import { parseNumberList } from '../../codec/number-lists/number-lists.ts'
import { MAX_JSON_ENTRIES } from './json-limits.ts'

const LIST_FIELDS = ['tokens', 'masks', 'logprobs'] as const
const LIST_FIELD_KEYS = LIST_FIELDS.map((name) => Buffer.from(`"${name}"`))
/** Shorter ones do not pay. */
const MIN_LIST_BYTES = 256
/** What no client can send: it is made anew by every process. */
const PLACEHOLDER_PREFIX = `list-${randomUUID()}-`
const QUOTED_PLACEHOLDER_PREFIX = Buffer.from(`"${PLACEHOLDER_PREFIX}`)
const QUOTE = Buffer.from('"')

const [COLON, OPEN, CLOSE] = [0x3a, 0x5b, 0x5d]
const JSON_WHITESPACE = new Set([0x20, 0x09, 0x0a, 0x0d])

/** A body without its lists, and these in order. A null in a list is NaN. */
export interface ExtractedLists {
  remainder: Buffer
  lists: NumberArray[]
}

/**
 * Takes the lists out of a body. A key's closing quote, a colon and a bracket one upon another are never within a string, so
 * that the rest is JSON if and only if the body is. A list that is not purely one of numbers stays.
 */
export function extractNumberLists(body: Buffer): ExtractedLists {
  const lists: NumberArray[] = []
  const pieces: Buffer[] = []
  let kept = 0
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
      pieces.push(body.subarray(kept, opening), QUOTED_PLACEHOLDER_PREFIX, Buffer.from(String(lists.length)), QUOTE)
      lists.push(list)
      kept = closing + 1
    }
    key = nextKey(closing) // also of a list that stays: whoever nests thousands is not looked through a thousand times
  }
  return { remainder: lists.length === 0 ? body : Buffer.concat([...pieces, body.subarray(kept)]), lists }
}

/** Puts the lists where their marks are: as they are into rollouts, which know them, and as plain arrays elsewhere. */
export function restoreNumberLists(value: unknown, lists: NumberArray[]): unknown {
  for (const rollout of collectRollouts(value)) {
    for (const name of LIST_FIELDS) {
      const list = getListByPlaceholder(rollout[name], lists)
      if (list) rollout[name] = list
    }
  }
  return restorePlainLists(value, lists)
}

/** Finds the first of the keys at or behind a place; no byte is looked at twice for the same key. */
function createKeyFinder(body: Buffer): (from: number) => { end: number } | undefined {
  const places = LIST_FIELD_KEYS.map(() => -1)
  return (from) => {
    let first: { at: number; end: number } | undefined
    LIST_FIELD_KEYS.forEach((key, k) => {
      let at = places[k] ?? -1
      if (at < from) at = body.indexOf(key, from)
      if (at < 0) at = Number.POSITIVE_INFINITY // there is none any more
      places[k] = at
      if (at < (first?.at ?? Number.POSITIVE_INFINITY)) first = { at, end: at + key.length }
    })
    return first
  }
}

/** The bracket of the list that a key has for its value; undefined if it has another one. */
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

/** The rollouts of one group, or of several, as far as the value looks like such. */
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

/** What JSON calls an object. */
function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isNumberArray(value)
}
