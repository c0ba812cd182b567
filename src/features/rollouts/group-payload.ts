/**
 * A group as it is stored, in three parts: metadata, texts, arrays. Scoring and reading a group does not read its tokens;
 * delivering it does not parse them as JSON.
 *
 *   metadata  JSON: version of this format, item, policy version, lengths
 *   texts     a blob of JSON: the rollouts as they were sent, without their columns, keys in order
 *   arrays    a blob: the version of this format and the length of the index (uint32), the index as JSON, the columns, each at a multiple of 8
 */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { z } from 'zod'
import {
  type Column,
  type ColumnEncoding,
  encodeColumn,
  formatColumnAsNumbers,
  formatColumnAsTyped,
  isColumnEncodable,
} from '../../codec/columns.ts'
import { decodeBlob, encodeBlob } from '../../codec/compressed-blob.ts'
import { canonicalJson } from '../../codec/content-hash.ts'
import { detachBuffer } from '../../codec/detach-buffer.ts'
import { sharedScratchBuffer } from '../../codec/shared-scratch-buffer.ts'
import { alignTo8Bytes } from '../../codec/typed-arrays.ts'
import type { GroupSubmission, Rollout } from '../../contract/rollout.ts'
import { measureRollout, type RolloutMeasures } from '../../grading/length-penalty.ts'

/** Version of the three parts. */
const PAYLOAD_FORMAT = 1

export interface GroupMetadata {
  format: typeof PAYLOAD_FORMAT
  item_id: string
  /** Oldest version of the policy that wrote a rollout; null if none is known. */
  policy_version: number | null
  /** Of the unpacked texts. */
  text_bytes: number
  rollouts: RolloutMeasures[]
}

export interface GroupPayload {
  metadata: string
  textBytes: number
  texts: Buffer
  /** Empty if there are none. */
  arrays: Buffer
  /**
   * Equal content has equal hashes, whatever the order of its keys. Columns are in it by their CRC-32, in a fifth of the time:
   * one number that is another always shows, and what it guards against is a client that takes an id twice, no attack.
   */
  contentHash: string
}

/** How arrays leave: as JSON numbers, or typed in base64. */
export const ArrayEncoding = z.enum(['numbers', 'base64'])
export type ArrayEncoding = z.infer<typeof ArrayEncoding>

type RolloutTexts = Omit<Rollout, 'tokens' | 'masks' | 'logprobs'>
export interface GroupTexts {
  extra?: unknown
  rollouts: RolloutTexts[]
}

/** Where a column belongs, its form and its bytes: `carried` ones stand in `arrays`. */
type ColumnIndexEntry = [rollout: number, name: string, carried: 0 | 1, form: ColumnEncoding, bytes: number]

const TOKEN_COLUMNS = ['tokens', 'masks', 'logprobs'] as const
const COLUMN_ALIGNMENT = 8
/** Two uint32: format and length of the index. */
const HEADER_BYTES = 8
/** By words of 64 bits: in half the time of SHA-256 where the processor has no instructions for that. */
const CONTENT_HASH_ALGORITHM = 'sha512-256'

/** Gives the memory of its blobs back once Redis has them. */
export function detachPayloadBuffers({ texts, arrays }: GroupPayload): void {
  detachBuffer(texts)
  detachBuffer(arrays)
}

/** `delivered`: a trainer may get the group. Nothing else uses its arrays. */
export function packGroup(group: GroupSubmission, delivered: boolean): GroupPayload {
  const { item_id, policy_version, buffer, extra, rollouts } = group
  const versions = rollouts.map((rollout) => rollout.policy_version ?? policy_version).filter((v) => v !== undefined)
  const index: ColumnIndexEntry[] = []
  const columns: Uint8Array[] = []
  const withoutColumns = rollouts.map((rollout, k) => extractColumns(rollout, k, index, columns))
  const texts: GroupTexts = { extra, rollouts: withoutColumns }
  const textJson = Buffer.from(canonicalJson(texts)) // hashed and stored: canonical JSON of long texts takes time
  const metadata: GroupMetadata = {
    format: PAYLOAD_FORMAT,
    item_id,
    policy_version: versions.length === 0 ? null : Math.min(...versions),
    text_bytes: textJson.byteLength,
    rollouts: rollouts.map(measureRollout),
  }
  const hash = createHash(CONTENT_HASH_ALGORITHM).update(canonicalJson({ item_id, policy_version, buffer }))
  hash.update(textJson).update(JSON.stringify([index, columns.map((column) => crc32(column))]))
  const packed = {
    metadata: JSON.stringify(metadata),
    textBytes: textJson.byteLength,
    texts: encodeBlob(textJson),
    arrays: delivered && index.length > 0 ? encodeBlob(encodeArrays(index, columns)) : Buffer.alloc(0),
    contentHash: hash.digest('hex'),
  }
  detachBuffer(textJson)
  return packed
}

