/** The job of a rescore: grades the kept groups of a run again, oldest first, and compares the results. */
import type { Rescore } from '@reasoning-gym-server/contract/rescore'
import pMap from 'p-map'
import type { Logger } from 'pino'
import type { Grader } from '../../grading/grader.ts'
import { type GroupResult, gradeGroup } from '../../grading/group-advantages.ts'
import { type JobAttempt, REQUEUE_ON_OTHER_WORKER, type Requeue } from '../../platform/queue/job-definition.ts'
import type { Items } from '../items/items.ts'
import { hashText } from '../rollouts/group-counters.ts'
import { isEngineUnavailable, isTaskCodeConflict } from '../rollouts/group-grading.ts'
import type { GroupMetadata, GroupTexts } from '../rollouts/group-payload.ts'
import type { GroupRepository } from '../rollouts/repository.ts'
import type { FrontierCurriculum } from '../runs/curriculum/frontier-curriculum.ts'
import type { StoredFrontier } from '../runs/curriculum/frontier-store.ts'
import type { Runs } from '../runs/runs.ts'
import { mergeSettings } from '../runs/settings.ts'
import { type ResolvedRun, resolveRun } from '../runs/types.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'
import { RescoreComparison } from './comparison.ts'
import type { RescoreRepository } from './repository.ts'
import { type RescoreJobData, rescoreJob } from './rescores.ts'

const GROUPS_PER_PAGE = 50
/** Few, so that groups of trainers in the same worker hardly wait. */
const GROUPS_IN_FLIGHT = 4
/** Number of values that a hash of a group's ID has, for samples. */
const HASHES = 2 ** 32

interface ProcessRescoreDeps {
  repository: RescoreRepository
  runs: Pick<Runs, 'get'>
  groups: GroupRepository
  items: Items
  grader: Grader
  tasks: TaskCatalog
  frontier: FrontierCurriculum
  log: Logger
}

type RegradedGroup = { id: string; metadata: GroupMetadata; before: GroupResult; after: GroupResult }

