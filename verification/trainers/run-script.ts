/** Runs the script of one family in its environment and reads the checks that it prints. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { buildChildEnvironment } from '../../src/platform/installation.ts'
import type { Environment } from './environments.ts'
import type { Family } from './versions.ts'

const MAX_OUTPUT_CHARS = 6000
const SUPPORT = join(import.meta.dirname, 'support')
const PYTHON_CLIENT = join(import.meta.dirname, '..', '..', 'clients', 'python')

/** One line of a script. */
const Check = z.looseObject({ check: z.string(), ok: z.boolean(), detail: z.string() })
type Check = z.infer<typeof Check>

export interface FamilyReport {
  checks: Check[]
  /** Why the script as a whole counts as failed. */
  failure?: string | undefined
  /** The end of what it printed beside its checks. */
  output: string
}

/** `env`: where the testbed is. Prints each check. */
export async function runScript(
  family: Family,
  { python, sources }: Environment,
  env: Record<string, string>,
): Promise<FamilyReport> {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-trainer-'))
  // -P: a script has the name of its trainer, and its folder on the path would hide the trainer's own package.
  const child = spawn(python, ['-P', family.script], {
    cwd: folder,
    env: buildChildEnvironment({
      ...env,
      RGS_FAMILY: family.name,
      RGS_FOLDER: folder,
      RGS_SOURCES: JSON.stringify(sources),
      PYTHONPATH: [SUPPORT, PYTHON_CLIENT].join(delimiter),
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONUNBUFFERED: '1',
      HF_HUB_OFFLINE: '1',
      WANDB_MODE: 'disabled',
      ...family.env,
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a group of its own, so that what it has started ends with it
  })
  const endGroup = () => killGroup(child.pid)
  process.once('exit', endGroup)
  const timer = setTimeout(endGroup, family.timeout_s * 1000)
  const checks: Check[] = []
  let output = ''
  const keep = (text: string) => {
    output = (output + text).slice(-MAX_OUTPUT_CHARS)
  }
  child.stderr.setEncoding('utf8').on('data', keep)
  createInterface(child.stdout).on('line', (line) => {
    const check = line.startsWith('{"check"') ? Check.parse(JSON.parse(line)) : undefined
    if (check) {
      checks.push(check)
      console.log(`  ${check.ok ? 'ok  ' : 'FAIL'} ${[check.check, check.detail].filter(Boolean).join(': ')}`)
    } else keep(`${line}\n`)
  })
  await once(child, 'close')
  clearTimeout(timer)
  process.off('exit', endGroup)
  endGroup()
  rmSync(folder, { recursive: true, force: true })
  const ended = child.exitCode ?? `a signal, after ${family.timeout_s} s at most`
  let failure = checks.length === 0 ? 'the script checked nothing' : undefined
  if (ended !== 0) failure = `the script ended with ${ended}`
  return { checks, failure, output }
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {} // all have ended
}
