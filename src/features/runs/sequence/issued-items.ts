/**
 * Codec for the items that a run has issued, packed by position. scripts/parts/sequence.lua has the same codec in
 * Lua.
 */

import { canonicalJson } from '@reasoning-gym-server/codec/content-hash'
import type { Config } from '@reasoning-gym-server/contract/recipe'

/** Number of positions per hash field. A field has 3,840 bytes, so the overhead that Redis adds to it is small. */
export const POSITIONS_PER_CHUNK = 256
/** Number of training steps per hash field (requested.ts). */
export const STEPS_PER_CHUNK = 128
/** What was issued, number of the variant, difficulty, propensity. */
export const RECORD_BYTES = 1 + 2 + 8 + 4
/** Marks a position that has no item and never will have one, in place of what was issued. */
export const NO_ITEM = 255
const WITHOUT_DIFFICULTY = 128

/** What a position has issued. With the variants of the run, this is enough to make the item again. */
export type IssuedRecord =
  | { kind: 'item'; variant: number; difficulty: number | null; retry: number; propensity: number | undefined }
  | { kind: 'no_item' }
  | undefined

/** Decodes one record for each position of the chunk, undefined where nothing was issued. */
export function decodeChunk(chunk: Buffer): IssuedRecord[] {
  return Array.from({ length: Math.floor(chunk.length / RECORD_BYTES) }, (_, k) =>
    decodeRecord(chunk, k * RECORD_BYTES),
  )
}

function decodeRecord(chunk: Buffer, offset: number): IssuedRecord {
  const what = chunk.readUInt8(offset)
  if (what === 0) return undefined
  if (what === NO_ITEM) return { kind: 'no_item' }
  const hasDifficulty = what < WITHOUT_DIFFICULTY
  return {
    kind: 'item',
    variant: chunk.readUInt16LE(offset + 1),
    difficulty: hasDifficulty ? chunk.readDoubleLE(offset + 3) : null,
    retry: (what % WITHOUT_DIFFICULTY) - 1,
    propensity: roundPropensity(chunk.readFloatLE(offset + 11)),
  }
}

/** Encodes the records of a chunk up to the last one. */
export function encodeChunk(records: IssuedRecord[]): Buffer {
  const chunk = Buffer.alloc(records.length * RECORD_BYTES)
  for (const [k, record] of records.entries()) {
    if (record?.kind === 'no_item') chunk.writeUInt8(NO_ITEM, k * RECORD_BYTES)
    if (record?.kind !== 'item') continue
    const { variant, difficulty, retry, propensity = 0 } = record
    chunk.writeUInt8(1 + retry + (difficulty === null ? WITHOUT_DIFFICULTY : 0), k * RECORD_BYTES)
    chunk.writeUInt16LE(variant, k * RECORD_BYTES + 1)
    chunk.writeDoubleLE(difficulty ?? 0, k * RECORD_BYTES + 3)
    chunk.writeFloatLE(propensity, k * RECORD_BYTES + 11)
  }
  return chunk
}

/** Propensities are stored as 32-bit floats, which keep six decimal digits, and none as 0. */
export function roundPropensity(value: number): number | undefined {
  return value > 0 ? Number(Math.max(value, SMALLEST_PROPENSITY).toPrecision(6)) : undefined
}
/** A 32-bit float can be smaller, but with fewer digits. */
const SMALLEST_PROPENSITY = 1e-37

/** A task, and the config that the run's settings gave it when its item was made. */
export interface TaskVariant {
  task: string
  config?: Config | undefined
}

/** Formats a variant as text: the task, followed by the JSON of its config if it has one. */
export function formatVariant({ task, config }: TaskVariant): string {
  return config === undefined ? task : task + canonicalJson(config)
}

/** Throws for a text that formatVariant cannot have written. */
export function parseVariant(text: string): TaskVariant {
  const end = text.indexOf('{')
  return end < 0 ? { task: text } : { task: text.slice(0, end), config: JSON.parse(text.slice(end)) as Config } // as written
}
