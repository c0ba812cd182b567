/**
 * A group in parts, as it lies in Redis: a small record, its texts, its arrays. What scores or looks does not read tokens,
 * and what delivers them does not read them as JSON.
 *
 *   about   JSON: item, policy version, lengths
 *   texts   a blob of JSON: the rollouts as they were sent, without their columns, keys in order
 *   arrays  a blob: the length of the index (uint32), the index as JSON, the columns, each at a multiple of 8
 */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { z } from 'zod'
import { canonicalJson } from '../content-hash.ts'
import { release } from '../release.ts'
import { type Measured, measured } from '../scoring/lengths.ts'
import { scratch } from '../scratch.ts'
import type { GroupInput, Rollout } from '../words/rollout.ts'
import { aligned } from '../words/typed.ts'
import { fromBlob, toBlob } from './blob.ts'
import { type Column, columnOf, type Form, fitsColumn, numbersOf, typedOf } from './columns.ts'

/** The small record. */
export interface About {
  item_id: string
  /** Oldest version of the policy that wrote a rollout; null if none is known. */
  policy_version: number | null
  /** Of the texts as they are unpacked: a packed text says nothing of it. Groups of earlier versions do not tell. */
  text_bytes?: number
  rollouts: Measured[]
}

export interface Packed {
  about: string
  textBytes: number
  texts: Buffer
  /** Empty if there are none. */
  arrays: Buffer
  /**
   * Equal content has equal hashes, whatever the order of its keys. Columns are in it by their CRC-32, in a fifth of the time:
   * one number that is another always shows, and what it guards against is a client that takes an id twice, no attack.
   */
  hash: string
}

/** How arrays leave: as JSON numbers, or typed in base64. */
export const ArrayStyle = z.enum(['numbers', 'base64'])
export type ArrayStyle = z.infer<typeof ArrayStyle>

type RolloutTexts = Omit<Rollout, 'tokens' | 'masks' | 'logprobs'>
export interface GroupTexts {
  extra?: unknown
  rollouts: RolloutTexts[]
}

/** Where a column belongs, its form and its bytes: `carried` ones stand in `arrays`. */
type Entry = [rollout: number, name: string, carried: 0 | 1, form: Form, bytes: number]

const OWN = ['tokens', 'masks', 'logprobs'] as const
const ALIGN = 8
/** By words of 64 bits: in half the time of SHA-256 where the processor has no instructions for that. */
const HASH = 'sha512-256'

/** Gives the memory of its blobs back once Redis has them. */
export function releaseBlobs({ texts, arrays }: Packed): void {
  release(texts)
  release(arrays)
}

/** `delivered` says that a trainer may get the group: nobody else has use for its arrays. */
export function pack(group: GroupInput, delivered: boolean): Packed {
  const { item_id, policy_version, buffer, extra, rollouts } = group
  const versions = rollouts.map((rollout) => rollout.policy_version ?? policy_version).filter((v) => v !== undefined)
  const index: Entry[] = []
  const columns: Uint8Array[] = []
  const withoutColumns = rollouts.map((rollout, k) => apart(rollout, k, index, columns))
  const texts: GroupTexts = { extra, rollouts: withoutColumns }
  const spelt = Buffer.from(canonicalJson(texts)) // what is hashed is what is kept: spelling long texts takes time
  const about: About = {
    item_id,
    policy_version: versions.length === 0 ? null : Math.min(...versions),
    text_bytes: spelt.byteLength,
    rollouts: rollouts.map(measured),
  }
  const hash = createHash(HASH).update(canonicalJson({ item_id, policy_version, buffer }))
  hash.update(spelt).update(JSON.stringify([index, columns.map((column) => crc32(column))]))
  const packed = {
    about: JSON.stringify(about),
    textBytes: spelt.byteLength,
    texts: toBlob(spelt),
    arrays: delivered && index.length > 0 ? toBlob(joined(index, columns)) : Buffer.alloc(0),
    hash: hash.digest('hex'),
  }
  release(spelt)
  return packed
}

