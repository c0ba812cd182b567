import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningServer, startServer } from '../../src/prepare/own-server.ts'
import { type PretendModel, startPretendModel } from '../../src/pretend-model/pretend-model.ts'
import { run } from './command-line.ts'

/** Luck is known in advance: samples are named by their seed. */
const LUCK = { accuracy: 0.6, formatFaults: 0.1, seed: 4 }
const TASKS = ['gcd', 'lcm', 'count_bits']

let server: RunningServer
let good: PretendModel
beforeAll(async () => {
  server = await startServer()
  const here = { server: { url: server.url } }
  good = await startPretendModel({ ...here, ...LUCK })
}, 300_000)
afterAll(async () => {
  await good.close()
  await server.stop()
})

const env = () => ({ SERVER_URL: server.url })
const asking = (model: PretendModel, ...more: string[]) => [
  ...['eval', '--model', 'pretend', '--base-url', model.url, '--sample-seed', '0'],
  ...more,
]
const measure = async (model: PretendModel, ...more: string[]) => {
  const args = asking(model, ...TASKS.flatMap((task) => ['--task', task]), '--items', '6', ...more)
  const ended = await run(args, { env: env() })
  return { ...ended, answer: more.includes('--json') ? JSON.parse(ended.stdout) : undefined }
}

describe('eval', () => {
  it('shows how far it is, and a table at the end', async () => {
    const { code, stdout, stderr } = await measure(good)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^gcd +6 +\d\.\d{3} /m)
    expect(stdout).toMatch(/^all +18 +\d\.\d{3} /m)
    expect(stdout).toContain('95 % interval')
    expect(stderr).toMatch(/18\/18 samples \| .*mean 0\.\d{3} \| 0 failed/)
  })

  it('ends with 1 when the mean score is below what was asked, and says so', async () => {
    expect((await measure(good, '--min-score', '0.2')).code).toBe(0)
    expect(await measure(good, '--min-score', '0.99')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('below 0.99'),
    })
  })

  it('says what is missing', async () => {
    const cases: [string[], number, RegExp][] = [
      [['eval', '--suite', 'smoke'], 2, /--model/],
      [asking(good, '--suite', 'nope'), 1, /\[unknown_suite\]/],
      [asking(good, '--suite', 'smoke', '--task', 'gcd'), 2, /either --suite or --task/],
      [['eval', 'show', 'eval-0123456789abcdef'], 1, /\[unknown_eval\]/],
    ]
    for (const [args, code, message] of cases) {
      const ended = await run(args, { env: env() })
      expect([args, ended.code, ended.stdout]).toEqual([args, code, ''])
      expect(ended.stderr).toMatch(message)
    }
  })
})
