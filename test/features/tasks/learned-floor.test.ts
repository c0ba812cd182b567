import { seededRandom } from '@reasoning-gym-server/task-tools/seeded-random'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { measureLearnedFloor } from '../../../scripts/task-cards/learned-floor.ts'
import { fitBestModel } from '../../../scripts/task-cards/linear-models.ts'
import { PythonEngine } from '../../../src/engine/python-engine.ts'
import { Ladders } from '../../../src/features/tasks/ladders.ts'
import { TaskCards } from '../../../src/features/tasks/task-cards.ts'
import { type HardenedItem, makeHardenedItems } from '../../../src/grading/hardened-item.ts'

let engine: PythonEngine
beforeAll(async () => {
  engine = new PythonEngine({
    pythonPath: inject('python'),
    workersPerPool: 1,
    scoreDeadlineMs: 20_000,
    makeDeadlineMs: 20_000,
  })
  await engine.waitUntilStarted()
})
afterAll(() => engine.close())

/** The gate in front of OUT is the last one that the legend names. */
function answerByLastGate(question: string): string {
  const gate = /: (\w+)\n\nGiven the following/.exec(question)?.[1] ?? ''
  return ['OR', 'NAND', 'XOR'].includes(gate) ? '1' : '0'
}

it('the floor of circuit_logic knows that one gate mostly decides the output', async () => {
  const positions = Array.from({ length: 450 }, (_, k): [number, number] => [k, 0])
  const items = await makeHardenedItems(engine, 'circuit_logic', {}, positions)
  const byLastGate = items.filter(({ question, entry }) => answerByLastGate(question) === entry.answer)
  expect(byLastGate.length / items.length).toBeGreaterThan(0.8)
  const learned = await measureLearnedFloor(items, ({ entry }) => entry.answer ?? undefined)
  expect(learned?.hardened.mean).toBeGreaterThan(0.75)
  const card = new TaskCards(new Ladders()).defaults('circuit_logic')
  expect(card?.guess_floor.hardened).toBeGreaterThan(0.8)
})

it('a model of answers by chance earns what the most common answer earns', () => {
  const random = seededRandom(3)
  const draw = () => ({
    question: `${Math.floor(random() * 90)} and ${Math.floor(random() * 90)}?`,
    answer: random() < 0.6 ? 'Yes' : 'No',
  })
  const predict = fitBestModel(Array.from({ length: 400 }, draw))
  const right = Array.from({ length: 1000 }, draw).filter(({ question, answer }) => predict(question) === answer)
  expect(right.length).toBeGreaterThan(500)
  expect(right.length).toBeLessThan(640)
})

it('there is no learned floor where answers hardly repeat or all questions are known', async () => {
  const item = (k: number, answer: string): HardenedItem => ({
    question: `Question ${k}`,
    entry: { question: `Question ${k}`, answer, metadata: {} },
    isAnswerable: true,
    clarification: null,
    rightKey: answer,
    score: async (answers) => answers.map(() => 0),
    scoreUpstream: async (answers) => answers.map(() => 0),
  })
  const measure = (items: HardenedItem[]) => measureLearnedFloor(items, ({ entry }) => entry.answer ?? undefined)
  expect(await measure(Array.from({ length: 200 }, (_, k) => item(k, String(k))))).toBeUndefined()
  expect(await measure(Array.from({ length: 200 }, (_, k) => item(k % 10, String(k % 3))))).toBeUndefined()
})
