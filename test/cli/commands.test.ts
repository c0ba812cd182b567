import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadKeyRing } from '../../src/http/auth/key-ring.ts'
import { getFreePort } from '../../verification/support/with-server.ts'
import { openWorld, until, type World } from '../world.ts'
import { MACHINES_NODE, run, start, versionOf } from './command-line.ts'

let world: World
let url: string
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rgs-cli-'))
  const keyRing = loadKeyRing({ API_KEYS: 'admin:rule,reader:look,evaluator@harbor:score', API_KEYS_FILE: undefined })
  world = await openWorld({ worker: true, keyRing })
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

/** With the admin's key, unless told otherwise. */
const env = () => ({ REASONING_GYM_URL: url, REASONING_GYM_API_KEY: 'rule' })
const ask = (args: string[], input = '') => run(args, { env: env(), input })
const done = async (args: string[], input?: string) => {
  const { code, stdout, stderr } = await ask(args, input)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}
const rows = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('a process of its own', () => {
  it('reads a pipe, writes to one, and says with its exit code what became of it', async () => {
    const recipe = { task: 'leg_counting', seed: 42 }
    const cases: [string[], number][] = [
      [['score'], 0],
      [['item', 'gcd', '--config', '{"max_numbers": "x"}'], 1],
      [['nope'], 2],
    ]
    for (const [args, code] of cases) {
      const ended = await start(args, { env: env(), input: JSON.stringify({ recipe, answer: '100' }) }).ended
      expect([args, ended.code]).toEqual([args, code])
      expect(code === 0 ? rows(ended.stdout)[0].reward : ended.stdout).toBe(code === 0 ? 1 : '')
      expect(ended.stderr).toContain(code === 0 ? '1 verdicts' : 'reasoning-gym-server: ')
    }
  })
})

