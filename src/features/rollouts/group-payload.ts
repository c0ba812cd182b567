/**
 * The stored form of a group, in three parts: metadata, texts and arrays. Scoring or reading a group never reads its
 * tokens; delivering a group never parses them as JSON.
 *
 *   metadata  JSON: version of this format, item, policy version, lengths
 *   texts     a blob of JSON: the rollouts as received, without their columns, keys sorted
 *   arrays    a blob: format version and index length (uint32 each), the index as JSON, then the columns, each aligned
 *             to 8 bytes
 */
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import {
  type Column,
  type ColumnEncoding,
  encodeColumn,
  formatColumnAsNumbers,
  formatColumnAsTyped,
  isColumnEncodable,
} from '@reasoning-gym-server/codec/columns'
import { decodeBlob, encodeBlob } from '@reasoning-gym-server/codec/compressed-blob'
import { canonicalJson } from '@reasoning-gym-server/codec/content-hash'
import { detachBuffer } from '@reasoning-gym-server/codec/detach-buffer'
import { sharedScratchBuffer } from '@reasoning-gym-server/codec/shared-scratch-buffer'
import { alignTo8Bytes } from '@reasoning-gym-server/codec/typed-arrays'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type { GroupSubmission, Rollout } from '@reasoning-gym-server/contract/rollout'
import type { Verdict } from '@reasoning-gym-server/contract/verdict'
import { z } from 'zod'
import { measureRollout, type RolloutMeasures } from '../../grading/group-advantages.ts'

const PAYLOAD_FORMAT = 1

interface PackedMetadata {
  format: typeof PAYLOAD_FORMAT
  item_id: string
  /** The oldest policy version that generated a rollout; null if unknown. */
  policy_version: number | null
  /** Size of the decompressed texts. */
  text_bytes: number
  rollouts: RolloutMeasures[]
}

export interface GroupMetadata extends PackedMetadata {
  /** What `item_id` encodes, of any engine version. It is decoded here and nowhere else. */
  recipe: Readonly<Recipe>
}

export interface GroupPayload {
  metadata: string
  textBytes: number
  texts: Buffer
  /** Empty if the group has no arrays or they are not stored. */
  arrays: Buffer
  /**
   * Hash of the content. Equal content has equal hashes, regardless of the order of keys. The hash includes the CRC-32
   * of each column, which takes a fifth of the time. CRC-32 detects every single changed number. The hash detects a
   * client that reuses an ID by mistake; it is no defense against an attack.
   */
  contentHash: string
  /** Lowest version of its rollouts, or null without any. */
  policyVersion: number | null
}

/** The encoding of arrays in responses: JSON numbers, or typed arrays in base64. */
export const ArrayEncoding = z.enum(['numbers', 'base64'])
export type ArrayEncoding = z.infer<typeof ArrayEncoding>

type RolloutTexts = Omit<Rollout, 'tokens' | 'masks' | 'logprobs'>
/** A group without its tokens, as the grader and other readers receive it. */
export interface GroupTexts {
  extra?: unknown
  rollouts: RolloutTexts[]
  known?: KnownVerdicts | undefined
}

/** The verdicts of rollouts that were scored one by one before they became a group, without what only a group has. */
export interface KnownVerdicts {
  /** Revision of the run's settings under which they were scored. */
  revision: number
  /** Hash of the item's question, if it was needed. */
  question: number | null
  /** Time that the slowest of them took, in milliseconds. */
  gradingMs: number
  verdicts: Verdict[]
}

/** A group to submit. */
export type SubmittedGroup = GroupSubmission & { known?: KnownVerdicts | undefined }

/** The rollout, name, encoding and size of a column. `inArrays` is 1 for columns of the rollout's `arrays` field. */
type ColumnIndexEntry = [rollout: number, name: string, inArrays: 0 | 1, encoding: ColumnEncoding, bytes: number]

const TOKEN_COLUMNS = ['tokens', 'masks', 'logprobs'] as const
const COLUMN_ALIGNMENT = 8
/** Size of the header, two uint32: format version and index length. */
const HEADER_BYTES = 8
/** Hash algorithm on 64-bit words, which is twice as fast as SHA-256 on processors without SHA instructions. */
const CONTENT_HASH_ALGORITHM = 'sha512-256'

/** Frees the memory of the blobs once Redis has stored them. */
export function detachPayloadBuffers({ texts, arrays }: GroupPayload): void {
  detachBuffer(texts)
  detachBuffer(arrays)
}

/** Packs a group. `storeArrays` is true if a trainer may receive the group; no other reader uses its arrays. */
export function packGroup(group: SubmittedGroup, storeArrays: boolean): GroupPayload {
  const { item_id, policy_version, buffer, extra, rollouts, known } = group
  const versions = rollouts.map((rollout) => rollout.policy_version ?? policy_version).filter((v) => v !== undefined)
  const policyVersion = versions.length === 0 ? null : Math.min(...versions)
  const index: ColumnIndexEntry[] = []
  const columns: Uint8Array[] = []
  const rolloutTexts = rollouts.map((rollout, k) => extractColumns(rollout, k, index, columns))
  const texts: GroupTexts = { extra, rollouts: rolloutTexts, known }
  const textJson = Buffer.from(canonicalJson(texts)) // used for the hash and the blob, because canonical JSON of long texts is slow
  const metadata: PackedMetadata = {
    format: PAYLOAD_FORMAT,
    item_id,
    policy_version: policyVersion,
    text_bytes: textJson.byteLength,
    rollouts: rollouts.map(measureRollout),
  }
  const hash = createHash(CONTENT_HASH_ALGORITHM).update(canonicalJson({ item_id, policy_version, buffer }))
  hash.update(textJson).update(JSON.stringify([index, columns.map((column) => crc32(column))]))
  const packed = {
    metadata: JSON.stringify(metadata),
    textBytes: textJson.byteLength,
    texts: encodeBlob(textJson),
    arrays: storeArrays && index.length > 0 ? encodeBlob(encodeArrays(index, columns)) : Buffer.alloc(0),
    contentHash: hash.digest('hex'),
    policyVersion,
  }
  detachBuffer(textJson)
  return packed
}

