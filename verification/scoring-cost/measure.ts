/** What a native rule and the feedback of its task take for their dearest answers, on an easy and on a hard item. */

import { bindExplainer } from '@reasoning-gym-server/scorers/feedback/explainers'
import { createHardenedRule } from '@reasoning-gym-server/scorers/hardened/hardened-scorers'
import { NATIVE_SCORERS, PARTIAL_SCORERS } from '@reasoning-gym-server/scorers/native-scorers'
import { InvalidAnswerError } from '@reasoning-gym-server/scorers/scorer'
import { type Engine, type GeneratedItem, getConfigDefaults } from '../../src/engine/engine.ts'
import type { Ladders } from '../../src/features/tasks/ladders.ts'
import { buildExpensiveAnswers } from './expensive-answers.ts'

export interface ScoringCost {
  task: string
  mode: 'upstream' | 'hardened' | 'feedback'
  answer: string
  ms: number
}

/** A part of what there is to measure. */
interface CostSample {
  /** Of the items; null: the task's defaults. */
  difficulties?: readonly (number | null)[]
  /** One answer in so many, beginning with this one. */
  oneIn?: number
  from?: number
}

/** The dearest answer of each mode, dearest first; the best of `times` runs, so that others on the machine do not count. */
export async function measureTaskCost(
  engine: Engine,
  ladders: Ladders,
  task: string,
  size: number,
  times: number,
  { difficulties = [null, 1], oneIn = 1, from = 0 }: CostSample = {},
): Promise<ScoringCost[]> {
  const worst = new Map<string, ScoringCost>()
  for (const difficulty of difficulties) {
    const config = await engine.canonicalizeConfig(task, difficulty === null ? {} : ladders.configAt(task, difficulty))
    const [outcome] = await engine.generateItems(task, config, [[4711, 0]])
    const read = NATIVE_SCORERS[task] ?? PARTIAL_SCORERS[task]
    if (outcome?.kind !== 'value' || !read) continue
    const { entry, question } = outcome.value as GeneratedItem // as the host makes it
    const full = { ...getConfigDefaults((await engine.tasks())[task]), ...config }
    const rule = read(entry)
    const upstream = (text: string) => rule(text, full) ?? 0 // what the library would score
    const explain = bindExplainer(task, question)
    const rules = {
      upstream,
      hardened: createHardenedRule(task, { entry, config: full, upstream }),
      feedback: explain ?? (() => {}),
    }
    const answers = buildExpensiveAnswers(size, entry.answer ?? '')
    for (const { name, text } of answers.filter((_, k) => k % oneIn === from)) {
      for (const mode of ['upstream', 'hardened', 'feedback'] as const) {
        const ms = measureCostMs(times, () => rules[mode](text))
        if (ms > (worst.get(mode)?.ms ?? -1)) worst.set(mode, { task, mode, answer: name, ms })
      }
    }
  }
  return [...worst.values()]
}

/** Above this the clock of the thread's own processor time is fine enough; it does not run while others are at work. */
const CPU_CLOCK_MIN_MS = 50

function measureCostMs(times: number, score: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  const before = process.threadCpuUsage()
  const began = performance.now()
  for (let k = 0; k < times; k++) {
    const started = performance.now()
    try {
      score()
    } catch (error) {
      if (!(error instanceof InvalidAnswerError)) throw error
    }
    best = Math.min(best, performance.now() - started)
  }
  const { user, system } = process.threadCpuUsage(before)
  return performance.now() - began < CPU_CLOCK_MIN_MS ? best : Math.min(best, (user + system) / 1000 / times)
}
