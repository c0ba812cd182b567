/** A Python worker that a custom task has changed, so that all of its answers are nonsense. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import type { GeneratedItem } from '../../src/engine/engine.ts'
import { PythonEngine } from '../../src/engine/python-engine.ts'

const SCORER = `
    def score_answer(self, answer, entry):
        if answer == "poison":
            import json
            json.dumps = lambda *args, **options: '{"value": "nonsense"}'
        return float(answer == entry["answer"])

`

it('a Python worker that answers nonsense is replaced, and the next answers are scored', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-poisoned-'))
  const source = readFileSync(join(import.meta.dirname, '..', 'fixtures', 'custom-tasks', 'word_count.py'), 'utf8')
  writeFileSync(
    join(folder, 'word_count.py'),
    source.replace('\nclass WordCountCurriculum', `${SCORER}\nclass WordCountCurriculum`),
  )
  const engine = new PythonEngine({
    pythonPath: inject('python'),
    taskPlaces: [folder],
    workersPerPool: 1,
    scoreDeadlineMs: 5000,
    makeDeadlineMs: 20_000,
  })
  try {
    await engine.waitUntilStarted()
    await engine.tasks()
    const [made] = await engine.generateItems('word_count', {}, [[1, 0]])
    if (made?.kind !== 'value') throw new Error(`not made: ${JSON.stringify(made)}`)
    const { entry } = made.value as GeneratedItem // engines give what they made
    const answers = ['poison', String(entry.answer), 'none']
    const outcomes = await engine.score('word_count', {}, 1, entry, answers)
    expect(outcomes).toMatchObject([
      { kind: 'lost', reason: 'crashed' },
      { kind: 'value', value: 1 },
      { kind: 'value', value: 0 },
    ])
    expect(engine.pythonWorkers().score.ends.crashed).toBe(1)
  } finally {
    await engine.close()
    rmSync(folder, { recursive: true })
  }
})