export function unpackMetadata(packed: string | Buffer): GroupMetadata {
  const metadata = JSON.parse(packed.toString()) as PackedMetadata // written by packGroup
  assertFormat(metadata.format)
  return { ...metadata, recipe: decodeItemId(metadata.item_id) }
}

export function unpackTexts(texts: Buffer): GroupTexts {
  const bytes = decodeBlob(texts)
  const json = bytes.toString()
  detachBuffer(bytes)
  return JSON.parse(json) as GroupTexts // written by packGroup
}

/** Formats the rollouts of a group as JSON documents, as received. */
export class RolloutFormatter {
  readonly #rollouts: RolloutTexts[]
  readonly #formatColumn: (column: Column) => string
  readonly #bytes: Uint8Array | null
  readonly #columns: Map<number, RolloutColumn[]>

  constructor({ rollouts }: GroupTexts, arrays: Buffer | null, arrayEncoding: ArrayEncoding) {
    this.#rollouts = rollouts
    this.#formatColumn = arrayEncoding === 'numbers' ? formatColumnAsNumbers : formatColumnAsTyped
    this.#bytes = arrays && arrays.length > 0 ? alignTo8Bytes(decodeBlob(arrays)) : null
    this.#columns = this.#bytes ? decodeArrays(this.#bytes) : new Map<number, RolloutColumn[]>()
  }

  format(index: number): string {
    const { arrays: rest, ...texts } = this.#rollouts[index] ?? {}
    const fields: string[] = []
    const arrayFields = Object.entries(rest ?? {}).map(([name, value]) => formatField(name, JSON.stringify(value)))
    for (const column of this.#columns.get(index) ?? [])
      (column.inArrays ? arrayFields : fields).push(formatField(column.name, this.#formatColumn(column)))
    if (rest) fields.push(formatField('arrays', `{${arrayFields.join()}}`))
    const head = JSON.stringify(texts).slice(1, -1)
    return `{${[...(head === '' ? [] : [head]), ...fields].join()}}`
  }

  close(): void {
    if (this.#bytes) detachBuffer(this.#bytes)
  }
}

function formatField(name: string, json: string): string {
  return `${JSON.stringify(name)}:${json}`
}

/** Appends the columns of a rollout to `index` and `columns`, and returns the rest. */
function extractColumns(
  rollout: Rollout,
  rolloutIndex: number,
  index: ColumnIndexEntry[],
  columns: Uint8Array[],
): RolloutTexts {
  const add = (name: string, inArrays: 0 | 1, { encoding, bytes }: Column) => {
    index.push([rolloutIndex, name, inArrays, encoding, bytes.byteLength])
    columns.push(bytes)
  }
  const { tokens, masks, logprobs, ...texts } = rollout
  const tokenColumns = { tokens, masks, logprobs }
  for (const name of TOKEN_COLUMNS) {
    const values = tokenColumns[name]
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

/** Encodes into the shared scratch buffer. */
function encodeArrays(index: ColumnIndexEntry[], columns: Uint8Array[]): Uint8Array {
  const head = Buffer.from(JSON.stringify(index))
  const start = alignUp(HEADER_BYTES + head.byteLength)
  const bytes = sharedScratchBuffer(columns.reduce((sum, { byteLength }) => sum + alignUp(byteLength), start))
  bytes.writeUInt32LE(PAYLOAD_FORMAT)
  bytes.writeUInt32LE(head.byteLength, 4)
  bytes.set(head, HEADER_BYTES)
  bytes.fill(0, HEADER_BYTES + head.byteLength, start)
  let offset = start
  for (const column of columns) {
    const end = offset + column.byteLength
    bytes.set(column, offset)
    offset += alignUp(column.byteLength)
    bytes.fill(0, end, offset)
  }
  return bytes
}

interface RolloutColumn extends Column {
  name: string
  inArrays: boolean
}

function decodeArrays(bytes: Uint8Array): Map<number, RolloutColumn[]> {
  const header = new DataView(bytes.buffer, bytes.byteOffset)
  assertFormat(header.getUint32(0, true))
  const length = header.getUint32(4, true)
  const json = Buffer.from(bytes.buffer, bytes.byteOffset + HEADER_BYTES, length).toString()
  const index = JSON.parse(json) as ColumnIndexEntry[] // written by encodeArrays
  const columns = new Map<number, RolloutColumn[]>()
  let offset = alignUp(HEADER_BYTES + length)
  for (const [rolloutIndex, name, inArrays, encoding, size] of index) {
    const column = { name, inArrays: inArrays === 1, encoding, bytes: bytes.subarray(offset, offset + size) }
    columns.set(rolloutIndex, [...(columns.get(rolloutIndex) ?? []), column])
    offset += alignUp(size)
  }
  return columns
}

function assertFormat(format: number): void {
  if (format !== PAYLOAD_FORMAT) throw new Error(`A stored group has format ${format}, not ${PAYLOAD_FORMAT}`)
}

function alignUp(bytes: number): number {
  return Math.ceil(bytes / COLUMN_ALIGNMENT) * COLUMN_ALIGNMENT
}