export function unpackAbout(about: string | Buffer): About {
  return JSON.parse(about.toString()) as About // written by pack
}

export function unpackTexts(texts: Buffer): GroupTexts {
  const bytes = fromBlob(texts)
  const spelt = bytes.toString()
  release(bytes)
  return JSON.parse(spelt) as GroupTexts // written by pack
}

/** Chosen rollouts as JSON documents, in order, as they were sent. */
export function* rolloutDocuments(
  { rollouts }: GroupTexts,
  arrays: Buffer | null,
  indices: number[],
  style: ArrayStyle,
): Generator<string> {
  const write = style === 'numbers' ? numbersOf : typedOf
  const bytes = arrays && aligned(fromBlob(arrays))
  const columns = bytes ? columnsIn(bytes) : new Map<number, PlacedColumn[]>()
  for (const k of indices) {
    const { arrays: rest, ...texts } = rollouts[k] ?? {}
    const fields: string[] = []
    const carried = Object.entries(rest ?? {}).map(([name, value]) => field(name, JSON.stringify(value)))
    for (const placed of columns.get(k) ?? [])
      (placed.carried ? carried : fields).push(field(placed.name, write(placed)))
    if (rest) fields.push(field('arrays', `{${carried.join()}}`))
    const head = JSON.stringify(texts).slice(1, -1)
    yield `{${[...(head === '' ? [] : [head]), ...fields].join()}}`
  }
  if (bytes) release(bytes)
}

function field(name: string, json: string): string {
  return `${JSON.stringify(name)}:${json}`
}

/** Takes the columns out of a rollout. */
function apart(rollout: Rollout, k: number, index: Entry[], columns: Uint8Array[]): RolloutTexts {
  const add = (name: string, carried: 0 | 1, { form, bytes }: Column) => {
    index.push([k, name, carried, form, bytes.byteLength])
    columns.push(bytes)
  }
  const { tokens, masks, logprobs, ...texts } = rollout
  const own = { tokens, masks, logprobs }
  for (const name of OWN) {
    const values = own[name]
    if (values !== undefined) add(name, 0, columnOf(values, name === 'logprobs'))
  }
  if (texts.arrays === undefined) return texts
  const rest: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(texts.arrays).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (fitsColumn(value)) add(name, 1, columnOf(value))
    else rest[name] = value
  }
  return { ...texts, arrays: rest }
}

/** In the bytes that all share. */
function joined(index: Entry[], columns: Uint8Array[]): Uint8Array {
  const head = Buffer.from(JSON.stringify(index))
  const start = padded(4 + head.byteLength)
  const bytes = scratch(columns.reduce((sum, { byteLength }) => sum + padded(byteLength), start))
  bytes.writeUInt32LE(head.byteLength)
  bytes.set(head, 4)
  bytes.fill(0, 4 + head.byteLength, start)
  let at = start
  for (const column of columns) {
    const end = at + column.byteLength
    bytes.set(column, at)
    at += padded(column.byteLength)
    bytes.fill(0, end, at)
  }
  return bytes
}

interface PlacedColumn extends Column {
  name: string
  carried: boolean
}

/** The columns of each rollout. */
function columnsIn(bytes: Uint8Array): Map<number, PlacedColumn[]> {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  const index = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + 4, length).toString()) as Entry[] // written by joined
  const columns = new Map<number, PlacedColumn[]>()
  let at = padded(4 + length)
  for (const [k, name, carried, form, size] of index) {
    const column = { name, carried: carried === 1, form, bytes: bytes.subarray(at, at + size) }
    columns.set(k, [...(columns.get(k) ?? []), column])
    at += padded(size)
  }
  return columns
}

function padded(bytes: number): number {
  return Math.ceil(bytes / ALIGN) * ALIGN
}
