/** Runs the script of one family in its environment and reads the checks that it prints. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { buildChildEnvironment } from '../../src/platform/installation.ts'
import type { Environment } from './environments.ts'
import type { Fixture } from './fixture.ts'
import type { Testbed } from './testbed.ts'
import type { Family } from './versions.ts'

const MAX_OUTPUT_CHARS = 6000
const SUPPORT = join(import.meta.dirname, 'support')
const PYTHON_CLIENT = join(import.meta.dirname, '..', '..', 'clients', 'python')

/** One line of a script. */
const Check = z.looseObject({ check: z.string(), ok: z.boolean(), detail: z.string().default('') })
export type Check = z.infer<typeof Check>

export interface FamilyReport {
  checks: Check[]
  /** Why the script as a whole counts as failed. */
  failure: string | undefined
  /** The end of what it printed beside its checks. */
  output: string
  seconds: number
}

interface ScriptParams {
  family: Family
  environment: Environment
  testbed: Testbed
  fixture: Fixture
  /** Where the fixture is written, and what the script may write to. */
  folder: string
  onCheck: (check: Check) => void
}

export async function runScript(params: ScriptParams): Promise<FamilyReport> {
  const { family, environment, onCheck } = params
  const startedAt = Date.now()
  // -P: a script has the name of its trainer, and its folder on the path would hide the trainer's own package.
  const child = spawn(environment.python, ['-P', family.script], {
    cwd: params.folder,
    env: buildChildEnvironment(buildEnvironment(params)),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a group of its own, so that what it has started ends with it
  })
  const endGroup = () => killGroup(child.pid)
  process.once('exit', endGroup)
  let isTimedOut = false
  const timer = setTimeout(() => {
    isTimedOut = true
    endGroup()
  }, family.timeout_s * 1000)
  const checks: Check[] = []
  let output = ''
  const keep = (text: string) => {
    output = (output + text).slice(-MAX_OUTPUT_CHARS)
  }
  child.stderr.setEncoding('utf8').on('data', keep)
  createInterface(child.stdout).on('line', (line) => {
    const check = parseCheck(line)
    if (check) {
      checks.push(check)
      onCheck(check)
    } else keep(`${line}\n`)
  })
  await once(child, 'close')
  clearTimeout(timer)
  process.off('exit', endGroup)
  endGroup()
  const { exitCode } = child
  let failure = checks.length === 0 ? 'the script checked nothing' : undefined
  if (exitCode !== 0) failure = `the script ended with ${exitCode ?? 'a signal'}`
  if (isTimedOut) failure = `not done within ${family.timeout_s} s`
  return { checks, failure, output, seconds: Math.round((Date.now() - startedAt) / 1000) }
}

function buildEnvironment({ family, environment, testbed, fixture, folder }: ScriptParams): Record<string, string> {
  const fixtureFile = join(folder, 'fixture.json')
  writeFileSync(fixtureFile, JSON.stringify(fixture))
  return {
    RGS_FAMILY: family.name,
    RGS_URL: testbed.urlWithKey,
    RGS_PLAIN_URL: testbed.url,
    RGS_ORS_URL: testbed.orsUrl,
    RGS_API_KEY: testbed.apiKey,
    RGS_ADMIN_KEY: testbed.adminKey,
    RGS_CONTROL: testbed.controlUrl,
    RGS_FIXTURE: fixtureFile,
    RGS_RUN: fixture.run,
    RGS_FOLDER: folder,
    RGS_SOURCES: JSON.stringify(environment.sources),
    PYTHONPATH: [SUPPORT, PYTHON_CLIENT].join(delimiter),
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONUNBUFFERED: '1',
    HF_HUB_OFFLINE: '1',
    WANDB_MODE: 'disabled',
    ...family.env,
  }
}

function parseCheck(line: string): Check | undefined {
  if (!line.startsWith('{"check"')) return undefined
  try {
    return Check.parse(JSON.parse(line))
  } catch {
    return undefined
  }
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {} // all have ended
}
