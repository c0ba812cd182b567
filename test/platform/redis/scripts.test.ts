import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { connectForRequests, waitUntilReady } from '../../../src/platform/redis/connect.ts'
import { sendTextIfFlushed } from '../../../src/platform/redis/script-connections.ts'
import { defineScript } from '../../../src/platform/redis/scripts.ts'

const folder = mkdtempSync(join(tmpdir(), 'scripts-'))
const redis = connectForRequests({ url: inject('redisUrl'), prefix: '' })

function write(name: string, lua: string): string {
  mkdirSync(join(folder, 'scripts', 'parts'), { recursive: true })
  writeFileSync(join(folder, 'scripts', `${name}.lua`), lua)
  return name
}

beforeAll(() => waitUntilReady(redis, 40_000))
afterAll(() => {
  redis.disconnect()
  rmSync(folder, { recursive: true })
})

it('a script gets the keys that it names, whatever their order', async () => {
  const name = write('names', '-- Contract.\nreturn { K.second, K.first, ARGV[1] }')
  const script = defineScript(folder, name)
  expect(await script(redis, { third: '{a}:3', second: '{a}:2', first: '{a}:1' }, ['x'])).toEqual([
    '{a}:2',
    '{a}:1',
    'x',
  ])
})

it('a script names constants, and its parts do too', async () => {
  write('parts/answer', 'local function answer() return RUN.epoch end')
  const name = write('constants', '-- include parts/answer\nreturn { answer(), LIMITS.steps }')
  const script = defineScript(folder, name, { RUN: { epoch: 'e' }, LIMITS: { steps: 7 } })
  expect(await script(redis, {}, [])).toEqual(['e', 7])
})

it('a call without a key that the script names is rejected', async () => {
  const script = defineScript(folder, write('missing-key', '-- Not K.other.\nreturn K.run'))
  await expect(script(redis, { other: '{a}:1', run: () => '{a}:2' }, [])).rejects.toThrow('missing-key.lua names K.run')
})

it('a script that names what is not declared does not load', () => {
  const field = write('unknown-field', 'return RUN.other')
  expect(() => defineScript(folder, field, { RUN: { epoch: 'e' } })).toThrow('RUN.other')
  const table = write('unknown-table', 'return GROUP.id')
  expect(() => defineScript(folder, table)).toThrow('GROUP, which is not declared')
})

it('a script reports what it cannot read, and its reply stays the same', async () => {
  const lua = `table.insert(UNREADABLE, { K.entry, ARGV[1] }) if ARGV[1] == 'none' then return nil end return { 'reply' }`
  const script = defineScript(folder, write('reports', lua))
  const reported: unknown[] = []
  const listen = (error: Error) => reported.push(error.message)
  redis.on('unreadable-entry', listen)
  expect(await script(redis, { entry: '{a}:1' }, ['x'])).toEqual(['reply'])
  expect(await script(redis, { entry: '{a}:1' }, ['none'])).toBeNull()
  redis.off('unreadable-entry', listen)
  expect(reported).toEqual(['{a}:1 x', '{a}:1 none'])
})

it('no script decodes what is stored in a way that can fail', () => {
  const root = join(import.meta.dirname, '../../../src')
  const scripts = globSync('**/*.lua', { cwd: root })
  expect(scripts.length).toBeGreaterThan(40)
  const decoded = scripts.flatMap((path) => [
    ...readFileSync(join(root, path), 'utf8').matchAll(/cjson\.decode\(([^)]*)\)/g),
  ])
  const ofCallers = ['ARGV[1]', 'ARGV[2]', 'ARGV[3]', 'made.state'] // anything else is read by read_object
  expect(new Set(decoded.map(([, source]) => source))).toEqual(new Set(ofCallers))
})

it('a script runs again after Redis has forgotten it', async () => {
  const script = defineScript(folder, write('forgotten', 'return 1'))
  expect(await script(redis, {}, [])).toBe(1)
  await redis.script('FLUSH')
  expect(await Promise.all(Array.from({ length: 8 }, () => script(redis, {}, [])))).toEqual(Array(8).fill(1))
})

it('a script in a pipeline is sent with the pipeline, which has its reply', async () => {
  redis.defineCommand('echo', { lua: 'return ARGV[1]', numberOfKeys: 1 })
  await redis.script('FLUSH')
  const pipeline = redis.pipeline() as ReturnType<typeof redis.pipeline> & { echo(key: string, text: string): void }
  pipeline.echo('key', 'one')
  pipeline.echo('key', 'two')
  expect(await pipeline.exec()).toEqual([
    [null, 'one'],
    [null, 'two'],
  ])
})

it('a script that is forgotten again while it is sent again goes as text', async () => {
  const sent: unknown[][] = []
  const forgetful = {
    echo: async () => {
      throw new Error('NOSCRIPT No matching script. Please use EVAL.')
    },
    eval: async (...args: unknown[]) => sent.push(args),
  }
  sendTextIfFlushed(forgetful, 'echo', { lua: 'return ARGV[1]', numberOfKeys: 1 })
  await (forgetful.echo as (...args: unknown[]) => Promise<unknown>)('key', 'one')
  await (forgetful.echo as (...args: unknown[]) => Promise<unknown>)(['key', 'two']) // as BullMQ calls
  expect(sent).toEqual([
    ['return ARGV[1]', 1, 'key', 'one'],
    ['return ARGV[1]', 1, 'key', 'two'],
  ])
})