describe('tasks and items', () => {
  it('lists tasks, shows one, and gives the server’s answer as JSON', async () => {
    expect(await done(['tasks', '--category', 'games'])).toMatch(/^sudoku +games +\d+ +continuous +Solve a Sudoku/m)
    expect(await done(['tasks', 'leg_counting'])).toContain('min_animals')
    expect(await done(['tasks', 'basic_arithmetic'])).toMatch(
      /^0\.00 +\d\.\d\d +\d\.\d\d +\d+ +min_terms 2; max_terms 2;/m,
    )
    const { tasks } = JSON.parse(await done(['tasks', '-q', 'sudoku', '--json']))
    expect(tasks.map(({ name }: { name: string }) => name)).toEqual(['mini_sudoku', 'sudoku'])
  })

  it('shows an item, and its answer to an admin alone', async () => {
    const item = await done(['item', 'gcd', '--seed', '5', '--difficulty', '0.5', '--json'])
    const { id, question, difficulty } = JSON.parse(item)
    expect(difficulty).toBe(0.5)
    expect(await done(['item', '--id', id, '--reveal'])).toMatch(/Answer: \d+/)
    const refused = await run(['item', '--id', id, '--reveal', '--url', url, '--key', 'look'])
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toMatch(/admin.*\[forbidden\]/)
    expect(question).toContain('Greatest Common Divisor')
  })

  it('prints prompt files: the same call gives the same rows, as many as asked for', async () => {
    const args = ['items', '--count', '75', '--task', 'gcd', '--task', 'lcm', '--difficulty', '1']
    const text = await done(args)
    expect(await done(args)).toBe(text)
    const items = rows(text)
    expect(items).toHaveLength(75)
    expect(new Set(items.map(({ item_id }) => item_id)).size).toBe(75)
    expect(items.slice(0, 3)).toMatchObject([
      { task: 'gcd', difficulty: 1, prompt: [{ role: 'system' }, { role: 'user', content: expect.any(String) }] },
      { task: 'lcm', difficulty: 1 },
      { task: 'gcd', difficulty: 1 },
    ])
  })

  it('writes tasks of Harbor, whose test gets the reward from the server', async () => {
    const out = join(folder, 'harbor')
    const written = await done(['items', '--count', '2', '--task', 'gcd', '--format', 'harbor', '--out', out])
    expect(written).toBe('gcd-00000\ngcd-00001\n')
    const task = join(out, 'gcd-00000')
    expect(readFileSync(join(task, 'instruction.md'), 'utf8')).toMatch(
      /Greatest Common Divisor.*\/app\/answer\.txt\.\n$/s,
    )
    const toml = readFileSync(join(task, 'task.toml'), 'utf8')
    expect(toml).toContain('artifacts = ["/app/answer.txt"]\n\n[metadata]\n')
    expect(toml).toContain('[verifier]\nenvironment_mode = "separate"\n')
    expect(toml).toContain('[agent]\nuser = "agent"\n')
    expect(readFileSync(join(task, 'environment/Dockerfile'), 'utf8')).toContain('useradd --create-home agent\n')
    const id = /item_id = "(.*)"/.exec(toml)?.[1] ?? ''
    const right = /Answer: (\d+)/.exec(await done(['item', '--id', id, '--reveal']))?.[1]
    const answerFile = join(folder, 'answer.txt')
    const environment = {
      ...process.env,
      REASONING_GYM_URL: url.replace('//', '//harbor:score@'),
      ANSWER_FILE: answerFile,
      REWARD_DIR: folder,
    }
    const test = async () => {
      for (const name of ['reward.txt', 'reward.json']) writeFileSync(join(folder, name), '1') // stale rewards
      writeFileSync(join(folder, 'json.py'), 'raise SystemExit') // in the working directory, as an agent could leave it
      await promisify(execFile)('bash', [join(task, 'tests/test.sh')], { cwd: folder, env: environment })
      expect(existsSync(join(folder, 'reward.json'))).toBe(false)
      return Number(readFileSync(join(folder, 'reward.txt'), 'utf8'))
    }
    expect(await test()).toBe(0) // no answer
    mkdirSync(answerFile)
    expect(await test()).toBe(0)
    rmdirSync(answerFile)
    writeFileSync(answerFile, `${right}\n`)
    expect(await test()).toBe(1)
    environment.REASONING_GYM_URL = 'http://127.0.0.1:9'
    await expect(test()).rejects.toThrow('Connection refused')
    expect(existsSync(join(folder, 'reward.txt'))).toBe(false)
    expect((await ask(['items', '--format', 'harbor'])).code).toBe(2)
  })

  it('makes items that the model of a run solves with a probability in a band, and takes none from the run', async () => {
    const set = ['runs', 'set', 'banded', 'tasks=["chain_sum"]', 'complexity_mode=frontier', 'scoring=hardened']
    await done(set)
    const few = await ask(['items', '--run', 'banded', '--band', '0.2-0.8'])
    expect(few).toMatchObject({ code: 1, stderr: expect.stringMatching(/no rung with an estimated success/) })
    for (let k = 0; k < 8; k++) {
      const [{ item_id, difficulty }] = rows(await done(['items', '--run', 'banded', '--count', '1']))
      const { answer } = JSON.parse(await done(['item', '--id', item_id, '--json', '--reveal']))
      const rollouts = [0, 1, 2, 3].map((n) => ({
        completion: `<answer>${difficulty < 0.3 + n / 10 ? answer : 'x'}</answer>`,
      }))
      await world.call(
        'POST',
        '/rollouts',
        { run: 'banded', item_id, rollouts },
        { prefer: 'wait=20', 'x-api-key': 'rule' },
      )
    }
    const list = async (band: string) => rows(await done(['items', '--run', 'banded', '--band', band, '--count', '40']))
    const mean = (items: { difficulty: number }[]) =>
      items.reduce((sum, item) => sum + item.difficulty, 0) / items.length
    const items = await list('0.2-0.8')
    expect(new Set(items.map(({ item_id }) => item_id)).size).toBe(40)
    expect(await list('0.2-0.8')).toEqual(items)
    expect(mean(items)).toBeGreaterThan(mean(await list('0.8-1')))
    expect((await ask(['items', '--band', '0.2-0.8'])).code).toBe(2)
    expect((await ask(['items', '--run', 'banded', '--band', '0.8-0.2'])).code).toBe(2)
    const { items: taken } = JSON.parse(await done(['runs', 'show', 'banded', '--json'])).progress
    expect(taken).toBe(8)
  })

  it('hands out the items of a run, none twice', async () => {
    await done(['runs', 'set', 'handout', 'tasks=["gcd"]', 'system_prompt=Be brief.'])
    const both = [
      await done(['items', '--run', 'handout', '--count', '3']),
      await done(['items', '--run', 'handout', '--count', '3']),
    ]
    const items = both.flatMap(rows)
    expect(new Set(items.map(({ item_id }) => item_id)).size).toBe(6)
    expect(items[0].prompt[0].content).toBe('Be brief.')
  })

  it('ends when its reader has enough', async () => {
    const many = start(['items', '--count', '100000', '--task', 'gcd'], { env: env() })
    await until(
      async () => many.seen().stdout,
      (text) => text.includes('\n'),
    )
    many.process.stdout?.destroy()
    expect((await many.ended).code).toBe(0)
  })

  it('Ctrl-C ends it', async () => {
    const many = start(['items', '--count', '100000', '--task', 'gcd'], { env: env() })
    await until(
      async () => many.seen().stdout,
      (text) => text.includes('\n'),
    )
    many.process.kill('SIGINT')
    expect((await many.ended).code).toBe(130)
  })
})

