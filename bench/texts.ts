/** Completions with their right scores, made by the library, and the asks that send them to each of the servers. */
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { BASELINES, PYTHON_ENVIRONMENT } from './environment.ts'
import type { Ask } from './load/asks.ts'
import { writeAsks } from './load/run.ts'
import { ARTIFACTS } from './machine.ts'

export interface Texts {
  task: string
  seed: number
  index: number
  config: Record<string, unknown>
  completions: string[]
  scores: number[]
}

/** Of one task, or of a mix of a hundred. */
export async function makeTexts(python: string, which: string, items: number): Promise<{ path: string; all: Texts[] }> {
  const args = [join(BASELINES, 'texts.py'), which, String(items)]
  const { stdout } = await promisify(execFile)(python, args, { env: PYTHON_ENVIRONMENT, maxBuffer: 2 ** 30 })
  mkdirSync(ARTIFACTS, { recursive: true })
  const path = join(ARTIFACTS, `texts-${which}.jsonl`)
  writeFileSync(path, stdout)
  const lines = stdout.split('\n').filter(Boolean)
  return { path, all: lines.map((line) => JSON.parse(line) as Texts) } // as texts.py prints them
}

/** The library's reading: the last tag, and nothing but what stands in it. */
const READING = { extraction: 'last_tag', dual_format: false }

export function asksForUs(name: string, all: Texts[]): string {
  return writeAsks(
    `${name}-ours`,
    all.map((texts) => scoreAsk(texts)),
  )
}

function scoreAsk({ task, seed, index, config, completions, scores }: Texts): Ask {
  const recipe = { task, seed, index, ...(Object.keys(config).length > 0 && { config }) }
  const rollouts = completions.map((completion) => ({ recipe, completion }))
  const body = JSON.stringify({ rollouts, ...READING })
  return { path: '/score', body, units: completions.length, expect: scores, field: 'rewards' }
}

export function asksForWrapper(name: string, all: Texts[]): string {
  const asks = all.map(({ task, seed, index, completions, scores }): Ask => {
    const body = JSON.stringify({ task, seed, index, completions })
    return { path: '/score', body, units: completions.length, expect: scores, field: 'scores' }
  })
  return writeAsks(`${name}-wrapper`, asks)
}

/** The same completions, each by itself. */
export function asksForPerRequest(name: string, all: Texts[]): string {
  const asks = all.flatMap(({ task, seed, index, completions, scores }) =>
    completions.map((completion, k): Ask => {
      const body = JSON.stringify({ task, seed, index, completion })
      return { path: '/score', body, expect: [scores[k] ?? 0], field: 'scores' }
    }),
  )
  return writeAsks(`${name}-per-request`, asks)
}
