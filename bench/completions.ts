/** Completions with their right scores, made by the library, and the asks that send them to each of the servers. */
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { BASELINES_DIR, PYTHON_ENV } from './environment.ts'
import type { LoadRequest } from './load/requests.ts'
import { writeLoadRequests } from './load/run.ts'
import { BENCH_ARTIFACTS_DIR } from './machine.ts'

export interface ItemCompletions {
  task: string
  seed: number
  index: number
  config: Record<string, unknown>
  completions: string[]
  scores: number[]
}

/** Of one task, or of a mix of a hundred. */
export async function makeCompletions(
  python: string,
  which: string,
  items: number,
): Promise<{ path: string; all: ItemCompletions[] }> {
  const args = [join(BASELINES_DIR, 'texts.py'), which, String(items)]
  const { stdout } = await promisify(execFile)(python, args, { env: PYTHON_ENV, maxBuffer: 2 ** 30 })
  mkdirSync(BENCH_ARTIFACTS_DIR, { recursive: true })
  const path = join(BENCH_ARTIFACTS_DIR, `texts-${which}.jsonl`)
  writeFileSync(path, stdout)
  const lines = stdout.split('\n').filter(Boolean)
  return { path, all: lines.map((line) => JSON.parse(line) as ItemCompletions) } // as texts.py prints them
}

/** The library's reading: the last tag, and nothing but what stands in it. */
const EXTRACTION_SETTINGS = { extraction: 'last_tag', dual_format: false }

export function writeOurRequests(name: string, all: ItemCompletions[]): string {
  return writeLoadRequests(
    `${name}-ours`,
    all.map((texts) => buildScoreRequest(texts)),
  )
}

function buildScoreRequest({ task, seed, index, config, completions, scores }: ItemCompletions): LoadRequest {
  const recipe = { task, seed, index, ...(Object.keys(config).length > 0 && { config }) }
  const rollouts = completions.map((completion) => ({ recipe, completion }))
  const body = JSON.stringify({ rollouts, ...EXTRACTION_SETTINGS })
  return { path: '/score', body, units: completions.length, expect: scores, field: 'rewards' }
}

export function writeWrapperRequests(name: string, all: ItemCompletions[]): string {
  const asks = all.map(({ task, seed, index, completions, scores }): LoadRequest => {
    const body = JSON.stringify({ task, seed, index, completions })
    return { path: '/score', body, units: completions.length, expect: scores, field: 'scores' }
  })
  return writeLoadRequests(`${name}-wrapper`, asks)
}

/** The same completions, each by itself. */
export function writePerRequestRequests(name: string, all: ItemCompletions[]): string {
  const asks = all.flatMap(({ task, seed, index, completions, scores }) =>
    completions.map((completion, k): LoadRequest => {
      const body = JSON.stringify({ task, seed, index, completion })
      return { path: '/score', body, expect: [scores[k] ?? 0], field: 'scores' }
    }),
  )
  return writeLoadRequests(`${name}-per-request`, asks)
}
