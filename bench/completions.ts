/** Completions and token arrays as trainers send them, and the requests with them. */
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { BASELINES_DIR, PYTHON_ENV } from './environment.ts'
import type { LoadRequest } from './load/requests.ts'
import { writeLines, writeLoadRequests } from './load/run.ts'
import { BENCH_ARTIFACTS_DIR } from './machine.ts'

export interface ItemCompletions {
  task: string
  seed: number
  index: number
  config: Record<string, unknown>
  completions: string[]
  scores: number[]
}

const SEED = 11
/** Requests for which a process of its own is worth its start. */
const REQUESTS_PER_PROCESS = 1000

/** Of one task, or of a mix of a hundred: requests with completions that do not come twice, or such as the load repeats. */
export async function makeCompletions(
  python: string,
  which: string,
  requests: number,
  answers: 'new' | 'repeated' = 'new',
): Promise<{ path: string; all: ItemCompletions[] }> {
  const parts = answers === 'new' && requests > REQUESTS_PER_PROCESS ? 2 : 1
  const script = join(BASELINES_DIR, 'texts.py')
  const made = Array.from({ length: parts }, async (_, k) => {
    const args = [script, which, String(Math.ceil(requests / parts)), answers, String(SEED + k)]
    return (await promisify(execFile)(python, args, { env: PYTHON_ENV, maxBuffer: 2 ** 30 })).stdout
  })
  const lines = (await Promise.all(made)).flatMap((stdout) => stdout.split('\n').filter(Boolean))
  const path = join(BENCH_ARTIFACTS_DIR, `texts-${which}-${answers}.jsonl`)
  mkdirSync(BENCH_ARTIFACTS_DIR, { recursive: true })
  const all = lines.map((line) => JSON.parse(line) as ItemCompletions) // as texts.py prints them
  writeLines(path, all)
  return { path, all }
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
  const expected = scores.length > 0 ? { expect: scores, field: 'rewards' } : {}
  return { path: '/score', body, units: completions.length, ...expected }
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

const VOCABULARY_SIZE = 151_000
const PROMPT_TOKENS = 256

export interface TokenArrays {
  tokens: number[]
  masks: number[]
  logprobs: number[]
}

/** Log-probabilities are as `float32` prints them. */
export function generateTokenArrays(rollouts: number, tokensPerRollout: number): TokenArrays[] {
  return Array.from({ length: rollouts }, () => {
    const tokens = Array.from({ length: tokensPerRollout }, () => Math.floor(Math.random() * VOCABULARY_SIZE))
    return {
      tokens,
      masks: tokens.map((token, k) => (k < PROMPT_TOKENS ? -100 : token)),
      logprobs: tokens.map((_, k) => (k < PROMPT_TOKENS ? 1 : Math.fround(Math.log(1 - Math.random()) / 3))),
    }
  })
}

/** The same as base64 of `int32` and `float32`. */
export function encodeTypedArrays({ tokens, masks, logprobs }: TokenArrays) {
  const typed = (dtype: string, { buffer }: Int32Array | Float32Array) => ({
    dtype,
    data: Buffer.from(buffer).toString('base64'),
  })
  return {
    tokens: typed('int32', Int32Array.from(tokens)),
    masks: typed('int32', Int32Array.from(masks)),
    logprobs: typed('float32', Float32Array.from(logprobs)),
  }
}
