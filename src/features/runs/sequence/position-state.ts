/** What is stored of a position, as JSON; scripts/parts/position-state.lua is the same codec in Lua. */
import { z } from 'zod'

/** The item is to be made, for the first time or again. */
const UnmadeState = z.strictObject({
  /** When the position was opened, ms: callers wait for a new one before they take what comes after it. */
  opened: z.number(),
  /** Until when a process may take to make the item, ms; 0 if none does. */
  claimed_until: z.number(),
  /** Failed attempts that were the item's own fault. */
  attempts: z.number(),
  /** The task that was drawn for it before; the sampling may follow the model, and does not draw again. */
  task: z.string().optional(),
  /** Tasks that have no item for it, separated by commas. */
  tried: z.string().optional(),
})
type UnmadeState = z.infer<typeof UnmadeState>

/** Where the curriculum placed an item: bounds of the level, and the levels in [from, to) that mean this very item. */
const LadderPlacement = z.strictObject({ low: z.number(), high: z.number(), from: z.number(), to: z.number() })
export type LadderPlacement = z.infer<typeof LadderPlacement>

/** The item is made: it waits to be handed out, or is leased. */
const MadeState = z.strictObject({
  task: z.string(),
  /** As text, so that Lua does not round it; absent for the library's defaults and for a config of the run's own. */
  difficulty: z.string().optional(),
  /** While the position is open, if the curriculum decides its difficulty. */
  ladder: LadderPlacement.optional(),
  /** Which retry gave the item its seed; absent for the first seed of the position. */
  retry: z.number().optional(),
})

/** The task, the difficulty label and the seed of a made item. */
export interface MadeItem {
  task: string
  difficulty: number | null
  /** Which of its position's seeds it has; absent for the first. */
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

/** As if the position was opened at `now`, and no process had claimed it. */
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

/** From a script's reply, where '' stands for none. */
export function parseDifficulty(text: string): number | null {
  return text === '' ? null : Number(text)
}
