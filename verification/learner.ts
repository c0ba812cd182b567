/**
 * Trains a small transformer by GRPO through the server and in plain loops, from one base model, and compares what each arm reaches.
 * With `--tries`, the arms are numbers of tries and levels of feedback instead; with `--keys`, the library's keys and corrected ones.
 * `--keep FOLDER` keeps base models and curves, and uses those that are there; the seeds take the `--bases` in turn. The interpreter of `--python` must be of the
 * same version as the server's, whose library it imports.
 */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs, promisify } from 'node:util'
import {
  type CurvePoint,
  type KeysPoint,
  summarizeCurves,
  summarizeKeys,
  summarizeTries,
  type TriesPoint,
} from './learner/summary.ts'
import { withScriptServer } from './support/with-server.ts'

const execFileAsync = promisify(execFile)
const ROOT = join(import.meta.dirname, '..')
const JAX = 'jax==0.10.2'

const { values } = parseArgs({
  options: {
    tries: { type: 'boolean', default: false },
    keys: { type: 'boolean', default: false },
    size: { type: 'string', default: 'tiny' },
    seeds: { type: 'string', default: '1' },
    bases: { type: 'string', default: '1' },
    steps: { type: 'string', default: '100' },
    arms: { type: 'string' },
    'at-once': { type: 'string', default: '1' },
    python: { type: 'string' },
    keep: { type: 'string' },
    url: { type: 'string' },
  },
})

interface Experiment {
  program: string
  baseModel: string
  arms: string
  summarize: (lines: readonly string[]) => string
}
/** Each reads the points as its program prints them. */
const EXPERIMENTS: Readonly<Record<'arms' | 'tries' | 'keys', Experiment>> = {
  arms: {
    program: 'learner.py',
    baseModel: 'base',
    arms: 'clean;original;plain, staircase',
    summarize: (lines) => summarizeCurves(lines.map((line) => JSON.parse(line) as CurvePoint)),
  },
  tries: {
    program: 'tries.py',
    baseModel: 'tries',
    arms: 'one try;two tries;two tries, format;two tries, rule',
    summarize: (lines) => summarizeTries(lines.map((line) => JSON.parse(line) as TriesPoint)),
  },
  keys: {
    program: 'keys.py',
    baseModel: 'keys',
    arms: 'upstream keys;corrected keys',
    summarize: (lines) => summarizeKeys(lines.map((line) => JSON.parse(line) as KeysPoint)),
  },
}

const experiment = EXPERIMENTS[values.keys ? 'keys' : values.tries ? 'tries' : 'arms']
const program = join(import.meta.dirname, 'learner', experiment.program)
const folder = values.keep ?? mkdtempSync(join(tmpdir(), 'rgs-learner-'))
mkdirSync(folder, { recursive: true })
const library = await findLibrary()
const python = values.python ?? (await prepareJax())
const env = {
  ...process.env,
  NODE: process.execPath,
  PYTHONPATH: library,
  XLA_PYTHON_CLIENT_PREALLOCATE: 'false',
  JAX_COMPILATION_CACHE_DIR: join(folder, 'compiled'), // all runs compile the same programs
  JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS: '0',
  PYTHONWARNINGS: 'ignore',
}
const run = async (...args: string[]): Promise<string> => {
  const child = spawn(python, [program, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  const output = await text(child.stdout)
  const [code] = await ended
  if (code !== 0) throw new Error(`${program} ${args[0]} ended with ${code}`)
  return output
}

try {
  await withScriptServer(values.url, async (url) => {
    const bases = new Map<string, Promise<unknown>>()
    const trainBase = async (base: string): Promise<unknown> => {
      if (existsSync(join(folder, `${experiment.baseModel}-${base}.npz`))) return
      console.log(`Training base model ${base} …`)
      return run('base', folder, values.size, url, base)
    }
    const arms = (values.arms ?? experiment.arms).split(';')
    const jobs = Array.from({ length: Number(values.seeds) }, (_, k) =>
      arms.map((arm) => ({ arm, seed: k + 1 })),
    ).flat()
    const curves = join(folder, 'curves.jsonl')
    const lines = existsSync(curves) ? readFileSync(curves, 'utf8').split('\n').filter(Boolean) : []
    const done = new Set(lines.map((line) => JSON.parse(line) as { arm: string; seed: number }).map(nameRun))
    const workNext = async (): Promise<void> => {
      for (let job = jobs.shift(); job; job = jobs.shift()) {
        if (done.has(nameRun(job))) continue
        const base = String(((job.seed - 1) % Number(values.bases)) + 1)
        if (!bases.has(base)) bases.set(base, trainBase(base))
        await bases.get(base)
        const printed = await run('train', folder, values.size, url, values.steps, String(job.seed), base, job.arm)
        lines.push(...printed.split('\n').filter((line) => line.startsWith('{')))
        writeFileSync(curves, lines.map((line) => `${line}\n`).join(''))
        console.log(lines.at(-1))
      }
    }
    await Promise.all(Array.from({ length: Number(values['at-once']) }, workNext))
    console.log(`\n${experiment.summarize(lines)}`)
  })
} finally {
  if (values.keep === undefined) rmSync(folder, { recursive: true, force: true })
}

function nameRun({ arm, seed }: { arm: string; seed: number }): string {
  return `${arm} ${seed}`
}

/** Where the packages of the engine are, for a program of the same Python. */
async function findLibrary(): Promise<string> {
  const places = 'import sysconfig; print(sysconfig.get_paths()["purelib"])'
  return (await execFileAsync(join(ROOT, '.venv', 'bin', 'python'), ['-c', places])).stdout.trim()
}

/** An environment with JAX, made once. */
async function prepareJax(): Promise<string> {
  const venv = join(ROOT, '.venv-trainers', 'learner')
  const stamp = join(venv, 'installed')
  const interpreter = join(venv, 'bin', 'python')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === JAX) return interpreter
  console.log(`Installing ${JAX} in ${venv} …`)
  await execFileAsync(join(ROOT, '.venv', 'bin', 'python'), ['-m', 'venv', '--clear', venv])
  await execFileAsync(interpreter, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', JAX])
  writeFileSync(stamp, JAX)
  return interpreter
}
