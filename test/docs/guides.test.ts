/**
 * The programs of docs/guides/ run as printed, page by page, on a server in this process and two mock models.
 *
 * - ```python and ```bash blocks are run, in the order of the page. The Python blocks of a page share one interpreter, its bash blocks one
 *   shell, in which a failing command or a problem document fails the test. Their folder is a temporary one with links to clients/ and
 *   examples/.
 * - ```py and ```sh blocks are not run: installing, starting servers, placeholders, and programs that need packages which the tests lack.
 * - A ```text block right after a block that is run is its output. Numbers and IDs may differ; `…` stands for any text, and on a line of
 *   its own for any lines.
 *
 * Addresses are replaced: port 8000 is the server, 8100 a mock model that answers half of the items correctly, 8101 a better one.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type MockModel, startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { buildChildEnvironment } from '../../src/platform/installation.ts'
import { openWorld, type World } from '../world.ts'
import { patternOf, trimLines } from './printed-output.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const GUIDES = join(ROOT, 'docs', 'guides')
const END = '--- end of block ---'

interface Block {
  line: number
  language: string
  code: string
  /** What the page shows as the output. */
  output?: string
}

/** The blocks of a page that are run. */
function blocksOf(page: string): Block[] {
  const text = readFileSync(join(GUIDES, page), 'utf8')
  const fences = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    line: text.slice(0, match.index).split('\n').length,
    language: match[1] ?? '',
    code: match[2] ?? '',
  }))
  return fences.flatMap((fence, k) => {
    if (fence.language !== 'python' && fence.language !== 'bash') return []
    const next = fences[k + 1]
    return [{ ...fence, ...(next?.language === 'text' ? { output: next.code } : {}) }]
  })
}

let world: World
let url: string
let models: MockModel[]
let folder: string
beforeAll(async () => {
  world = await openWorld({ worker: true })
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  models = [
    await startMockModel({ server: { url }, accuracy: 0.5 }),
    await startMockModel({ server: { url }, accuracy: 0.8 }),
  ]
  folder = mkdtempSync(join(tmpdir(), 'rgs-guides-'))
  symlinkSync(join(ROOT, 'examples'), join(folder, 'examples'))
  symlinkSync(join(ROOT, 'clients'), join(folder, 'clients'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  for (const model of models) await model.close()
  await world.close()
})

/** With the addresses of this test in place of the page's. */
function here(code: string): string {
  const [model, better] = models.map((one) => one.url.replace(/\/v1$/, ''))
  return code
    .replace(/http:\/\/(127\.0\.0\.1|localhost):8000/g, url)
    .replace(/http:\/\/(127\.0\.0\.1|localhost):8100/g, model ?? '')
    .replace(/http:\/\/(127\.0\.0\.1|localhost):8101/g, better ?? '')
}

/** Reads blocks from stdin and runs them, one after another, in one namespace. */
const PYTHON_SESSION = `
import json, sys, traceback
space = {"__name__": "__main__"}
for line in sys.stdin:
    try:
        exec(compile(json.loads(line), "block", "exec"), space)
        status = 0
    except BaseException:
        traceback.print_exc()
        status = 1
    print("${END}", status, flush=True)
`

/** In the place of npx, which takes a second to find the command. */
const SHELL_SESSION = `npx() { [ "$1" = reasoning-gym-server ] && shift && node '${join(ROOT, 'bin', 'reasoning-gym-server.js')}' "$@"; }`

/** One interpreter or shell that runs the blocks of a page. */
class Session {
  readonly #process: ChildProcessWithoutNullStreams
  readonly #language: string
  #out = ''
  #err = ''
  #ended: string | undefined
  #endBlock = () => {}

  constructor(language: string) {
    this.#language = language
    const [command, args] =
      language === 'python' ? [inject('python'), ['-u', '-c', PYTHON_SESSION]] : ['bash', ['-euo', 'pipefail']]
    this.#process = spawn(command, args, {
      cwd: folder,
      env: buildChildEnvironment({
        PYTHONPATH: join(ROOT, 'clients', 'python'),
        PATH: `${join(ROOT, 'node_modules', '.bin')}:${join(inject('python'), '..')}:${process.env.PATH ?? ''}`,
        REASONING_GYM_URL: url,
      }),
    })
    if (language === 'bash') this.#process.stdin.write(`${SHELL_SESSION}\n`)
    this.#process.stdout.on('data', (chunk) => {
      this.#out += chunk
      this.#checkEnd()
    })
    this.#process.stderr.on('data', (chunk) => {
      this.#err += chunk
    })
    this.#process.on('close', (code) => {
      this.#ended = `ended with ${code}`
      this.#checkEnd()
    })
  }

  async run(code: string): Promise<string> {
    this.#out = ''
    this.#err = ''
    const send =
      this.#language === 'python' ? `${JSON.stringify(code)}\n` : `${code}\nprintf '\\n%s %s\\n' '${END}' 0\n`
    const block = Promise.withResolvers<void>()
    this.#endBlock = block.resolve
    this.#process.stdin.write(send)
    this.#checkEnd()
    await block.promise
    const [output = '', status] = this.#out.split(END)
    expect([status?.trim(), this.#ended, status?.trim() === '0' ? '' : this.#err + output]).toEqual([
      '0',
      undefined,
      '',
    ])
    return output
  }

  #checkEnd(): void {
    if (this.#ended !== undefined || new RegExp(`${END} \\d\\n`).test(this.#out)) this.#endBlock()
  }

  close(): void {
    this.#process.kill('SIGKILL')
  }
}

