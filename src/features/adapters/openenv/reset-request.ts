/** Parses what a reset requests: one of the ways to name an item, or none of them. */

import { ItemId } from '@reasoning-gym-server/contract/item-id'
import { Config, Difficulty, RecipeInput, TaskName } from '@reasoning-gym-server/contract/recipe'
import { z } from 'zod'
import { FrameRejection, rejectFields } from './frames.ts'

/** Same length limit as OpenEnv's own episode ID. */
export const EpisodeId = z.string().min(1).max(255)
const Index = RecipeInput.shape.index.removeDefault()

const ResetFields = z.looseObject({
  item_id: ItemId.nullish(),
  position: z.int().min(0).nullish(),
  task: TaskName.nullish(),
  difficulty: Difficulty.nullish(),
  config: Config.nullish(),
  seed: RecipeInput.shape.seed.removeDefault().nullish(),
  index: Index.nullish(),
  episode_id: EpisodeId.nullish(),
  // These names come from OpenEnv's own environment for the same library.
  dataset_name: TaskName.nullish(),
  dataset_config: Config.nullish(),
  size: z.int().min(1).nullish(),
})

/** Items of one recipe that differ only in their index. A reset without arguments returns the next one. */
export interface ItemSeries {
  recipe: RecipeInput
  size: number | undefined
}

export type ResetTarget =
  | { kind: 'item'; itemId: string }
  | { kind: 'position'; position: number }
  | { kind: 'series'; series: ItemSeries }
  | { kind: 'seed'; seed: number }
  | { kind: 'next' }

export interface ResetRequest {
  target: ResetTarget
  episodeId: string | undefined
}

/** Throws FrameRejection. */
export function parseReset(data: Record<string, unknown>): ResetRequest {
  const parsed = ResetFields.safeParse(data)
  if (!parsed.success) throw rejectFields(parsed.error, 'The reset cannot be read')
  return { target: readTarget(parsed.data), episodeId: parsed.data.episode_id ?? undefined }
}

function readTarget(fields: z.infer<typeof ResetFields>): ResetTarget {
  const { item_id, position, seed } = fields
  const task = fields.task ?? fields.dataset_name ?? undefined
  const given = [item_id, position, task].filter((one) => one !== undefined && one !== null)
  if (given.length > 1)
    throw new FrameRejection('VALIDATION_ERROR', 'Give only one of item_id, position and task: each names an item')
  if (typeof item_id === 'string') return { kind: 'item', itemId: item_id }
  if (typeof position === 'number') return { kind: 'position', position }
  if (task !== undefined) return { kind: 'series', series: readSeries(task, fields) }
  if (fields.difficulty !== undefined && fields.difficulty !== null)
    throw new FrameRejection('VALIDATION_ERROR', 'difficulty needs a task; a run sets its own difficulty')
  return typeof seed === 'number' ? { kind: 'seed', seed } : { kind: 'next' }
}

function readSeries(task: string, fields: z.infer<typeof ResetFields>): ItemSeries {
  const config = fields.config ?? fields.dataset_config ?? undefined
  if (task === 'composite')
    throw new FrameRejection(
      'VALIDATION_ERROR',
      'A mix of tasks is a run here: create one with tasks and weights, and connect to /openenv/{run}',
    )
  const { difficulty } = fields
  return {
    recipe: {
      task,
      seed: fields.seed ?? 0,
      index: fields.index ?? 0,
      ...(config && Object.keys(config).length > 0 && { config }),
      ...(typeof difficulty === 'number' && { difficulty }),
    },
    size: fields.size ?? undefined,
  }
}
