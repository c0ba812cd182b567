import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { suggestWords } from '../src/commands/completion.ts'
import { createContext } from '../src/program.ts'
import { CLIENT } from './client.ts'
import { run } from './run-here.ts'

const ANSWERS: Record<string, unknown> = {
  '/tasks': { tasks: [{ name: 'gcd', category: 'arithmetic' }] },
  '/runs': { runs: [{ run: 'first' }] },
  '/eval': { evals: [{ id: 'eval-0123456789abcdef0123' }] },
}
const server = createServer(
  ({ url = '' }, response) => void response.end(JSON.stringify(ANSWERS[url.split('?', 1)[0] ?? ''] ?? {})),
)
let url: string
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

const context = createContext(CLIENT)
const suggest = async (...words: string[]) => (await suggestWords(context, words)).map(({ word }) => word)

describe('suggestions', () => {
  it('complete commands, subcommands and options', async () => {
    expect(await suggest('mo')).toEqual(['mock-model'])
    expect(await suggest('runs', 's')).toEqual(['show', 'set', 'save'])
    expect(await suggest('items', '--form')).toEqual(['--format'])
    expect(await suggest('items', '--format', '')).toEqual([
      'jsonl',
      'verl',
      'label',
      'harbor',
      'trl',
      'openrlhf',
      'slime',
    ])
    expect(await suggest('runs', 'set', 'first', 'group_')).toEqual(['group_size='])
    expect(await suggest('completion', '')).toEqual(['bash', 'zsh', 'fish'])
    expect(await suggest('nope', '')).toEqual([])
  })

  it('complete names that the server knows', async () => {
    expect(await suggest('tasks', '--url', url, '')).toEqual(['gcd'])
    expect(await suggest('eval', '--url', url, '--task', 'c')).toEqual(['category:arithmetic'])
    expect(await suggest('runs', 'show', '--url', url, '')).toEqual(['first'])
    expect(await suggest('eval', 'compare', '--url', url, 'e')).toEqual(['eval-0123456789abcdef0123'])
  })

  it('complete tasks and suites without a server', async () => {
    const nowhere = 'http://127.0.0.1:9'
    expect(await suggest('tasks', '--url', nowhere, 'leg')).toEqual(['leg_counting'])
    expect(await suggest('runs', 'show', '--url', nowhere, '')).toEqual([])
    expect(await suggest('eval', '--suite', 'sm')).toEqual(['smoke'])
  })
})

it('the script completes in bash, also after a colon, and defines the command', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-completion-'))
  const { stdout: script } = await run(['completion', 'bash'])
  const line = 'reasoning-gym-server eval --task category:ar'
  const ask = `COMP_LINE='${line}' COMP_POINT=${line.length} COMP_CWORD=5
    COMP_WORDS=(reasoning-gym-server eval --task category : ar)
    _reasoning_gym_server; echo "$(IFS=,; echo "\${COMPREPLY[*]}") $(type -t reasoning-gym-server)"`
  writeFileSync(join(folder, 'ask.bash'), `${script}\n${ask}\n`)
  const env = { ...process.env, REASONING_GYM_URL: url, PATH: '/usr/bin:/bin' }
  const { stdout } = await promisify(execFile)('bash', [join(folder, 'ask.bash')], { env })
  rmSync(folder, { recursive: true })
  expect(stdout).toBe('arithmetic function\n')
})