describe('a command that the program names', () => {
  it('is one that the user can call: by npx in a clone, and for the same server', async () => {
    const npx = { ...env(), npm_command: 'exec' }
    const { stdout: help } = await start(['--help'], { env: npx }).ended
    expect(help).toMatch(/^ {2}serve {2,}Run /m)
    expect(help).toMatch(/^ {2}npx reasoning-gym-server doctor$/m)
    const server = ['--url', url, '--key', 'rule']
    const { stderr } = await start(['item', 'gcd', ...server], { env: npx }).ended
    expect(stderr).toMatch(/^Next {2}npx reasoning-gym-server score --id \S+ --answer "…" --url \S+ --key KEY$/m)
    const { stderr: missing } = await start(['runs', 'show', 'nothing', ...server], { env: npx }).ended
    expect(missing).toContain(`"npx reasoning-gym-server runs list --url ${url} --key KEY" lists`)
    expect((await ask(['runs', 'show', 'nothing'])).stderr).toContain('"reasoning-gym-server runs list" lists')
  })
})

describe('score', () => {
  const recipe = { task: 'leg_counting', seed: 42 }
  const lines = [
    { recipe, completion: '<answer>100</answer>' },
    { recipe, completion: 'no idea' },
    { recipe, answer: '100' },
  ].map((one) => JSON.stringify(one))

  it('scores one completion', async () => {
    const { id } = JSON.parse(await done(['item', 'leg_counting', '--json']))
    expect(await done(['score', '--id', id, '--completion', '<answer>100</answer>'])).toBe('scored 1\n')
    expect(await done(['score', '--id', id, '--completion', '100'])).toBe('scored 0 no_answer\n')
    expect(JSON.parse(await done(['score', '--id', id, '--answer', '100', '--json']))).toMatchObject({ reward: 1 })
  })

  it('scores lines from stdin and from packed files, in order', async () => {
    const rewards = (text: string) => rows(text).map(({ reward }) => reward)
    const { stdout, stderr } = await ask(['score'], `${lines.join('\n')}\n\n`)
    expect(rewards(stdout)).toEqual([1, 0, 1])
    expect(stderr).toContain('3 verdicts, mean reward 0.6667, 1 format faults, 0 unscored')
    const file = join(folder, 'rollouts.jsonl.gz')
    const many = Array.from({ length: 600 }, (_, k) => lines[k % 3] ?? '')
    writeFileSync(file, gzipSync(many.join('\n')))
    expect(rewards(await done(['score', file]))).toEqual(many.map((_, k) => [1, 0, 1][k % 3]))
  })

  it('says which line cannot be read, and which file', async () => {
    const broken = await ask(['score'], `${lines[0]}\n{"recipe"`)
    expect(broken).toMatchObject({ code: 1, stderr: 'reasoning-gym-server: stdin, line 2 is not valid JSON\n' })
    expect((await ask(['score', join(folder, 'none.jsonl')])).stderr).toMatch(/Cannot read .*none.jsonl: ENOENT/)
  })
})

