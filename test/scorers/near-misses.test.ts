/** What the library punishes in a right answer and hardened scoring forgives, task by task. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { PythonEngine } from '../../src/engine/python-engine.ts'
import { TASK_NAMES } from '../../src/features/tasks/built-in-tasks.ts'
import { makeHardenedItems } from '../../src/grading/hardened-item.ts'

const SEED = 4711
const ITEMS = 4
/** Their items have no answer of their own: any that holds is right. hardened.test.ts builds some. */
const OPEN = new Set(['boxnet', 'graph_color', 'propositional_logic', 'rubiks_cube', 'rush_hour'])
const LISTED = new Set(['acre', 'gsm_symbolic', 'list_functions', 'word_ladder'])
const IS_VERDICT = /^(?:true|false|yes|no|on|off|undetermined)$/i

type Miss = (oracle: string, task: string) => string | undefined

/** Undefined where the answer has nothing that could be missed so. */
const MISSES: Record<string, Miss> = {
  'outer white space': (oracle) => ` \t${oracle}\n \n`,
  'spaces at the ends of lines': (oracle) => (oracle.includes('\n') ? oracle.replaceAll('\n', '  \n') : undefined),
  '\\boxed{}': (oracle) => `\\boxed{${oracle}}`,
  '$…$': (oracle) => `$${oracle}$`,
  '\\boxed{} in $…$': (oracle) => (oracle.includes('$') ? undefined : `$\\boxed{${oracle}}$`),
  '\\text{}': (oracle) => `\\text{${oracle}}`,
  '\\(…\\)': (oracle) => `\\(${oracle}\\)`,
  'lower case of a verdict': (oracle) => (IS_VERDICT.test(oracle) ? oracle.toLowerCase() : undefined),
  'upper case of a verdict': (oracle) => (IS_VERDICT.test(oracle) ? oracle.toUpperCase() : undefined),
  'upper case of hexadecimals': (oracle, task) =>
    task === 'base_conversion' || oracle.startsWith('0x') ? oracle.toUpperCase().replace('0X', '0x') : undefined,
  // In base_conversion the spelling is the task.
  '20.0 for 20': (oracle, task) => (/^-?\d+$/.test(oracle) && task !== 'base_conversion' ? `${oracle}.0` : undefined),
}

let engine: PythonEngine
beforeAll(async () => {
  engine = new PythonEngine({
    pythonPath: inject('python'),
    librarySocket: inject('librarySocket'),
    workersPerPool: 1, // each creates the dataset of every config anew
    scoreDeadlineMs: 20_000,
    makeDeadlineMs: 20_000,
  })
  await engine.waitUntilStarted()
})
afterAll(() => engine.close())

const met = new Map<string, number>()

describe('a right answer that is written otherwise is still right', () => {
  it.each(TASK_NAMES.filter((task) => !OPEN.has(task)))('%s', { timeout: 120_000 }, async (task) => {
    const places = Array.from({ length: ITEMS }, (_, k): [number, number] =>
      LISTED.has(task) ? [SEED, k] : [SEED + k, 0],
    )
    const items = await makeHardenedItems(engine, task, {}, places)
    expect(items.length).toBeGreaterThan(0)
    for (const { rightKey: oracle, isAnswerable, score } of items) {
      if (oracle === null || !isAnswerable) continue
      const written = Object.entries(MISSES).flatMap(([name, miss]) => {
        const answer = miss(oracle, task)
        return answer === undefined ? [] : [{ name, answer }]
      })
      const scores = await score([oracle, ...written.map(({ answer }) => answer)])
      expect(scores[0], oracle).toBeGreaterThan(0.99)
      written.forEach(({ name, answer }, k) => {
        met.set(name, (met.get(name) ?? 0) + 1)
        expect(scores[k + 1], `${name}: ${answer}`).toBe(scores[0])
      })
    }
  })

  it('meets every kind of miss', () => {
    for (const name of Object.keys(MISSES)) expect(met.get(name) ?? 0, name).toBeGreaterThan(0)
  })
})
