/**
 * Codec for the items that a run has issued, packed by position. scripts/parts/sequence.lua has the same codec in
 * Lua.
 */

/** Number of positions per hash field. A field has 2,816 bytes, so the overhead that Redis adds to it is small. */
export const POSITIONS_PER_CHUNK = 256
/** Number of training steps per hash field (requested.ts). */
export const STEPS_PER_CHUNK = 128
/** What was issued, number of the task, difficulty. */
export const RECORD_BYTES = 1 + 2 + 8
/** Marks a position that has no item and never will have one, in place of what was issued. */
export const NO_ITEM = 255
const WITHOUT_DIFFICULTY = 128

/** What a position has issued. With the task names of the run, this is enough to make the item again. */
export type IssuedRecord =
  | { kind: 'item'; task: number; difficulty: number | null; retry: number }
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
    task: chunk.readUInt16LE(offset + 1),
    difficulty: hasDifficulty ? chunk.readDoubleLE(offset + 3) : null,
    retry: (what % WITHOUT_DIFFICULTY) - 1,
  }
}

/** Encodes the records of a chunk up to the last one. */
export function encodeChunk(records: IssuedRecord[]): Buffer {
  const chunk = Buffer.alloc(records.length * RECORD_BYTES)
  for (const [k, record] of records.entries()) {
    if (record?.kind === 'no_item') chunk.writeUInt8(NO_ITEM, k * RECORD_BYTES)
    if (record?.kind !== 'item') continue
    const { task, difficulty, retry } = record
    chunk.writeUInt8(1 + retry + (difficulty === null ? WITHOUT_DIFFICULTY : 0), k * RECORD_BYTES)
    chunk.writeUInt16LE(task, k * RECORD_BYTES + 1)
    chunk.writeDoubleLE(difficulty ?? 0, k * RECORD_BYTES + 3)
  }
  return chunk
}
