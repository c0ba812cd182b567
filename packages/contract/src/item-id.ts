/**
 * An item ID encodes the recipe: `TASK.SEED.INDEX.`, then JSON `[engine, difficulty, config]` in base64url. Any node can
 * make the item again from it. IDs are neither secret nor signed: a decoded recipe is validated like any other.
 */
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { ServiceError } from './errors.ts'
import { Config, Difficulty, type Recipe, SEEDS_END, TaskName } from './recipe.ts'

export const MAX_ITEM_ID_CHARS = 2048

export const ItemId = z
  .string()
  .min(1)
  .max(MAX_ITEM_ID_CHARS)
  .meta({ id: 'ItemId', description: 'ID of the item, as `POST /items` returned it.' })

const ItemIdPayload = z.tuple([z.string().max(64), Difficulty.nullable(), Config])

/** Throws `invalid_config` if the config is too large for an ID. */
export function encodeItemId({ task, seed, index, engine, difficulty, config }: Recipe): string {
  const rest = Buffer.from(JSON.stringify([engine, difficulty, config])).toString('base64url')
  const id = `${task}.${seed}.${index}.${rest}`
  if (id.length > MAX_ITEM_ID_CHARS) {
    throw new ServiceError(
      'invalid_config',
      `The config is too large: the item ID would have ${id.length} characters, but the limit is ${MAX_ITEM_ID_CHARS}. Use a smaller config.`,
    )
  }
  return id
}

/** The recipe that an ID encodes, of any engine version; the same object for the same ID. Throws `invalid_item_id`. */
export function decodeItemId(id: string): Readonly<Recipe> {
  return DECODED_RECIPES.memo(id)
}

/** Each completion carries an ID, and every step of its processing decodes it. */
const DECODED_RECIPES = new LRUCache({ max: 4000, memoMethod: decodeItemIdUncached })

function decodeItemIdUncached(id: string): Recipe {
  const [task, seed, index, rest, ...more] = id.split('.')
  const place = [parseDigits(seed), parseDigits(index)] as const
  const parsed = ItemIdPayload.safeParse(parsePayload(rest))
  if (!TaskName.safeParse(task).success || !place.every(Number.isInteger) || !parsed.success || more.length > 0)
    throw invalidItemIdError()
  const [engine, difficulty, config] = parsed.data
  const recipe = { task: task ?? '', seed: place[0], index: place[1], engine, difficulty, config }
  if (recipe.seed + recipe.index >= SEEDS_END || encodeItemId(recipe) !== id) throw invalidItemIdError() // only the canonical encoding
  return recipe
}

function parseDigits(text: string | undefined): number {
  return /^\d{1,10}$/.test(text ?? '') ? Number(text) : Number.NaN
}

function parsePayload(text: string | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(text ?? '', 'base64url').toString())
  } catch {
    return undefined
  }
}

function invalidItemIdError(): ServiceError {
  return new ServiceError(
    'invalid_item_id',
    'The item ID cannot be decoded. Send it exactly as POST /items returned it.',
  )
}
