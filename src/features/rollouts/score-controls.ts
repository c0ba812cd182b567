/**
 * Controls of the reward, on a sample of the answers of scored groups. The hack gap compares upstream scoring with hardened
 * scoring. The permuted score is that of the answer on another recent item of the same task and config: what scores there
 * does so without reading the question. Controls run after their group is completed and their results are kept with the next
 * group of the task, so that they neither delay a group nor change it; what fails is left out.
 */
import { LRUCache } from 'lru-cache'
import type { Recipe } from '../../contract/recipe.ts'
import type { GroupVerdict } from '../../contract/verdict.ts'
import type { Grader, GradingRules } from '../../grading/grader.ts'
import type { ControlSums } from '../runs/group-outcome.ts'
import { hashText } from './answer-counts.ts'
import { ControlBudget } from './control-budget.ts'

/** Tasks of runs whose items are remembered, and items of each. */
const MAX_FAMILIES = 4000
const ITEMS_PER_FAMILY = 4
/** Rollouts of one group that are checked if time is left. */
const MAX_ANSWERS_PER_GROUP = 4
/** Longer answers are scored on threads, which controls leave to the groups. */
const MAX_ANSWER_CHARS = 1024
/** Where the library takes longer for the answers of a group, an answer on another item may take until the deadline. */
const MAX_LIBRARY_MS_PER_GROUP = 250

export interface ControlResults {
  hackGap: ControlSums
  permuted: ControlSums
}

/** A graded group whose answers may be checked. */
export interface ControlInput {
  run: string
  epoch: number
  group: string
  recipe: Recipe
  /** Hash of the item's question. */
  question: number
  rules: Pick<GradingRules, 'scoring' | 'dual_format'>
  verdicts: readonly GroupVerdict[]
  /** What grading the group took. */
  gradingMs: number
}

interface KnownItem {
  recipe: Recipe
  question: number
}

interface ScoreControlsDeps {
  grader: Pick<Grader, 'scoreAnswer' | 'isNative'>
  /** Time that this process has worked, ms. */
  measureBusyMs?: () => number
}

export class ScoreControls {
  readonly #grader: ScoreControlsDeps['grader']
  readonly #items = new LRUCache<string, KnownItem[]>({ max: MAX_FAMILIES })
  readonly #results = new LRUCache<string, ControlResults>({ max: MAX_FAMILIES })
  readonly #nativeBudget: ControlBudget
  readonly #libraryBudget = new ControlBudget(() => this.#libraryMs)
  #libraryMs = 0
  #isLibraryBusy = false

  constructor({ grader, measureBusyMs = () => performance.eventLoopUtilization().active }: ScoreControlsDeps) {
    this.#grader = grader
    this.#nativeBudget = new ControlBudget(measureBusyMs)
  }

  /** The results for a task of a run since they were last taken. */
  take(run: string, epoch: number, task: string): ControlResults {
    const key = `${run}/${epoch}/${task}`
    const results = this.#results.get(key) ?? createResults()
    this.#results.delete(key)
    return results
  }

  /** Resolves when the group is checked, as far as there is time; never rejects. */
  async check(input: ControlInput): Promise<void> {
    await this.#check(input).catch(() => {}) // the item or the engine is gone: no sample
  }

  async #check(input: ControlInput): Promise<void> {
    const isNative = this.#grader.isNative(input.recipe.task)
    const budget = isNative ? this.#nativeBudget : this.#libraryBudget
    const other = this.#exchangeItem(input)
    if (!isNative) {
      this.#libraryMs += input.gradingMs
      if (this.#isLibraryBusy || input.gradingMs > MAX_LIBRARY_MS_PER_GROUP) return
      this.#isLibraryBusy = true
    }
    try {
      for (const verdict of sampleAnswers(input)) {
        if (!budget.hasLeft()) return
        const startedAt = performance.now()
        await this.#checkAnswer(input, verdict, other).finally(() => budget.spend(performance.now() - startedAt))
      }
    } finally {
      if (!isNative) this.#isLibraryBusy = false
    }
  }

  async #checkAnswer(input: ControlInput, { answer, score }: AnsweredVerdict, other: KnownItem | undefined) {
    const { run, epoch, recipe, rules } = input
    const isHardened = rules.scoring === 'hardened'
    const otherRules = { ...rules, scoring: isHardened ? 'upstream' : 'hardened' } as const
    const otherScore = await this.#grader.scoreAnswer(recipe, answer, otherRules)
    const permutedScore = other ? await this.#grader.scoreAnswer(other.recipe, answer, rules) : null
    const key = `${run}/${epoch}/${recipe.task}`
    const results = this.#results.get(key) ?? createResults()
    if (otherScore !== null) add(results.hackGap, isHardened ? otherScore - score : score - otherScore)
    if (permutedScore !== null) add(results.permuted, permutedScore)
    this.#results.set(key, results)
  }

  /** Remembers the item, and returns another one of its family with another question. */
  #exchangeItem({ run, epoch, recipe, question }: ControlInput): KnownItem | undefined {
    const family = `${run}/${epoch}/${recipe.task} ${JSON.stringify(recipe.config)}`
    const items = this.#items.get(family) ?? []
    const others = items.filter((item) => item.question !== question)
    if (others.length === items.length)
      this.#items.set(family, [...items.slice(1 - ITEMS_PER_FAMILY), { recipe, question }])
    return others[0]
  }
}

interface AnsweredVerdict {
  answer: string
  score: number
}

/** Rollouts with an answer, chosen by the ID of the group: a repeated run checks the same ones. */
function sampleAnswers({ group, verdicts }: ControlInput): AnsweredVerdict[] {
  const answered = verdicts.flatMap((verdict): AnsweredVerdict[] => {
    if (verdict.status !== 'scored' || verdict.answer === null || verdict.answer.length > MAX_ANSWER_CHARS) return []
    return [{ answer: verdict.answer, score: verdict.score }]
  })
  const start = answered.length === 0 ? 0 : hashText(group) % answered.length
  return [...answered.slice(start), ...answered.slice(0, start)].slice(0, MAX_ANSWERS_PER_GROUP)
}

function createResults(): ControlResults {
  return { hackGap: { count: 0, sum: 0 }, permuted: { count: 0, sum: 0 } }
}

function add(sums: ControlSums, value: number): void {
  sums.count++
  sums.sum += value
}