describe('runs', () => {
  it('makes, changes, lists, shows and forgets them', async () => {
    expect(await done(['runs', 'set', 'mine', 'preset=clean', 'group_size=8'])).toContain('group_size')
    expect(await done(['runs', 'set', 'mine', 'group_size=8'])).toBe('No setting changed\n')
    expect(await done(['runs', 'list'])).toMatch(/^mine /m)
    expect(JSON.parse(await done(['runs', 'show', 'mine', '--json'])).settings).toMatchObject({
      preset: 'clean',
      group_size: 8,
    })
    expect(await done(['runs', 'show', 'mine'])).toMatch(/^group_size +8$/m)
    const refused = await ask(['runs', 'set', 'mine', 'seed=7'])
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('[would_restart]') })
    expect(await done(['runs', 'set', 'mine', 'seed=7', '--restart'])).toContain('The item sequence restarted')
    expect(await done(['runs', 'mix', 'mine', '["gcd", { "task": "lcm", "weight": 2 }]'])).toMatch(
      /^From position 0 \(.*\): \["gcd",\{"task":"lcm","weight":2\}\]\n$/,
    )
    expect((await done(['runs', 'mix', 'mine'])).split('\n')).toHaveLength(3)
    expect(await done(['runs', 'flow', 'mine'])).toBe('The figures begin with the second batch.\n')
    const file = join(folder, 'mine.json')
    writeFileSync(file, await done(['runs', 'save', 'mine']))
    expect(await done(['runs', 'restore', 'yours', file])).toMatch(/Restored run yours, now in epoch \d+/)
    expect(JSON.parse(await done(['runs', 'show', 'yours', '--json'])).settings.seed).toBe(7)
    expect(await done(['runs', 'list'])).toMatch(/^run +state +warnings +step +reward, last 10 steps +whole run/m)
    expect(await done(['runs', 'list', '--search', 'mine', '--state', 'idle'])).toMatch(/^mine /m)
    const searched = await ask(['runs', 'list', '--search', 'mine', '--warnings'])
    expect(searched).toMatchObject({ stdout: '', stderr: expect.stringContaining('Runs: 0 of 1') })
    await done(['runs', 'delete', 'mine'])
    expect((await ask(['runs', 'show', 'mine'])).stderr).toMatch(/^reasoning-gym-server: .*\[unknown_run\]\n$/)
  })
})

describe('rescore', () => {
  it('prints what the groups of a run would earn under other rules', async () => {
    await done(['runs', 'set', 'again', 'buffer=false'])
    const { id } = JSON.parse(await done(['item', 'leg_counting', '--seed', '42', '--json']))
    const rollouts = ['<answer>100</answer>', '<answer>1</answer><answer>100</answer>', '<answer>2</answer>', 'nothing']
    const group = { item_id: id, group_id: 'g', rollouts: rollouts.map((completion) => ({ completion })) }
    const headers = { authorization: 'Bearer rule', prefer: 'wait=20' }
    expect((await world.call('POST', '/rollouts', { run: 'again', ...group }, headers)).status).toBe(200)
    expect(await done(['rescore', 'again'])).toMatch(/^all +1 +4$/m)
    const listed = await ask(['runs', 'groups', 'again', '--worst', '--task', 'leg_counting'])
    expect(listed.stdout).toMatch(/^g +0\.\d+ +leg_counting .* 1\/4 .* 1 × 100$/m)
    expect(listed.stderr).toContain('Groups: 1 of the 1 searched; the server keeps 1')
    expect((await ask(['runs', 'groups', 'again', '--search', 'absent'])).stdout).toBe('')
    const read = await done(['runs', 'groups', 'again', 'g'])
    expect(read).toMatch(/^Rollout 2 +0\.000 +many answers\n<answer>1<\/answer><answer>100<\/answer>$/m)
    expect(JSON.parse(await done(['runs', 'groups', 'again', 'g', '--json']))).toMatchObject({ group_id: 'g' })
    expect(await done(['rescore', 'again', 'extraction=last_tag'])).toMatch(/^all +1 +4 +1 +0\.250 +1$/m)
    const printed = await done(['rescore', 'again', 'extraction=last_tag', '--json'])
    expect(JSON.parse(printed)).toMatchObject({ groups: 1, rollouts: 4, rewards_changed: 1, left_out: 0 })
  })
})

