/**
 * The stored state of a position whose item is not issued, and of a leased item. scripts/parts/position-state.lua is the
 * same codec in Lua.
 */
import { z } from 'zod'
import { formatVariant, parseVariant, type TaskVariant } from './issued-items.ts'

/** The item is to be made, for the first time or again. */
const UnmadeState = z.strictObject({
  /** When the position was opened, in milliseconds. Calls wait for a new position before they take later ones. */
  opened: z.number(),
  /** Time until which a process may make the item, in milliseconds; 0 if no process has claimed the position. */
  claimed_until: z.number(),
  /** Number of failed attempts that were the item's own fault. */
  attempts: z.number(),
  /** Variant that was drawn before. It is kept, because sampling that follows the model does not draw again. */
  task: z.string().optional(),
  /** Probability with which it was drawn. Text, as `difficulty` below. */
  share: z.string().optional(),
  /** Tasks that have no item for the position, comma-separated. */
  tried: z.string().optional(),
})
type UnmadeState = z.infer<typeof UnmadeState>

/**
 * Where the curriculum placed an item: bounds of the level, and the levels in [from, to) that select this same item.
 */
const LadderPlacement = z.strictObject({
  low: z.number(),
  high: z.number(),
  from: z.number(),
  to: z.number(),
  /** Set if the item explores: the rung that the curriculum has chosen, too, or another one. */
  explored: z.enum(['chosen', 'other']).optional(),
})
export type LadderPlacement = z.infer<typeof LadderPlacement>

/** The item is made. It waits to be handed out or is leased. */
const MadeState = z.strictObject({
  /** Variant of the task. */
  task: z.string(),
  /** Text, so that Lua does not round it. Absent for the library's defaults and for a config in the run's settings. */
  difficulty: z.string().optional(),
  /** Present while the position is open, if the curriculum decides its difficulty. */
  ladder: LadderPlacement.optional(),
  /** Retry that gave the item its seed. Absent for the first seed of the position. */
  retry: z.number().optional(),
  propensity: z.number().optional(),
  share: z.string().optional(),
})

/** The task, the difficulty label and the seed of a made item. */
export interface MadeItem extends TaskVariant {
  difficulty: number | null
  /** Retry that gave the item its seed. Absent for the first seed of the position. */
  retry?: number | undefined
  /** Probability with which the task and the rung were drawn (item-draws.ts). */
  propensity?: number | undefined
}

/** A task that was drawn for a position whose item is not issued, and the probability with which it was. */
export interface DrawnTask {
  task: string
  share?: number | undefined
}

type PositionState =
  | { kind: 'made'; item: MadeItem; drawn: DrawnTask }
  | { kind: 'unmade'; drawn: DrawnTask | undefined }

export function encodeMadeState(item: MadeItem & { share?: number | undefined }, ladder?: LadderPlacement): string {
  const { difficulty, retry, propensity, share } = item
  const state: z.infer<typeof MadeState> = {
    task: formatVariant(item),
    propensity,
    share: share?.toString(),
    ...(difficulty !== null && { difficulty: String(difficulty) }),
    ...(ladder && { ladder }),
    ...(retry && { retry }),
  }
  return JSON.stringify(state)
}

/** Encodes a position as opened at `now` and not claimed. */
export function encodeUnmadeState(now: number, drawn?: DrawnTask): string {
  const state: UnmadeState = {
    opened: now,
    claimed_until: 0,
    attempts: 0,
    task: drawn?.task,
    share: drawn?.share?.toString(),
  }
  return JSON.stringify(state)
}

/** Returns undefined for a state that cannot be read; the scripts report it and make the item again. */
export function decodePositionState(json: string): PositionState | undefined {
  const state = parsePositionState(json)
  if (!state) return undefined
  const { task: text, share } = state
  const drawn =
    text === undefined ? undefined : { task: parseVariant(text).task, ...(share && { share: Number(share) }) }
  if ('opened' in state || !drawn) return { kind: 'unmade', drawn }
  const { task, difficulty = '', retry, propensity } = state
  const item = { ...parseVariant(task), difficulty: parseDifficulty(difficulty), ...(retry && { retry }) }
  return { kind: 'made', item: { ...item, ...(propensity && { propensity }) }, drawn }
}

function parsePositionState(json: string): z.infer<typeof MadeState> | UnmadeState | undefined {
  try {
    return z.union([MadeState, UnmadeState]).parse(JSON.parse(json))
  } catch {
    return undefined
  }
}

/** Parses a difficulty from a script's reply, where '' means null. */
export function parseDifficulty(text: string): number | null {
  return text === '' ? null : Number(text)
}
