/** The rules that are compared: each gives every task its share of the next items. */
import {
  buildEvidence,
  MAX_LEARNABILITY_EVIDENCE,
  type NumberedEvidence,
  weighByLearnability,
} from '../../../src/features/runs/sequence/learnability.ts'
import type { TaskPlan } from '../../../src/features/runs/sequence/sequence.ts'

export interface SamplingRule {
  /** Weight of each task, in order. */
  weigh(): number[]
  /** A group of a task has come back. */
  learn(task: number, scores: number[], floor: number): void
}

export const SAMPLING_RULES: Readonly<Record<string, (tasks: number) => SamplingRule>> = {
  weights: (tasks) => ({ weigh: () => Array<number>(tasks).fill(1), learn() {} }),
  'accuracy × (1 − accuracy)': createAccuracyRule,
  learnability: (tasks) => createLearnabilityRule(tasks, true),
  'learnability, floors unknown': (tasks) => createLearnabilityRule(tasks, false),
  'SEC, temperature 0.3': (tasks) => createSecRule(tasks, 0.3),
  'SEC, temperature 0.15': (tasks) => createSecRule(tasks, 0.15),
}

/** By the mean over groups, as this server had it before: a task whose items are all right or all wrong is drawn most. */
function createAccuracyRule(tasks: number): SamplingRule {
  const recent = Array.from({ length: tasks }, (): number[] => [])
  return {
    weigh: () =>
      recent.map((shares) => (shares.length === 0 ? 0.25 : Math.max(0.05, mean(shares) * (1 - mean(shares))))),
    learn(task, scores) {
      recent[task] = [...(recent[task] ?? []), mean(scores)].slice(-10)
    },
  }
}

/** The server's own. */
function createLearnabilityRule(tasks: number, knowsFloors: boolean): SamplingRule {
  const plans = Array.from({ length: tasks }, (_, k) => ({ task: String(k), weight: 1 }) as TaskPlan) // no other field is read
  const evidence: Record<string, NumberedEvidence[]> = {}
  let completed = 0
  return {
    weigh: () => plans.map(weighByLearnability(plans, evidence)),
    learn(task, scores, floor) {
      const verdicts = scores.map((score) => ({
        status: 'scored' as const,
        reward: score,
        score,
        answer: '',
        fault: null,
        penalty: 0,
        advantage: 0,
      }))
      const told = buildEvidence(verdicts, knowsFloors ? floor : 0)
      completed++
      if (!told) return
      evidence[task] = [...(evidence[task] ?? []), { ...told, number: completed }].slice(-MAX_LEARNABILITY_EVIDENCE)
    },
  }
}

/** SEC (arXiv 2505.14970): the mean absolute advantage of a task's groups by TD(0), and a Boltzmann choice. */
function createSecRule(tasks: number, temperature: number): SamplingRule {
  const LEARNING_RATE = 0.5
  const gains = Array<number>(tasks).fill(0.5)
  return {
    weigh: () => gains.map((gain) => Math.exp(gain / temperature)),
    learn(task, scores) {
      const center = mean(scores)
      const gain = mean(scores.map((score) => Math.abs(score - center)))
      gains[task] = (gains[task] ?? 0) + LEARNING_RATE * (gain - (gains[task] ?? 0))
    },
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