export function unpackMetadata(packed: string | Buffer): GroupMetadata {
  const metadata = JSON.parse(packed.toString()) as GroupMetadata // written by packGroup
  assertFormat(metadata.format)
  return metadata
}

export function unpackTexts(texts: Buffer): GroupTexts {
  const bytes = decodeBlob(texts)
  const json = bytes.toString()
  detachBuffer(bytes)
  return JSON.parse(json) as GroupTexts // written by packGroup
}

/** Chosen rollouts as JSON documents, in order, as they were sent. */
export function* formatRollouts(
  { rollouts }: GroupTexts,
  arrays: Buffer | null,
  indices: number[],
  style: ArrayEncoding,
): Generator<string> {
  const write = style === 'numbers' ? formatColumnAsNumbers : formatColumnAsTyped
  const bytes = arrays && alignTo8Bytes(decodeBlob(arrays))
  const columns = bytes ? decodeArrays(bytes) : new Map<number, RolloutColumn[]>()
  for (const k of indices) {
    const { arrays: rest, ...texts } = rollouts[k] ?? {}
    const fields: string[] = []
    const carried = Object.entries(rest ?? {}).map(([name, value]) => formatField(name, JSON.stringify(value)))
    for (const placed of columns.get(k) ?? [])
      (placed.inArrays ? carried : fields).push(formatField(placed.name, write(placed)))
    if (rest) fields.push(formatField('arrays', `{${carried.join()}}`))
    const head = JSON.stringify(texts).slice(1, -1)
    yield `{${[...(head === '' ? [] : [head]), ...fields].join()}}`
  }
  if (bytes) detachBuffer(bytes)
}

function formatField(name: string, json: string): string {
  return `${JSON.stringify(name)}:${json}`
}

/** Takes the columns out of a rollout. */
function extractColumns(rollout: Rollout, k: number, index: ColumnIndexEntry[], columns: Uint8Array[]): RolloutTexts {
  const add = (name: string, carried: 0 | 1, { encoding: form, bytes }: Column) => {
    index.push([k, name, carried, form, bytes.byteLength])
    columns.push(bytes)
  }
  const { tokens, masks, logprobs, ...texts } = rollout
  const own = { tokens, masks, logprobs }
  for (const name of TOKEN_COLUMNS) {
    const values = own[name]
    if (values !== undefined) add(name, 0, encodeColumn(values, name === 'logprobs'))
  }
  if (texts.arrays === undefined) return texts
  const rest: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(texts.arrays).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (isColumnEncodable(value)) add(name, 1, encodeColumn(value))
    else rest[name] = value
  }
  return { ...texts, arrays: rest }
}

/** In the bytes that all share. */
function encodeArrays(index: ColumnIndexEntry[], columns: Uint8Array[]): Uint8Array {
  const head = Buffer.from(JSON.stringify(index))
  const start = alignUp(HEADER_BYTES + head.byteLength)
  const bytes = sharedScratchBuffer(columns.reduce((sum, { byteLength }) => sum + alignUp(byteLength), start))
  bytes.writeUInt32LE(PAYLOAD_FORMAT)
  bytes.writeUInt32LE(head.byteLength, 4)
  bytes.set(head, HEADER_BYTES)
  bytes.fill(0, HEADER_BYTES + head.byteLength, start)
  let at = start
  for (const column of columns) {
    const end = at + column.byteLength
    bytes.set(column, at)
    at += alignUp(column.byteLength)
    bytes.fill(0, end, at)
  }
  return bytes
}

interface RolloutColumn extends Column {
  name: string
  inArrays: boolean
}

/** The columns of each rollout. */
function decodeArrays(bytes: Uint8Array): Map<number, RolloutColumn[]> {
  const header = new DataView(bytes.buffer, bytes.byteOffset)
  assertFormat(header.getUint32(0, true))
  const length = header.getUint32(4, true)
  const json = Buffer.from(bytes.buffer, bytes.byteOffset + HEADER_BYTES, length).toString()
  const index = JSON.parse(json) as ColumnIndexEntry[] // written by encodeArrays
  const columns = new Map<number, RolloutColumn[]>()
  let at = alignUp(HEADER_BYTES + length)
  for (const [k, name, carried, form, size] of index) {
    const column = { name, inArrays: carried === 1, encoding: form, bytes: bytes.subarray(at, at + size) }
    columns.set(k, [...(columns.get(k) ?? []), column])
    at += alignUp(size)
  }
  return columns
}

function assertFormat(format: number): void {
  if (format !== PAYLOAD_FORMAT) throw new Error(`A stored group has format ${format}, not ${PAYLOAD_FORMAT}`)
}

function alignUp(bytes: number): number {
  return Math.ceil(bytes / COLUMN_ALIGNMENT) * COLUMN_ALIGNMENT
}
