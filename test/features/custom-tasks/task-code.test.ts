/** The code of custom tasks: an item is scored by the code that made it, and the processes on one Redis agree on the code of a task. */
import { appendFileSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { TaskCodeClaims } from '../../../src/features/tasks/task-code-claims.ts'
import { openWorld, type World } from '../../world.ts'

const FIXTURE = new URL('../../fixtures/custom-tasks/word_count.py', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'rgs-task-code-'))
let world: World
let others: TaskCodeClaims

function claimsOf(processName: string): TaskCodeClaims {
  const { redis, keys } = world.platform
  return new TaskCodeClaims({ redis, keys, processName, log: pino({ level: 'silent' }) })
}

/** Processes whose claims are there: one that ends takes its own away, which would last 15 s. */
async function listClaimants(): Promise<(string | undefined)[]> {
  const { redis, keys } = world.platform
  const claims = await redis.zrange(`${keys.slot('task-code')}:claims`, '0', '-1')
  return claims.map((claim) => claim.split(' ')[2])
}

async function codeOf(task: string): Promise<string> {
  return (await world.call('GET', `/tasks/${task}`)).body.code_hash
}

async function createItem(task: string) {
  const { body } = await world.call('POST', '/items', { task, seed: 1 })
  return body.items?.[0]
}

const create = (task: string) => world.call('POST', '/items', { task, seed: 1 })
const score = (item_id: string) => world.call('POST', '/score', { rollouts: [{ item_id, answer: '1' }] })

beforeAll(async () => {
  copyFileSync(FIXTURE, join(folder, 'word_count.py'))
  world = await openWorld({ TASKS_PATH: join(folder, 'word_count.py'), WATCH_TASKS: true })
  await vi.waitUntil(async () => (await world.call('GET', '/tasks?category=custom')).body.tasks.length === 1, 20_000)
  others = claimsOf('other/1')
})
afterAll(async () => {
  await others.close()
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('processes with other code', () => {
  it('are rejected with the name of the process that was first, for that task alone', async () => {
    const own = await codeOf('word_count')
    await others.claim(new Map([['word_count', '0'.repeat(12)]]))
    expect(others.conflictOf('word_count')).toContain(own)
    expect(others.conflictOf('word_count')).toContain(world.platform.identity.process)
    expect((await create('word_count')).status).toBe(200)
  })

  it('that come later reject the task, and serve all others', async () => {
    const item = await createItem('word_count')
    const { tasks } = world.features
    const first = claimsOf('first/1')
    await first.claim(new Map([['word_missing', 'f'.repeat(12)]]))
    await tasks.loadRegistry()
    const missing = await create('word_missing')
    expect(missing).toMatchObject({ status: 409, body: { code: 'task_code_conflict' } })
    expect(missing.body.detail).toContain('does not have the task')
    expect((await create('chain_sum')).status).toBe(200)
    expect((await score(item.id)).status).toBe(200)
    expect(await listClaimants()).toContain('first/1')
    await first.close()
    expect(await listClaimants()).not.toContain('first/1')
    await vi.waitFor(async () => expect((await create('word_missing')).status).toBe(404), 40_000)
  })

  it('serve the task once the others have ended', async () => {
    const [early, late] = [claimsOf('early/1'), claimsOf('late/1')]
    const code = (hash: string) => new Map([['task_of_two', hash]])
    await early.claim(code('a'))
    await late.claim(code('b'))
    expect(late.conflictOf('task_of_two')).toContain('other code of the task (b)')
    await early.close()
    expect(await listClaimants()).not.toContain('early/1')
    await vi.waitFor(() => expect(late.conflictOf('task_of_two')).toBeUndefined(), 40_000)
    await late.close()
  })
})

describe('changed files', () => {
  it('are read again, and items of the older code are rejected', async () => {
    const before = await createItem('word_count')
    const download = () => world.app.inject('/dataset.jsonl?tasks=word_count&count=2')
    const rows = await download()
    expect((await score(before.id)).status).toBe(200)
    const code = await codeOf('word_count')
    appendFileSync(join(folder, 'word_count.py'), '\n# changed\n')
    await vi.waitUntil(async () => (await codeOf('word_count')) !== code, 20_000)
    expect(await score(before.id)).toMatchObject({ status: 409, body: { code: 'engine_version_mismatch' } })
    const after = await createItem('word_count')
    expect(after.question).toBe(before.question)
    expect((await score(after.id)).status).toBe(200)
    const fresh = await download()
    expect(fresh.headers.etag).not.toBe(rows.headers.etag)
    expect((await score(JSON.parse(fresh.body.split('\n')[0] ?? '').item_id)).status).toBe(200)
  })

  it('that no longer parse leave the tasks as they were', async () => {
    const before = await createItem('word_count')
    const file = join(folder, 'word_count.py')
    const text = readFileSync(file, 'utf8')
    const problems = async () => (await world.call('GET', '/tasks')).body.problems
    expect(await problems()).toEqual([])
    writeFileSync(file, `${text}def (`)
    await vi.waitUntil(async () => (await problems()).length > 0, 20_000)
    expect(await problems()).toEqual([expect.stringMatching(/^word_count\.py: SyntaxError: .* keep their code$/)])
    expect((await score(before.id)).body.verdicts[0].score).toEqual(expect.any(Number))
    expect((await createItem('word_count')).question).toBe(before.question)
    writeFileSync(file, text)
    await vi.waitUntil(async () => (await problems()).length === 0, 20_000)
  })
})
