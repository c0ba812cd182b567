/** Samples: completions that a trainer sends one by one, their results, and how they are collected into groups. */
import type { AdapterName } from '@reasoning-gym-server/contract/adapter'
import type { Caller } from '@reasoning-gym-server/contract/caller'
import type { ErrorCode, ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import {
  type FeedbackLevel,
  type GroupVerdict,
  UnscoredCode,
  type Verdict,
} from '@reasoning-gym-server/contract/verdict'
import type { Submission } from '../../grading/submission.ts'
import type { KnownVerdicts } from '../rollouts/group-payload.ts'
import type { ResolvedRun } from '../runs/types.ts'
import type { Delivery } from './trainer-calls.ts'

/** One completion, as a trainer sends it. */
export interface Sample {
  /** ID of the item; undefined if the trainer sent none. */
  itemId: string | undefined
  submission: Submission
  /** Name that the trainer gives the rollout (an episode ID). A retry has the same name and is the same sample. */
  rolloutKey?: string | undefined
  /**
   * Place of the submission among the turns of its rollout, if they come one at a time. `next`: after the stored ones, unless it
   * is the last of them, sent again.
   */
  turn?: number | 'next' | undefined
  tokens?: number | undefined
  /** Finish reason; `length` means that the token limit cut the completion. */
  finishReason?: string | undefined
}

export interface SampleCall {
  adapter: AdapterName
  /** Run from the path. A call without a run is stateless: it uses the default settings and counts only in metrics. */
  run?: string | undefined
  samples: Sample[]
  /** Overrides the setting of the run. */
  feedback?: FeedbackLevel | undefined
  /** How long to retry failures of the server: the client's timeout minus a margin. */
  retryWindowMs: number
  /** Reward of an unscored sample: none, a mean of real rewards (substitute-rewards.ts), or 0 for callers that ask for it. */
  unscored: 'null' | 'mean' | 'zero'
  /** How long an unscored sample waits until its group is complete, from the start of the call. */
  siblingWindowMs: number
  /** Number of samples that the trainer sends for an item; `group_size` of the run if undefined. */
  groupSize?: number | undefined
  /** Caller whose runs are named if there is no run of that name. */
  caller?: Caller | undefined
  /** Required incarnation of the run; any other is rejected. */
  condition?: RunCondition | undefined
  /** Required with a run: a sample counts once its response was sent. */
  delivery?: Delivery | undefined
}

interface UnscoredSample {
  status: 'unscored'
  reward: null
  score: null
  /** Code from the grader, or from the error that the sample's item ID caused. */
  code: UnscoredCode | ErrorCode
  detail: string
}

export type SampleResultVerdict = Extract<GroupVerdict, { status: 'scored' }> | UnscoredSample

export interface SampleResult {
  itemId: string | undefined
  /** Recipe of the item, or undefined if the item ID could not be read. */
  recipe: Recipe | undefined
  verdict: SampleResultVerdict
  /** The verdict that the sample has in a group of its run, if it is scored. */
  known?: KnownVerdict | undefined
  /** The error that made the sample unscored. */
  fault?: ServiceError
  /** Reward of an unscored sample, if the call asked for one. */
  substitute?: number | undefined
  /** Message to the model for its next turn, if the rollout has another try. Such a result counts with the last turn. */
  retryPrompt?: string | undefined
}

/** Whether the item ID or its item is at fault: such a sample joins no group, and fails again whenever it is sent. */
export function isItemFault({ status, code }: { status: string; code?: string }): boolean {
  return status === 'unscored' && !UnscoredCode.safeParse(code).success
}

/** A sample with a known item, and its verdict. */
export interface GradedSample extends Sample {
  itemId: string
  recipe: Recipe
  verdict: SampleResultVerdict
  known?: KnownVerdict | undefined
}

/** A verdict that the group of the sample need not find again. */
export interface KnownVerdict extends Omit<KnownVerdicts, 'verdicts'> {
  verdict: Verdict
}

/** Collects the samples of items into groups of their run. */
export interface SampleCollector {
  start(delivery: Delivery, groupSize?: number): CallAssembly
  /** Counts rewards that stand in for verdicts. Never rejects: a count that Redis does not accept is lost. */
  countSubstitutes(run: ResolvedRun, count: number): Promise<void>
}

/** The samples of one call while they are added to groups. */
export interface CallAssembly {
  /**
   * Records the samples, each at its position in the call, before the response is sent. Returns false if the run has
   * changed since they were graded. Repeated calls record no sample twice.
   */
  record(run: ResolvedRun, samples: readonly (GradedSample | undefined)[]): Promise<boolean>
  /** Reads the open groups of recorded samples that are unscored, by item ID; none if the client has disconnected. */
  readSiblings(run: ResolvedRun, samples: readonly (GradedSample | undefined)[]): Promise<Map<string, Siblings>>
}

/** The samples in the open group of an item. */
export interface Siblings {
  rewards: number[]
  /** Number of samples, with those that could not be scored. */
  count: number
}
