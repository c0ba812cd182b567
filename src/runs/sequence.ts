/** A run's sequence of training items: position p fixes task and seed, for whoever asks. */
import { createHash } from 'node:crypto'
import { SEEDS_END, TRAINING_SEEDS_START } from '../words/recipe.ts'

const RANGE = SEEDS_END - TRAINING_SEEDS_START

/** Task and seed of a position. Items differ per run and seed; neighbours in the sequence have neighbouring seeds. */
export function placeAt(run: string, seed: number, tasks: string[], position: number): { task: string; seed: number } {
  const start = draw(`${run}/${seed}`)
  const task = tasks[Math.floor(draw(`${run}/${seed}/${position}`) * tasks.length)]
  if (task === undefined) throw new RangeError('a run needs a task')
  return { task, seed: TRAINING_SEEDS_START + ((Math.floor(start * RANGE) + position) % RANGE) }
}

/** A number in [0, 1) that is the same everywhere. */
function draw(key: string): number {
  return createHash('sha256').update(key).digest().readUIntBE(0, 6) / 2 ** 48
}

/** The tasks that a run's setting names. */
export function tasksOf(setting: 'all' | string[], all: { name: string; category: string }[]): string[] {
  if (setting === 'all') return all.map(({ name }) => name)
  const chosen = setting.flatMap((choice) => {
    const category = choice.startsWith('category:') ? choice.slice('category:'.length) : undefined
    return all
      .filter((task) => (category === undefined ? task.name === choice : task.category === category))
      .map(({ name }) => name)
  })
  return [...new Set(chosen)]
}
