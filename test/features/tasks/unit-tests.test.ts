/** Unit tests beside custom tasks run in the sandbox; what a hostile file does costs its own result and nothing else. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkUnitTests } from '@reasoning-gym-server/task-tools/check/check-task'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { PythonEngine } from '../../../src/engine/python-engine.ts'
import { until } from '../../world.ts'

const folder = mkdtempSync(join(tmpdir(), 'rgs-unit-tests-'))
const MARK = join(folder, 'mark')
const CASE = 'class Case(unittest.TestCase):\n    def test(self):\n        '
/** The file with tests, and what the finding says of it. */
const FILES: Record<string, [text: string, is: string, found: RegExp]> = {
  passes: [`${CASE}self.assertEqual(1, 1)`, 'ok', /^1 unit test passes$/],
  fails: [`${CASE}self.assertEqual(1, 2)`, 'fail', /^1 of 1 tests fail: .*AssertionError: 1 != 2$/],
  has_none: ['', 'warn', /^there are no unit tests$/],
  prints_a_result: [
    `${CASE}os.write(1, b'{"tests": 9, "failed": 0, "failures": []}\\n'); self.fail("really")`,
    'fail',
    /1 of 1 tests fail: .*really/,
  ],
  exits_at_import: ['import sys; sys.exit(0)', 'fail', /1 of 1 tests fail: .*SystemExit: 0$/],
  exits: [
    `${CASE}print('{"tests": 9, "failed": 0, "failures": []}', flush=True); os._exit(0)`,
    'fail',
    /cannot be run: they end the Python process/,
  ],
  loops: [`${CASE}\n        while True: pass`, 'fail', /cannot be run: no result within 1500 ms/],
  sleeps: [`${CASE}time.sleep(10_000)`, 'fail', /cannot be run: no result within 1500 ms/],
  fills_the_output: [
    `${CASE}\n        for _ in range(2000): print("x" * 10_000)\n        self.fail("y" * 10_000_000)`,
    'fail',
    /1 of 1 tests fail: .{1,1500}$/,
  ],
  fills_the_memory: [`${CASE}bytearray(8 << 30)`, 'fail', /1 of 1 tests fail: .*MemoryError/],
  forks: [`${CASE}[os.fork() for _ in range(3)]; time.sleep(0.1)`, 'ok', /^1 unit test passes$/],
  writes_elsewhere: [`${CASE}open(${JSON.stringify(MARK)}, "w").write("x")`, 'fail', /1 of 1 tests fail: .*Error/],
}

let engine: PythonEngine
beforeAll(async () => {
  for (const [name, [text]] of Object.entries(FILES)) {
    const place = join(folder, name)
    mkdirSync(place)
    writeFileSync(join(place, `${name}.py`), 'x = 1\n')
    writeFileSync(join(place, `test_${name}.py`), `import os, time, unittest\nimport ${name}\n${text}\n`)
  }
  const taskPlaces = Object.keys(FILES).map((name) => join(folder, name))
  const deadlines = { scoreDeadlineMs: 2000, makeDeadlineMs: 2000 }
  engine = new PythonEngine({
    pythonPath: inject('python'),
    librarySocket: inject('librarySocket'),
    workersPerPool: 2,
    taskPlaces,
    ...deadlines,
  })
  await engine.waitUntilStarted()
})
afterAll(async () => {
  await engine.close()
  rmSync(folder, { recursive: true, force: true })
})

it.each(Object.entries(FILES))('%s', async (name, [, is, found]) => {
  const deadlineMs = ['loops', 'sleeps'].includes(name) ? 1500 : 20_000
  const finding = await checkUnitTests(engine, join(folder, name), deadlineMs)
  expect(finding).toMatchObject({ name: 'tests', is, found: expect.stringMatching(found) })
})

it('the engine works on after all of them, and nothing was written', async () => {
  expect(existsSync(MARK)).toBe(false)
  expect((await engine.generateItems('gcd', {}, [[1, 0]]))[0]?.kind).toBe('value')
  await until(
    async () => engine.pythonWorkers().items.alive,
    (alive) => alive === 1,
  )
})
