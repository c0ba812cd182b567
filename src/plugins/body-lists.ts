/**
 * Large bodies of groups: nearly all of their bytes are lists of tokens, masks and log-probabilities. These are read apart,
 * the rest as any JSON: where a list stood, the rest has a mark, which becomes the list again in what was read.
 */
import { randomUUID } from 'node:crypto'
import { readNumbers } from '../number-lists/number-lists.ts'
import { areNumbers, type Numbers } from '../number-lists/numbers.ts'
import { LONGEST } from './json-shape.ts'

const NAMES = ['tokens', 'masks', 'logprobs'] as const
const KEYS = NAMES.map((name) => Buffer.from(`"${name}"`))
/** Shorter ones do not pay. */
const WORTH_BYTES = 256
/** What no client can send: it is made anew by every process. */
const MARK = `list-${randomUUID()}-`
const QUOTED = Buffer.from(`"${MARK}`)
const QUOTE = Buffer.from('"')

const [COLON, OPEN, CLOSE] = [0x3a, 0x5b, 0x5d]
const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d])

/** A body without its lists, and these in order. A null in a list is NaN. */
export interface Apart {
  rest: Buffer
  lists: Numbers[]
}

/**
 * Takes the lists out of a body. A key's closing quote, a colon and a bracket one upon another are never within a string, so
 * that the rest is JSON if and only if the body is. A list that is not purely one of numbers stays.
 */
export function takeLists(body: Buffer): Apart {
  const lists: Numbers[] = []
  const pieces: Buffer[] = []
  let kept = 0
  const nextKey = keysIn(body)
  for (let key = nextKey(0); key; ) {
    const opening = openingBehind(body, key.end)
    if (opening === undefined) {
      key = nextKey(key.end)
      continue
    }
    const closing = body.indexOf(CLOSE, opening)
    if (closing < 0) break
    const list = closing - opening < WORTH_BYTES ? undefined : readNumbers(body, opening + 1, closing)
    if (list && list.length <= LONGEST) {
      pieces.push(body.subarray(kept, opening), QUOTED, Buffer.from(String(lists.length)), QUOTE)
      lists.push(list)
      kept = closing + 1
    }
    key = nextKey(closing) // also of a list that stays: whoever nests thousands is not looked through a thousand times
  }
  return { rest: lists.length === 0 ? body : Buffer.concat([...pieces, body.subarray(kept)]), lists }
}

/** Puts the lists where their marks are: as they are into rollouts, which know them, and as plain arrays elsewhere. */
export function putBack(value: unknown, lists: Numbers[]): unknown {
  for (const rollout of rolloutsOf(value)) {
    for (const name of NAMES) {
      const list = listAt(rollout[name], lists)
      if (list) rollout[name] = list
    }
  }
  return withPlainLists(value, lists)
}

/** Finds the first of the keys at or behind a place; no byte is looked at twice for the same key. */
function keysIn(body: Buffer): (from: number) => { end: number } | undefined {
  const places = KEYS.map(() => -1)
  return (from) => {
    let first: { at: number; end: number } | undefined
    KEYS.forEach((key, k) => {
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
function openingBehind(body: Buffer, key: number): number | undefined {
  const colon = behindBlanks(body, key)
  if (body[colon] !== COLON) return undefined
  const opening = behindBlanks(body, colon + 1)
  return body[opening] === OPEN ? opening : undefined
}

function behindBlanks(body: Buffer, from: number): number {
  let at = from
  while (BLANKS.has(body[at] ?? 0)) at++
  return at
}

/** The rollouts of one group, or of several, as far as the value looks like such. */
function rolloutsOf(value: unknown): Record<string, unknown>[] {
  if (!isObject(value)) return []
  const groups = Array.isArray(value.groups) ? value.groups.filter(isObject) : [value]
  return groups.flatMap(({ rollouts }) => (Array.isArray(rollouts) ? rollouts.filter(isObject) : []))
}

function withPlainLists(value: unknown, lists: Numbers[]): unknown {
  const list = listAt(value, lists)
  if (list) return Array.from(list, (x) => (Number.isNaN(x) ? null : x))
  if (Array.isArray(value)) {
    for (let k = 0; k < value.length; k++) value[k] = withPlainLists(value[k], lists)
  } else if (isObject(value)) {
    for (const [name, field] of Object.entries(value)) value[name] = withPlainLists(field, lists)
  }
  return value
}

function listAt(value: unknown, lists: Numbers[]): Numbers | undefined {
  return typeof value === 'string' && value.startsWith(MARK) ? lists[Number(value.slice(MARK.length))] : undefined
}

/** What JSON calls an object. */
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !areNumbers(value)
}