describe('a failure is one line that says what to do', () => {
  const cases: [string[], number, RegExp][] = [
    [['nope'], 2, /unknown command 'nope'/],
    [['items', '--count', 'many'], 2, /whole number/],
    [['item'], 2, /Name a task/],
    [['items', '--difficulty', '0.5', '--config', '{}'], 2, /cannot be used with/],
    [['item', 'gcd', '--config', '{"max_numbers": "x"}'], 1, /max_numbers.*\[invalid_config\]/],
    [['tasks', '--category', 'gamez'], 2, /No task matches\. Run "reasoning-gym-server tasks" to list/],
    [['items', '--category', 'gamez'], 2, /No task matches\. Run "reasoning-gym-server tasks" to list/],
    [
      ['tasks', 'leg_conting'],
      1,
      /Did you mean "leg_counting"\? "reasoning-gym-server tasks" lists the tasks \[unknown_task\]/,
    ],
    [['item', 'leg-counting'], 1, /must be a task name: lowercase letters, digits and underscores/],
    [['runs', 'set', 'x', 'groupsize=8'], 1, /: groupsize: unknown field\. Did you mean group_size\? \[/],
    [
      ['eval', 'report', 'eval-123'],
      1,
      /no eval "eval-123"\. "reasoning-gym-server eval list" lists .*\[unknown_eval\]/,
    ],
    [['export', 'nope'], 1, /no run "nope"\. "reasoning-gym-server runs list" lists those that exist \[unknown_run\]/],
    [['rescore', 'nope'], 1, /no run "nope".*\[unknown_run\]/],
    [['runs', 'set', 'x', 'preset=claen'], 1, /: preset: expected .*"clean".* \[/],
    [['runs', 'set', 'x', 'length_penalty={"kind":"dapoo"}'], 1, /: length_penalty\.kind: expected "dapo" \[/],
    [
      ['item', 'gcd', '--config', '{"max_number": 3}'],
      1,
      /field max_number: .*; gcd has min_numbers, max_numbers, .* \[/,
    ],
    [['tasks', '--key', 'wrong'], 1, /--key or REASONING_GYM_API_KEY.*\[unauthorized\]/],
    [['tasks', '--url', 'http://127.0.0.1:10'], 1, /No server answers at http:\/\/127.0.0.1:10. Start one/],
    [['runs', 'set', 'x', 'group_size'], 2, /name=value/],
  ]
  it.each(cases)('%j', async (args, code, message) => {
    const ended = await ask(args)
    expect([ended.code, ended.stdout]).toEqual([code, ''])
    expect(ended.stderr).toMatch(message)
    expect(ended.stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(2)
  })
})

describe('demo', () => {
  it('prints the address of the run’s page, a line per step and what was learned', async () => {
    const lines = (await done(['demo', '--steps', '2'])).trimEnd().split('\n')
    expect(lines).toEqual([
      expect.stringMatching(/^The run demo-1 trains a simulated model for 2 steps\. Watch it at .*\/#\/runs\/demo-1/),
      expect.stringMatching(/^step +1\/2 +correct \d+%/),
      expect.stringMatching(/^step +2\/2 +correct \d+%/),
      expect.stringMatching(/^Done: 2 steps\. Correct answers: \d+% in the first step, \d+% in the last/),
    ])
  })
})

describe('mock-model', () => {
  it('knows the items of a server, and goes in order', async () => {
    const args = ['mock-model', '--port', '0', '--accuracy', '1', '--task', 'lcm=0']
    const model = start(args, { env: { REASONING_GYM_URL: url.replace('//', '//admin:rule@') } })
    await until(
      async () => model.seen().stdout,
      (text) => text.includes('\n'),
    )
    const baseURL = /http:\S+\/v1/.exec(model.seen().stdout)?.[0] ?? ''
    const client = new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 })
    const rewards: number[] = []
    for (const task of ['gcd', 'lcm']) {
      const { id, messages } = JSON.parse(await done(['item', task, '--json']))
      const { choices } = await client.chat.completions.create({ model: 'mock', messages })
      const verdict = await done(['score', '--id', id, '--completion', choices[0]?.message.content ?? '', '--json'])
      rewards.push(JSON.parse(verdict).reward)
    }
    expect(rewards).toEqual([1, 0])
    model.process.kill('SIGINT')
    expect((await model.ended).code).toBe(0)
  })
})

describe('doctor', () => {
  const findings = async (env: Record<string, string>, args: string[] = []) => {
    const { code, stdout } = await run(['doctor', '--json', ...args], { env })
    const all = JSON.parse(stdout).findings as { name: string; is: string; found: string; advice?: string }[]
    return { code, of: (name: string) => all.find((finding) => finding.name === name) }
  }

  it('finds nothing wrong here', async () => {
    const withKey = url.replace('//', '//admin:rule@')
    const { code, of } = await findings({ PORT: String(await getFreePort()), DATA_DIR: folder }, ['--url', withKey])
    expect(code).toBe(0)
    expect(of('Key')).toMatchObject({ found: '…e has the role admin' })
    for (const name of [
      'Node',
      'Packages',
      'Python',
      'Library',
      'Checkout',
      'Settings',
      'Redis',
      'Port',
      'Disk',
      'Server',
    ])
      expect(of(name)).toMatchObject({ is: name === 'Server' ? expect.stringMatching(/ok|warn/) : 'ok' })
  }, 120_000)

  it('says what to do about what is wrong', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const address = other.address()
    const port = String(typeof address === 'object' ? address?.port : '')
    const { code, of } = await findings({
      PORT: port,
      DATA_DIR: '/proc/nothing',
      REDIS_URL: 'redis://me:secret@127.0.0.1:9',
    })
    other.close()
    expect(code).toBe(1)
    expect(of('Port')).toMatchObject({ is: 'fail', advice: expect.stringContaining('PORT') })
    expect(of('Disk')).toMatchObject({ is: 'fail', advice: expect.stringContaining('DATA_DIR') })
    expect(of('Redis')).toMatchObject({
      is: 'fail',
      found: 'Redis at 127.0.0.1:9 does not answer: connection refused',
    })
    const unreadable = await run(['doctor'], { env: { PORT: 'soon' } })
    expect(unreadable).toMatchObject({ code: 1, stdout: expect.stringMatching(/✗ Settings .*PORT/) })
  })
})

describe(`with the machine's own Node (${versionOf(MACHINES_NODE)})`, () => {
  it('serves until it is told to end', async () => {
    const port = String(await getFreePort())
    const args = [
      'serve',
      '--port',
      port,
      '--data-dir',
      join(folder, 'served'),
      '--workers',
      '0',
      '--api-processes',
      '1',
    ]
    const serving = start(args, { node: MACHINES_NODE })
    const alive = () =>
      fetch(`http://127.0.0.1:${port}/livez`).then(
        ({ ok }) => ok,
        () => false,
      )
    await until(alive, (is) => is, 60_000)
    serving.process.kill('SIGTERM')
    await serving.ended
    expect(await alive()).toBe(false)
  }, 120_000)
})
