/** From recipes to items: recipes are checked, items made by the engine, their entries kept for scoring. */
import { LRUCache } from 'lru-cache'
import type { Engine, Made, Place } from '../engine/engine.ts'
import type { Ladders } from '../engine/ladders.ts'
import { unwrap } from '../engine/outcome.ts'
import { Fault } from '../faults.ts'
import type { Meters } from '../metrics/meters.ts'
import type { Entry } from '../scorers/scorer.ts'
import type { Entries } from '../store/entries.ts'
import type { Questions } from '../store/questions.ts'
import type { TaskFigures } from '../store/task-figures.ts'
import type { TaskCatalogue } from '../tasks/catalogue.ts'
import type { Item, PromptMessage } from '../words/item.ts'
import { decodeItemId, encodeItemId } from '../words/item-id.ts'
import { CLIENT_SEEDS_END, type Recipe, type RecipeInput, recipeOutput, SEEDS_END } from '../words/recipe.ts'
import { DEFAULT_PROMPT, messagesFor, type Prompt } from './messages.ts'

/** Items that this process remembers, so that neither Redis nor a host is asked again. */
const REMEMBERED = 4000
/** After that they are made or read again, long before Redis forgets them. */
const REMEMBERED_MS = 15 * 60 * 1000

/** An item and the secret part of it. */
export interface MadeItem extends Made {
  id: string
  recipe: Recipe
}

interface Parts {
  engine: Engine
  entries: Entries
  questions: Questions
  ladders: Ladders
  tasks: TaskCatalogue
  figures: TaskFigures
  meters: Meters
}

export class Items {
  readonly #parts: Parts
  readonly #remembered = new LRUCache<string, Made>({ max: REMEMBERED, ttl: REMEMBERED_MS, ttlResolution: 1000 })

  /** Recipes by id, and by what a client wrote. */
  readonly #checked = new LRUCache<string, Recipe>({ max: REMEMBERED })

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The checked recipe of what a client made up, or of what the server returned; the same object for equal ones. */
  async check(input: RecipeInput): Promise<Recipe> {
    const key = JSON.stringify(input)
    const known = this.#checked.get(key)
    if (known) return known
    const recipe = await this.#check(input)
    this.#checked.set(key, recipe)
    return recipe
  }

