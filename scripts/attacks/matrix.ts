/** Every task × every attack, through POST /score and POST /rollouts: what is wrong with the verdicts, and what they took. */
import { NATIVE_TASKS } from '../../src/scorers/catalogue.ts'
import type { Exploit } from './strings.ts'

/** What an answer may cost its own verdict, where the library itself works on it. */
const PYTHON_WORKER_ERROR_CODES = new Set(['scorer_timeout', 'scorer_out_of_memory', 'scorer_crashed'])
const MODEL_ERRORS = new Set([null, 'invalid_answer', 'answer_too_long'])
const WAIT_S = 60

interface ScoreVerdict {
  status: string
  reward: number | null
  score: number | null
  fault?: string | null
  code?: string
}

export interface ExploitReport {
  verdicts: number
  /** What is not as it must be. */
  wrong: string[]
  unscored: string[]
  /** The longest that one attack has waited for its verdict. */
  slowestVerdict: { ms: number; what: string }
}

export class ExploitMatrix {
  readonly report: ExploitReport = { verdicts: 0, wrong: [], unscored: [], slowestVerdict: { ms: 0, what: '' } }
  readonly #url: string
  readonly #exploits: Exploit[]

  constructor(url: string, list: Exploit[]) {
    this.#url = url
    this.#exploits = list
  }

  /** Each attack in a request of its own, `atOnce` of them in flight. */
  async scoreExploits(task: string, atOnce: number): Promise<ScoreVerdict[]> {
    const verdicts: ScoreVerdict[] = []
    const queue = this.#exploits.entries()
    const work = async () => {
      for (const [k, attack] of queue) {
        const started = performance.now()
        const body = { rollouts: [{ recipe: { task, seed: 7 }, answer: attack.text }] }
        const answer = await this.#post('/score', body)
        const took = performance.now() - started
        const what = `${task}: ${attack.name}`
        if (took > this.report.slowestVerdict.ms) this.report.slowestVerdict = { ms: took, what }
        verdicts[k] = this.#recordVerdict(what, answer.body?.verdicts?.[0], answer.status)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    return verdicts
  }

  /** All attacks as the rollouts of one group; their verdicts must be those of /score. */
  async submitAsGroup(task: string, scored: ScoreVerdict[], run: string): Promise<void> {
    const { body } = await this.#post('/items', { task, seed: 7 })
    const rollouts = this.#exploits.map(({ text }) => ({ completion: `<answer>${text}</answer>` }))
    const half = Math.ceil(rollouts.length / 2) // a body holds a megabyte
    for (const [part, from] of [rollouts.slice(0, half), rollouts.slice(half)].map((p, k) => [p, k * half] as const)) {
      const group = { run, item_id: body.items?.[0]?.id, group_id: `${task}-${from}`, rollouts: part }
      const answer = await this.#post('/rollouts', group, { prefer: `wait=${WAIT_S}` })
      if (answer.status !== 200)
        this.report.wrong.push(`${task} as a group: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`)
      for (const [k, verdict] of ((answer.body?.verdicts ?? []) as ScoreVerdict[]).entries()) {
        const what = `${task}, in a group: ${this.#exploits[from + k]?.name}`
        this.#recordVerdict(what, verdict, 200)
        const before = scored[from + k]
        const sure = verdict.status === 'scored' && before?.status === 'scored'
        if (sure && this.#isSameAsCompletion(from + k) && verdict.score !== before.score)
          this.report.wrong.push(`${what}: ${verdict.score} where /score gives ${before.score}`)
      }
    }
  }

  /** A completion is stripped and tags in it count: such attacks are another answer there. */
  #isSameAsCompletion(k: number): boolean {
    const text = this.#exploits[k]?.text ?? ''
    return text === text.trim() && !text.includes('<')
  }

  #recordVerdict(what: string, verdict: ScoreVerdict | undefined, status: number): ScoreVerdict {
    this.report.verdicts++
    if (!verdict) {
      this.report.wrong.push(`${what}: no verdict, status ${status}`)
      return { status: 'none', reward: null, score: null }
    }
    const native = NATIVE_TASKS.has(what.split(/[:,]/)[0] ?? '')
    if (verdict.status === 'unscored') {
      this.report.unscored.push(`${what}: ${verdict.code}`)
      if (native || !PYTHON_WORKER_ERROR_CODES.has(verdict.code ?? ''))
        this.report.wrong.push(`${what}: unscored, ${verdict.code}`)
    } else if (!MODEL_ERRORS.has(verdict.fault ?? null)) {
      if (!what.includes('in a group')) this.report.wrong.push(`${what}: the fault ${verdict.fault}`)
    } else if (verdict.fault && verdict.reward !== 0) {
      this.report.wrong.push(`${what}: ${verdict.fault} and a reward of ${verdict.reward}`)
    }
    return verdict
  }

  // biome-ignore lint/suspicious/noExplicitAny: the answers of many routes; what is not there is found out above
  async #post(path: string, body: unknown, headers = {}): Promise<{ status: number; body: any }> {
    const response = await fetch(this.#url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: await response.json() }
  }
}
