/** What the tests of dumps share: groups whose rewards are known, and the files as their readers see them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until, type World } from '../../world.ts'

/** The item that all groups are about, its question and its answer. */
export async function aboutItem({ call }: World) {
  const item = (await call('POST', '/items', { task: 'leg_counting', seed: 42 })).body.items[0]
  return { id: String(item.id), answer: '100', messages: item.messages as { role: string; content: string }[] }
}

export const right = { completion: '<think>sum</think>\n<answer>100</answer>' }
export const wrong = { completion: '<answer>1</answer>' }

/** Posts groups `FIRST … LAST` and waits until all are scored. */
export async function postGroups(world: World, run: string, itemId: string, ids: string[], rollouts: object[]) {
  for (let k = 0; k < ids.length; k += 200) {
    const groups = ids
      .slice(k, k + 200)
      .map((id) => ({ item_id: itemId, group_id: id, buffer: false, extra: { id }, rollouts }))
    const { status, body } = await world.call('POST', '/rollouts', { run, groups })
    if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body).slice(0, 500)}`)
  }
  const progress = async () => (await world.call('GET', `/runs/${run}`)).body.progress
  await until(progress, ({ groups, scored_groups, failed_groups }) => scored_groups + failed_groups === groups)
}

export const ids = (count: number, prefix = 'g') => Array.from({ length: count }, (_, k) => `${prefix}${k}`)

export function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .toSorted()
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails where it is not there
export function linesOf(folder: string, name: string): any[] {
  return readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

/** Waits until a run has so many files on disk, and gives their lines. */
export async function written(world: World, run: string, count: number) {
  const list = async () => (await world.call('GET', `/dumps?run=${run}`)).body.files as { name: string }[]
  return until(list, (files) => files.length >= count)
}