export function createRescoreProcessor(deps: ProcessRescoreDeps) {
  const { repository, runs, groups, items, grader, tasks, frontier, log } = deps

  return async (
    { run: name, epoch, id }: RescoreJobData,
    { isLastAttempt, signal }: Pick<JobAttempt, 'isLastAttempt' | 'signal'>,
  ): Promise<Requeue | undefined> => {
    const run = await runs.get(name, { epoch })
    const rescore = run && (await repository.get(run, id))
    if (!rescore || rescore.status === 'done' || rescore.status === 'failed') return undefined
    try {
      await process(run, rescore, signal)
    } catch (error) {
      if (isEngineUnavailable(error) || isTaskCodeConflict(error) || signal.aborted) return REQUEUE_ON_OTHER_WORKER
      if (!isLastAttempt) throw error
      log.error({ err: error, queue: rescoreJob.name, run: name, rescore: id }, 'rescore failed')
      const reason = 'The server failed to score the groups again. Its log has the reason.'
      await repository.store(run, { ...rescore, status: 'failed', detail: reason })
    }
    return undefined
  }

  async function process(run: ResolvedRun, rescore: Rescore, signal: AbortSignal): Promise<void> {
    const rules = resolveRun({ ...run, explicitSettings: mergeSettings(run.explicitSettings, rescore.settings) })
    const chosenTasks = listTasks(rescore.tasks)
    const comparison = new RescoreComparison()
    const curricula = { before: new FrontierReplay(frontier, run), after: new FrontierReplay(frontier, rules) }
    const { total, first } = await groups.locateRetained(run.name, run.epoch, toGroupLimit(rescore.sample))
    let done = 0
    for (let next = first; done < total; ) {
      signal.throwIfAborted()
      const isCurrent = await repository.store(run, { ...rescore, status: 'running', progress: { total, done } })
      if (!isCurrent) return // the run was deleted or restored, or there were too many newer rescores
      const listed = await groups.listRetainedFrom(run.name, run.epoch, next, GROUPS_PER_PAGE)
      if (listed.length === 0) break // older ones were deleted in the meantime
      const chosen = listed.filter(({ group }) => isInSample(group, rescore.sample))
      const regraded = await pMap(chosen, ({ group }) => regrade(run, rules, chosenTasks, group), {
        concurrency: GROUPS_IN_FLIGHT,
      })
      for (const group of regraded) {
        if (group === 'left_out') comparison.leaveOut()
        else if (group) comparison.add({ ...group, task: group.metadata.recipe.task })
      }
      const compared = regraded.filter((group) => typeof group === 'object')
      curricula.before.observe(compared.map(({ metadata, before }) => ({ metadata, result: before })))
      curricula.after.observe(compared.map(({ metadata, after: result }) => ({ metadata, result })))
      done += listed.length
      next = (listed.at(-1)?.position ?? 0) + 1
    }
    const result = comparison.build((task) => {
      const [before, after] = [curricula.before.levelOf(task), curricula.after.levelOf(task)]
      return before === undefined || after === undefined ? null : { before, after }
    })
    await repository.store(run, { ...rescore, status: 'done', progress: { total, done: total }, result })
  }

  function listTasks(choices: string[] | null): ReadonlySet<string> | undefined {
    if (!choices) return undefined
    const chosen = tasks.list().filter(({ name, category }) => {
      return choices.includes(name) || choices.includes(`category:${category}`)
    })
    return new Set(chosen.map(({ name }) => name))
  }

  /** Returns undefined for a group of a task that is not asked for. */
  async function regrade(
    run: ResolvedRun,
    rules: ResolvedRun,
    chosenTasks: ReadonlySet<string> | undefined,
    id: string,
  ): Promise<RegradedGroup | 'left_out' | undefined> {
    const ref = { run: run.name, epoch: run.epoch, group: id }
    const stored = await groups.get(ref)
    const task = stored?.metadata?.recipe.task
    if (task !== undefined && chosenTasks?.has(task) === false) return undefined
    const { metadata, result: before } = stored ?? {}
    const texts = before?.status === 'scored' ? await groups.getTexts(ref) : undefined
    if (!metadata || !before || !texts) return 'left_out'
    const after = await gradeAgain({ metadata, before, texts }, rules)
    return after ? { id, metadata, before, after } : 'left_out'
  }

  /**
   * A rollout that the run could not score stays unscored, so that equal rules give equal results. Returns undefined if a
   * rollout that the run has scored cannot be scored now.
   */
  async function gradeAgain(
    { metadata, before, texts }: { metadata: GroupMetadata; before: GroupResult; texts: GroupTexts },
    { settings }: ResolvedRun,
  ): Promise<GroupResult | undefined> {
    try {
      const recipe = await items.resolveItemId(metadata.item_id)
      const verdicts = await grader.gradeWithoutStatistics(recipe, texts.rollouts, { ...settings, feedback: 'none' })
      const comparable = verdicts.map((verdict, k) => {
        const old = before.verdicts[k]
        if (old?.status !== 'unscored') return verdict
        const { code, detail } = old
        return { status: 'unscored' as const, reward: null, score: null, code, detail }
      })
      const isLost = comparable.some(
        ({ status }, k) => status === 'unscored' && before.verdicts[k]?.status === 'scored',
      )
      return isLost ? undefined : gradeGroup(metadata.rollouts, comparable, settings, false)
    } catch (error) {
      if (isEngineUnavailable(error) || isTaskCodeConflict(error)) throw error
      return undefined // the item cannot be made, or not by this version of the library
    }
  }
}

function toGroupLimit(sample: number | null): number {
  return sample !== null && sample > 1 ? Math.floor(sample) : Number.POSITIVE_INFINITY
}

function isInSample(group: string, sample: number | null): boolean {
  return sample === null || sample > 1 || hashText(group) / HASHES < sample
}

/** Where the frontiers of a run would stand if it had seen only these groups. */
class FrontierReplay {
  readonly #frontier: FrontierCurriculum
  readonly #run: ResolvedRun
  readonly #tasks = new Map<string, StoredFrontier>()

  constructor(frontier: FrontierCurriculum, run: ResolvedRun) {
    this.#frontier = frontier
    this.#run = run
  }

  observe(groups: { metadata: GroupMetadata; result: GroupResult }[]): void {
    const evidence = groups.flatMap(({ metadata, result }) => {
      const input = this.#frontier.describeGroup(this.#run, metadata.recipe, result)
      return input ? [{ ...input.evidence, step: 0, time: '' }] : []
    })
    for (const [task, folded] of this.#frontier.foldInto(this.#run, evidence, this.#tasks).tasks)
      this.#tasks.set(task, folded)
  }

  levelOf(task: string): number | undefined {
    return this.#tasks.get(task)?.state.level
  }
}
