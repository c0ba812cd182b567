/**
 * Chooses the items of a frontier eval. Each round of a task gets the items that are most informative, given the
 * answers so far.
 */
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { Ladders } from '../../tasks/ladders.ts'
import type { TaskCards } from '../../tasks/task-cards.ts'
import type { JobOfKind } from '../generation-job-record.ts'
import type { FrontierPlan } from '../generation-job-spec.ts'
import { SampleVerdict } from '../sample-output.ts'
import type { SampleRepository } from '../sample-repository.ts'
import { chooseRound, computePosterior, type FrontierAnswer } from '../statistics/frontier-posterior.ts'
import type { Suites } from '../suites.ts'
import { listTaskSamples, locateSample } from './frontier-layout.ts'

type FrontierJob = JobOfKind<'eval'> & { spec: { frontier: FrontierPlan } }

export function isFrontierJob(job: JobOfKind<'eval' | 'duel'>): job is FrontierJob {
  return job.spec.kind === 'eval' && job.spec.frontier !== undefined
}

interface FrontierItemsDeps {
  samples: SampleRepository
  ladders: Ladders
  cards: TaskCards
  suites: Suites
}

export class FrontierItems {
  readonly #deps: FrontierItemsDeps

  constructor(deps: FrontierItemsDeps) {
    this.#deps = deps
  }

  /**
   * Returns the item of a sample, which never changes. Returns undefined while earlier rounds of its task have samples
   * without a verdict.
   */
  async choose(job: FrontierJob, sample: number): Promise<string | undefined> {
    const { samples, suites } = this.#deps
    const chosen = await samples.getChosenItem(job.id, sample)
    if (chosen !== undefined) return chosen
    const { frontier: plan, grading_rules } = job.spec
    const { task, index, round } = locateSample(plan, sample)
    const answers = await this.#listAnswers(job, task, round.start)
    if (!answers) return undefined
    const rungs = this.#deps.ladders.rungs(task).map(({ difficulty }) => ({
      difficulty,
      floor: this.#deps.cards.guessFloor(task, difficulty, grading_rules.scoring),
    }))
    const rung = chooseRound(computePosterior(answers), rungs, round.end - round.start)[index - round.start]
    const item = await suites.buildItem({ task, seed: plan.seed, index, difficulty: rung?.difficulty ?? 0 })
    return samples.chooseItem(job.id, sample, item)
  }

  /** Returns the scored answers to the task's items before `end`, or undefined if one has no verdict yet. */
  async #listAnswers({ id, spec }: FrontierJob, task: string, end: number): Promise<FrontierAnswer[] | undefined> {
    const numbers = listTaskSamples(spec.frontier, task, 0, end)
    const [items, verdicts] = await Promise.all([
      this.#deps.samples.listChosenItems(id, numbers),
      this.#deps.samples.listVerdictsOf(SampleVerdict, id, numbers),
    ])
    if (verdicts.includes(null)) return undefined
    return numbers.flatMap((_, k) => {
      const [item, score] = [items[k], verdicts[k]?.score ?? null]
      return item == null || score === null ? [] : [this.#toAnswer(item, score, spec.grading_rules.scoring)]
    })
  }

  #toAnswer(item: string, score: number, scoring: 'upstream' | 'hardened'): FrontierAnswer {
    const { task, difficulty } = decodeItemId(item)
    return {
      score,
      rung: { difficulty: difficulty ?? 0, floor: this.#deps.cards.guessFloor(task, difficulty, scoring) },
    }
  }
}
