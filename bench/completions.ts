/** Completions and token arrays as trainers send them, and the requests with them. */
import { execFile } from 'node:child_process'
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
  /** Null: nobody expects a score of this completion. */
  scores: (number | null)[]
  /** Of the library, where it was asked for. */
  entry?: { question: string; answer: string | null; metadata: object }
}

const SEED = 11
/** Requests for which a process of its own is worth its start. */
const REQUESTS_PER_PROCESS = 300
const TASKS_OF_A_MIX = 105
/** Of each task or mix: no two calls give the same item. */
const nextIndexes = new Map<string, number>()

/** Requests for new items of one task, or of all tasks in turn (`mix`), with completions that do not come twice. */
export async function makeCompletions(
  python: string,
  which: string,
  requests: number,
  completionsPerItem = 8,
  { withEntries = false } = {},
): Promise<ItemCompletions[]> {
  const parts = requests > REQUESTS_PER_PROCESS ? 2 : 1
  const share = Math.ceil(requests / parts)
  const itemsPerTask = which === 'mix' ? Math.ceil(share / TASKS_OF_A_MIX) : share
  const first = nextIndexes.get(which) ?? 0
  nextIndexes.set(which, first + parts * itemsPerTask)
  const script = join(BASELINES_DIR, 'texts.py')
  const made = Array.from({ length: parts }, async (_, k) => {
    const index = first + k * itemsPerTask
    const numbers = [share, completionsPerItem, index, SEED + index].map(String)
    const args = [script, which, ...numbers, ...(withEntries ? ['entries'] : [])]
    return (await promisify(execFile)(python, args, { env: PYTHON_ENV, cwd: BENCH_ARTIFACTS_DIR, maxBuffer: 2 ** 30 }))
      .stdout
  })
  const lines = (await Promise.all(made)).flatMap((stdout) => stdout.split('\n').filter(Boolean))
  return lines.slice(0, requests).map((line) => JSON.parse(line) as ItemCompletions) // as texts.py prints them
}

/** Without the three tasks that baselines/texts.py does not compare. */
export function omitUncompared(all: ItemCompletions[]): ItemCompletions[] {
  return all.filter(({ scores }) => scores.length > 0)
}

/** Requests that make the items of completions, as trainers ask for prompts before they send completions. */
export function writeItemRequests(name: string, all: ItemCompletions[]): string {
  const asks = all.map(({ task, seed, index, config }): LoadRequest => {
    const recipe = { task, seed, index, ...(Object.keys(config).length > 0 && { config }) }
    return { path: '/items', body: JSON.stringify(recipe) }
  })
  return writeLoadRequests(`${name}-items`, asks)
}

/** The library's reading: the last tag, and nothing but what stands in it. */
const EXTRACTION_SETTINGS = { extraction: 'last_tag', dual_format: false }

type Scoring = 'upstream' | 'hardened'

export function writeOurRequests(name: string, all: ItemCompletions[], scoring: Scoring = 'upstream'): string {
  const asks = all.map((one) => buildScoreRequest(one, scoring))
  return writeLoadRequests(`${name}-ours`, asks)
}

export function buildScoreRequest(
  { task, seed, index, config, completions, scores }: ItemCompletions,
  scoring: Scoring = 'upstream',
): LoadRequest {
  const recipe = { task, seed, index, ...(Object.keys(config).length > 0 && { config }) }
  const rollouts = completions.map((completion) => ({ recipe, completion }))
  const body = JSON.stringify({ rollouts, ...EXTRACTION_SETTINGS, scoring })
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
