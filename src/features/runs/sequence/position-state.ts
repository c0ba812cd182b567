/** The stored state of a position, as JSON. scripts/parts/position-state.lua is the same codec in Lua. */
import { z } from 'zod'

/** The item is to be made, for the first time or again. */
const UnmadeState = z.strictObject({
  /** When the position was opened, in milliseconds. Calls wait for a new position before they take later ones. */
  opened: z.number(),
  /** Time until which a process may make the item, in milliseconds; 0 if no process has claimed the position. */
  claimed_until: z.number(),
  /** Number of failed attempts that were the item's own fault. */
  attempts: z.number(),
  /** Task that was drawn before. It is kept, because sampling that follows the model does not draw again. */
  task: z.string().optional(),
  /** Tasks that have no item for the position, comma-separated. */
  tried: z.string().optional(),
})
type UnmadeState = z.infer<typeof UnmadeState>

/**
 * Where the curriculum placed an item: bounds of the level, and the levels in [from, to) that select this same item.
 */
const LadderPlacement = z.strictObject({ low: z.number(), high: z.number(), from: z.number(), to: z.number() })
export type LadderPlacement = z.infer<typeof LadderPlacement>

/** The item is made. It waits to be handed out or is leased. */
const MadeState = z.strictObject({
  task: z.string(),
  /** Text, so that Lua does not round it. Absent for the library's defaults and for a config in the run's settings. */
  difficulty: z.string().optional(),
  /** Present while the position is open, if the curriculum decides its difficulty. */
  ladder: LadderPlacement.optional(),
  /** Retry that gave the item its seed. Absent for the first seed of the position. */
  retry: z.number().optional(),
})

/** The task, the difficulty label and the seed of a made item. */
export interface MadeItem {
  task: string
  difficulty: number | null
  /** Retry that gave the item its seed. Absent for the first seed of the position. */
  retry?: number | undefined
}

export type PositionState = { kind: 'made'; item: MadeItem } | { kind: 'unmade'; task: string | undefined }

export function encodeMadeState({ task, difficulty, retry }: MadeItem, ladder?: LadderPlacement): string {
  const state: z.infer<typeof MadeState> = {
    task,
    ...(difficulty !== null && { difficulty: String(difficulty) }),
    ...(ladder && { ladder }),
    ...(retry && { retry }),
  }
  return JSON.stringify(state)
}

/** Encodes a position as opened at `now` and not claimed. */
export function encodeUnmadeState(now: number, task?: string): string {
  const state: UnmadeState = { opened: now, claimed_until: 0, attempts: 0, ...(task !== undefined && { task }) }
  return JSON.stringify(state)
}

export function decodePositionState(json: string): PositionState {
  const state = z.union([MadeState, UnmadeState]).parse(JSON.parse(json))
  if ('opened' in state) return { kind: 'unmade', task: state.task }
  const { task, difficulty = '', retry } = state
  return { kind: 'made', item: { task, difficulty: parseDifficulty(difficulty), ...(retry && { retry }) } }
}

/** Parses a difficulty from a script's reply, where '' means null. */
export function parseDifficulty(text: string): number | null {
  return text === '' ? null : Number(text)
}