/** Runs the page's blocks; returns what each printed. */
async function runPage(page: string): Promise<string[]> {
  const sessions = new Map<string, Session>()
  const outputs: string[] = []
  try {
    for (const block of blocksOf(page)) {
      const session = sessions.get(block.language) ?? new Session(block.language)
      sessions.set(block.language, session)
      const where = `${page}:${block.line}`
      const output = await session.run(here(block.code)).catch((error: unknown) => {
        throw new Error(`${where} failed`, { cause: error })
      })
      if (block.language === 'bash')
        expect([where, output]).toEqual([where, expect.not.stringMatching(/"status":(4|5)\d\d/)])
      if (block.output !== undefined)
        expect([where, trimLines(output)]).toEqual([where, expect.stringMatching(patternOf(block.output))])
      if (outputs.push(output) === 1 && BETWEEN[page] !== undefined) await session.run(BETWEEN[page])
    }
    return outputs
  } finally {
    for (const session of sessions.values()) session.close()
  }
}

const getProgress = async (run: string) => {
  const response = await fetch(new URL(`/runs/${run}`, url))
  return ((await response.json()) as { progress: unknown }).progress
}

/** What a page must have brought about, beyond running. */
const CHECKS: Record<string, (output: string) => Promise<void> | void> = {
  'tutorial.md': (output) => {
    const [before, after] = [...output.matchAll(/mean score (\d\.\d\d)/g)].map(([, score]) => Number(score))
    expect(before).toBeLessThan(0.1)
    expect(after).toBeGreaterThan(0.8) // it learned, from the rewards alone
    const difficulties = [...output.matchAll(/difficulty (\d\.\d\d)/g)].map(([, level]) => Number(level))
    expect(Math.max(...difficulties)).toBeGreaterThan(0.5)
  },
  'training-loop.md': async () => {
    expect(await getProgress('by-steps')).toMatchObject({
      scored_groups: 24,
      queued_groups: 0,
      buffered_groups: 0,
      stale_groups: 0,
    })
  },
}

/** Python that runs after the first block of a page. */
const BETWEEN: Record<string, string> = {
  'training-loop.md': `
printed = train

def train(batch):
    versions = {group["policy_version"] for group in batch["groups"]}
    assert batch["run"] != "by-steps" or versions == {batch["step"]}, f"step {batch['step']} trains on policies {versions}"
    printed(batch)
`,
}

/** custom-tasks.md needs a server of its own: custom-tasks-guide.test.ts. */
const PAGES = readdirSync(GUIDES).filter((page) => page !== 'custom-tasks.md' && blocksOf(page).length > 0)

it.each(PAGES)('%s', { timeout: 600_000 }, async (page) => {
  const outputs = await runPage(page)
  await CHECKS[page]?.(outputs.join(''))
})

it('checks pages that are there', () => {
  expect(PAGES).toEqual(expect.arrayContaining(Object.keys(CHECKS)))
})
