/**
 * Controls of the reward, on a sample of the answers of scored groups. The hack gap compares upstream scoring with hardened
 * scoring. The permuted score is that of the answer on another recent item of the same task and config: what scores there
 * does so without reading the question. Controls run after their group is completed and their results are kept with the next
 * group of the task, so that they neither delay a group nor change it; what fails is left out.
 */
import { LRUCache } from 'lru-cache'
import type { Recipe } from '../../contract/recipe.ts'
import type { GroupVerdict } from '../../contract/verdict.ts'
import type { ControlRules, Grader } from '../../grading/grader.ts'
import type { ControlSums } from '../runs/group-outcome.ts'
import { hashText } from './answer-counts.ts'
import { ControlBudget } from './control-budget.ts'

/** Tasks of runs whose items are remembered, and items of each. */
const MAX_FAMILIES = 4000
const ITEMS_PER_FAMILY = 4
/** Answers of a group tell less than those of several groups. */
const ANSWERS_PER_GROUP = 2
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
  rules: ControlRules
  verdicts: readonly GroupVerdict[]
  /** What grading the group took. */
  gradingMs: number
}

interface KnownItem {
  recipe: Recipe
  question: number
}

interface ScoreControlsDeps {
  grader: Pick<Grader, 'isNative' | 'scoreCached' | 'scoreInLibrary'>
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
    try {
      const other = this.#exchangeItem(input)
      if (this.#grader.isNative(input.recipe.task)) this.#checkNative(input, other)
      else await this.#checkInLibrary(input, other)
    } catch {
      // The item or the engine is gone: no sample.
    }
  }

  #checkNative(input: ControlInput, other: KnownItem | undefined): void {
    if (!this.#nativeBudget.hasLeft()) return
    const startedAt = performance.now()
    const sample = sampleAnswers(input)
    const answers = sample.map(({ answer }) => answer)
    const otherScores = this.#grader.scoreCached(input.recipe, answers, switchMode(input.rules))
    const permutedScores = other && this.#grader.scoreCached(other.recipe, answers, input.rules)
    this.#record(input, { sample, otherScores, permutedScores })
    this.#nativeBudget.spend(performance.now() - startedAt)
  }

  async #checkInLibrary(input: ControlInput, other: KnownItem | undefined): Promise<void> {
    this.#libraryMs += input.gradingMs
    if (this.#isLibraryBusy || input.gradingMs > MAX_LIBRARY_MS_PER_GROUP || !this.#libraryBudget.hasLeft()) return
    this.#isLibraryBusy = true
    const startedAt = performance.now()
    try {
      const sample = sampleAnswers(input)
      const answers = sample.map(({ answer }) => answer)
      const otherScores = await this.#grader.scoreInLibrary(input.recipe, answers, switchMode(input.rules))
      const permutedScores = other && (await this.#grader.scoreInLibrary(other.recipe, answers, input.rules))
      this.#record(input, { sample, otherScores, permutedScores })
    } finally {
      this.#libraryBudget.spend(performance.now() - startedAt)
      this.#isLibraryBusy = false
    }
  }

  #record({ run, epoch, recipe, rules }: ControlInput, { sample, otherScores, permutedScores }: ControlScores): void {
    const key = `${run}/${epoch}/${recipe.task}`
    const { hackGap, permuted } = this.#results.get(key) ?? createResults()
    sample.forEach(({ score }, k) => {
      const [otherScore, permutedScore] = [otherScores?.[k] ?? null, permutedScores?.[k] ?? null]
      if (otherScore !== null) add(hackGap, rules.scoring === 'hardened' ? otherScore - score : score - otherScore)
      if (permutedScore !== null) add(permuted, permutedScore)
    })
    this.#results.set(key, { hackGap, permuted })
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

/** By the place of the answer in the sample: under the other scoring mode, and on another item. */
interface ControlScores {
  sample: AnsweredVerdict[]
  otherScores: (number | null)[] | undefined
  permutedScores: (number | null)[] | undefined
}

/** Rollouts with an answer, chosen by the ID of the group: a repeated run checks the same ones. */
function sampleAnswers({ group, verdicts }: ControlInput): AnsweredVerdict[] {
  const answered = verdicts.flatMap((verdict): AnsweredVerdict[] => {
    if (verdict.status !== 'scored' || verdict.answer === null || verdict.answer.length > MAX_ANSWER_CHARS) return []
    return [{ answer: verdict.answer, score: verdict.score }]
  })
  const start = answered.length === 0 ? 0 : hashText(group) % answered.length
  return [...answered.slice(start), ...answered.slice(0, start)].slice(0, ANSWERS_PER_GROUP)
}

function switchMode({ scoring, dual_format }: ControlRules): ControlRules {
  return { scoring: scoring === 'hardened' ? 'upstream' : 'hardened', dual_format }
}

function createResults(): ControlResults {
  return { hackGap: { count: 0, sum: 0 }, permuted: { count: 0, sum: 0 } }
}

function add(sums: ControlSums, value: number): void {
  sums.count++
  sums.sum += value
}