  async #check(input: RecipeInput): Promise<Recipe> {
    const { engine, ladders } = this.#parts
    const { task, seed, index, difficulty = null } = input
    this.#parts.tasks.find(task)
    const returned = input.engine !== undefined
    if (input.engine !== undefined && input.engine !== engine.version) throw this.#otherEngine(input.engine)
    if (!returned) assertOneChoice(input)
    checkSeed(seed + index, returned ? SEEDS_END : CLIENT_SEEDS_END)
    const wanted = input.config ?? (difficulty === null ? {} : ladders.configAt(task, difficulty))
    const config = Object.keys(wanted).length === 0 ? {} : await engine.canonical(task, wanted)
    return { task, config, difficulty, seed, index, engine: engine.version }
  }

  /** The recipe of an item that the server itself hands out: its seed may be of any range. */
  checkOwn(input: RecipeInput): Promise<Recipe> {
    return this.check({ ...input, engine: this.#parts.engine.version })
  }

  /** The checked recipe of an item id, which may be forged like any recipe. */
  async open(id: string): Promise<Recipe> {
    const known = this.#checked.get(id)
    if (known) return known
    const recipe = decodeItemId(id)
    if (recipe.engine !== this.#parts.engine.version) throw this.#otherEngine(recipe.engine)
    const checked = await this.check(recipe)
    if (encodeItemId(checked) !== id)
      throw new Fault('invalid_item_id', 'The item id does not spell a canonical recipe')
    this.#checked.set(id, checked)
    return checked
  }

  /** Makes the items of checked recipes, in order; each one apart, so that a slow one does not hold up the others. */
  makeEach(recipes: Recipe[]): Promise<MadeItem>[] {
    const groups = Map.groupBy(recipes.keys(), (k) => {
      const { task, config } = recipes[k] as Recipe // k is an index of recipes
      return `${task} ${JSON.stringify(config)}`
    })
    const made: Promise<MadeItem>[] = []
    for (const places of groups.values()) {
      const group = [...places]
      const outcomes = this.#make(group.map((k) => recipes[k] as Recipe)) // as above
      group.forEach((k, at) => {
        made[k] = outcomes.then((items) => items[at]?.() ?? Promise.reject(new Fault('internal', 'no item came')))
        made[k].catch(() => {}) // met by whoever waits for it
      })
    }
    return made
  }

  make(recipes: Recipe[]): Promise<MadeItem[]> {
    return Promise.all(this.makeEach(recipes))
  }

  /** Items that somebody names, in order: remembered, kept in Redis, or made. */
  async get(recipes: Recipe[]): Promise<MadeItem[]> {
    const known = recipes.map((recipe) => this.#remembered.get(unlabelled(recipe)))
    const kept = async (recipe: Recipe, k: number) => known[k] ?? this.#kept(recipe)
    const found = known.includes(undefined) ? await Promise.all(recipes.map(kept)) : known
    const made = await this.make(recipes.filter((_, k) => !found[k]))
    let at = 0
    return recipes.map((recipe, k) => {
      const item = found[k] ? { ...found[k], id: encodeItemId(recipe), recipe } : made[at++]
      if (!item) throw new Fault('internal', 'no item came')
      return item
    })
  }

  async getOne(recipe: Recipe): Promise<MadeItem> {
    const [item] = await this.get([recipe])
    if (!item) throw new Fault('internal', 'no item came')
    return item
  }

  async entry(recipe: Recipe): Promise<Entry> {
    return (this.#remembered.get(unlabelled(recipe)) ?? (await this.getOne(recipe))).entry
  }

  /** What a model is shown of an item. */
  async messages(recipe: Recipe, prompt: Prompt): Promise<PromptMessage[]> {
    return messagesFor((await this.getOne(recipe)).question, prompt)
  }

  /** The item, made lately, whose question ends this text. Throws `not_found`. */
  async find(text: string): Promise<MadeItem> {
    const id = await this.#parts.questions.itemOf(text)
    if (id === undefined) throw new Fault('not_found', 'No item made in the last two hours has this question')
    return this.getOne(await this.open(id))
  }

  /** The first item of a task with the library's defaults; null if it cannot be made in time. */
  async example(task: string): Promise<Item | null> {
    try {
      return this.present(await this.getOne(await this.check({ task, seed: 0, index: 0 })), DEFAULT_PROMPT)
    } catch {
      return null
    }
  }

  /** An item as it is shown. */
  present({ id, recipe, question }: Omit<MadeItem, 'entry'>, prompt: Prompt): Item {
    return {
      id,
      task: recipe.task,
      category: this.#parts.tasks.find(recipe.task).category,
      difficulty: recipe.difficulty,
      recipe: recipeOutput(recipe),
      question,
      messages: messagesFor(question, prompt),
    }
  }

  async #kept(recipe: Recipe): Promise<Made | undefined> {
    const key = unlabelled(recipe)
    const kept = await this.#parts.entries.find(key).catch(() => undefined) // it can be made again
    if (kept) this.#remembered.set(key, kept)
    return kept
  }

  async #make(recipes: Recipe[]): Promise<(() => Promise<MadeItem>)[]> {
    const [first] = recipes
    if (!first) return []
    const started = performance.now()
    const places = recipes.map(({ seed, index }): Place => [seed, index])
    const outcomes = await this.#parts.engine.items(first.task, first.config, places)
    const ms = performance.now() - started
    this.#parts.figures.made(first.task, recipes.length, ms)
    this.#parts.meters.made(first.task, recipes.length, ms)
    return outcomes.map((outcome, k) => async () => {
      const recipe = recipes[k] as Recipe // one outcome for each
      const made = unwrap(outcome) as Made // as host.py makes them
      const item = { ...made, id: encodeItemId(recipe), recipe }
      const key = unlabelled(recipe)
      this.#remembered.set(key, made)
      const { entries, questions } = this.#parts
      await Promise.all([entries.keep(key, made), questions.keep(item.question, item.id)]).catch(() => {}) // it can be made again
      return item
    })
  }

  #otherEngine(version: string): Fault {
    return new Fault(
      'engine_version_mismatch',
      `The item is of reasoning-gym ${version}, this server has ${this.#parts.engine.version}: take a new item`,
    )
  }
}

/** Throws `invalid_request` if both are given: only one of them could hold. `path` is where they stand in the body. */
export function assertOneChoice(
  { config, difficulty }: { config?: unknown; difficulty?: number | null | undefined },
  path = '',
): void {
  if (config === undefined || difficulty === undefined || difficulty === null) return
  throw new Fault('invalid_request', 'Give either config or difficulty', {
    errors: [{ path: `${path}difficulty`, message: 'excludes config' }],
  })
}

/** The id of an item without the difficulty it was asked for: the entry is the same whatever that was. */
function unlabelled(recipe: Recipe): string {
  return encodeItemId({ ...recipe, difficulty: null })
}

function checkSeed(place: number, end: number): void {
  if (place < end) return
  throw new Fault(
    'seed_reserved',
    `seed + index must be below ${end}: what is above is kept for eval and training items`,
    {
      errors: [{ path: 'seed', message: `seed + index must be below ${end}` }],
    },
  )
}
