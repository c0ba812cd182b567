/** Items one after another, asked for in handfuls. */
import { z } from 'zod'
import { Failure } from './failure.ts'
import type { Server } from './server.ts'

const Item = z.object({
  id: z.string(),
  task: z.string(),
  category: z.string(),
  difficulty: z.number().nullable(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
})
export type MadeItem = z.infer<typeof Item>

const Items = z.object({ items: z.array(Item) })

const HANDFUL = 32
/** Items in a row that cannot be made before the whole is given up. */
const LOST_MAX = 20

interface Wanted {
  tasks: string[]
  count: number
  seed: number
  /** Difficulty or config of each. */
  recipe: object
  /** Told of each item that could not be made in time; the next seed takes its place. */
  onLost: (line: string) => void
}

/** Task after task in turn, each with the next seed: the same call gives the same items. */
export async function* itemsOfTasks(
  server: Server,
  { tasks, count, seed, recipe, onLost }: Wanted,
): AsyncGenerator<MadeItem> {
  if (tasks.length === 0) throw new Failure('There is no such task', { exitCode: 2 })
  const lines = tasks.map((task, k) => {
    const mine = Math.ceil((count - k) / tasks.length)
    return lineOf(server, { task, count: mine, seed, recipe, onLost })
  })
  for (let k = 0; k < count; k++) {
    const next = await lines[k % tasks.length]?.next()
    if (next && !next.done) yield next.value
  }
}

interface Line extends Omit<Wanted, 'tasks'> {
  task: string
}

/** The items of one task. */
async function* lineOf(server: Server, { task, count, seed, recipe, onLost }: Line): AsyncGenerator<MadeItem> {
  let next = seed
  for (let given = 0, lost = 0; given < count; ) {
    const seeds = Array.from({ length: Math.min(HANDFUL, count - given) }, () => next++)
    for (const item of await handful(server, { task, recipe, seeds })) {
      if (item.made) {
        given++
        lost = 0
        yield item.made
      } else {
        onLost(`${task} with seed ${item.seed} could not be made in time and is left out`)
        if (++lost >= LOST_MAX) throw new Failure(`${task}: ${lost} items in a row could not be made in time`)
      }
    }
  }
}

interface Handful {
  task: string
  recipe: object
  seeds: number[]
}

/** All at once; if one cannot be made, one by one. */
async function handful(server: Server, { task, recipe, seeds }: Handful): Promise<{ seed: number; made?: MadeItem }[]> {
  try {
    const { items } = await server.insist(Items, 'POST', '/items', { task, ...recipe, seeds })
    return items.map((made, k) => ({ made, seed: seeds[k] ?? 0 }))
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'make_timeout') throw error
    if (seeds.length === 1) return seeds.map((seed) => ({ seed }))
  }
  const each: { seed: number; made?: MadeItem }[] = []
  for (const seed of seeds) each.push(...(await handful(server, { task, recipe, seeds: [seed] })))
  return each
}

/** The next items of a run; each is handed out once. */
export async function* itemsOfRun(server: Server, run: string, count: number): AsyncGenerator<MadeItem> {
  for (let given = 0; given < count; ) {
    const { items } = await server.insist(Items, 'POST', '/items', { run, count: Math.min(HANDFUL, count - given) })
    if (items.length === 0) throw new Failure(`The run ${run} gives no more items now: it waits for its trainer`)
    given += items.length
    yield* items
  }
}
