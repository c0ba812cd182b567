/** Scores of kept groups under hardened scoring, which rejects some answers that upstream scoring counts as right. */
import { isCorrect, isPaidNotRight } from '@reasoning-gym-server/contract/verdict'
import { LRUCache } from 'lru-cache'
import type { Grader } from '../../grading/grader.ts'
import type { Items } from '../items/items.ts'
import type { ResolvedRun } from '../runs/types.ts'
import type { GroupMetadata } from './group-payload.ts'
import type { GroupRef } from './records.ts'
import type { GroupRepository, StoredGroup } from './repository.ts'

/** Groups whose scores are remembered, because the dashboard lists the same ones every few seconds. */
const MAX_REMEMBERED = 2000
/** Scores that could not be had may come after an outage. */
const RETRY_AFTER_MS = 30_000

type Scores = (number | null)[]

/** A group that the server still keeps. */
export interface KeptGroup {
  ref: GroupRef
  stored: StoredGroup & { metadata: GroupMetadata }
}

interface HardenedScoresDeps {
  groups: GroupRepository
  items: Items
  grader: Grader
}

export class HardenedScores {
  readonly #deps: HardenedScoresDeps
  readonly #known = new LRUCache<string, { scores: Scores | undefined }>({ max: MAX_REMEMBERED })

  constructor(deps: HardenedScoresDeps) {
    this.#deps = deps
  }

  /** Returns undefined under hardened scoring, without a right answer, and if the scores cannot be had: a group is readable without them. */
  async get({ incarnation, revision, settings }: ResolvedRun, group: KeptGroup): Promise<Scores | undefined> {
    const verdicts = group.stored.result?.verdicts ?? []
    if (settings.scoring !== 'upstream' || !verdicts.some(({ score }) => score !== null && isCorrect(score)))
      return undefined
    const key = `${incarnation}/${revision}/${group.ref.epoch}/${group.ref.group}`
    const known = this.#known.get(key)
    if (known) return known.scores
    const scores = await this.#grade(settings, group).catch(() => undefined)
    this.#known.set(key, { scores }, scores?.includes(null) === false ? {} : { ttl: RETRY_AFTER_MS })
    return scores
  }

  async #grade(settings: ResolvedRun['settings'], { ref, stored }: KeptGroup): Promise<Scores | undefined> {
    const { groups, items, grader } = this.#deps
    const [recipe, texts] = await Promise.all([items.resolveItemId(stored.metadata.item_id), groups.getTexts(ref)])
    const rules = { ...settings, scoring: 'hardened' as const, feedback: 'none' as const }
    return texts && (await grader.gradeWithoutStatistics(recipe, texts.rollouts, rules)).map(({ score }) => score)
  }
}

/** Whether the group has an answer that is paid, but not right. */
export function hasPaidNotRight({ stored }: KeptGroup, hardened: Scores = []): boolean {
  return (stored.result?.verdicts ?? []).some(({ score }, k) => isPaidNotRight(score, hardened[k]))
}
