/** Computes means of verify answers under NeMo Gym's names. Masked samples are not measurements and do not count. */
import type { NemoGymMetrics } from '@reasoning-gym-server/contract/reward-wires'
import { mean, populationStd } from '../../../grading/statistics.ts'

type VerifyAnswer = Record<string, unknown>

const TASK_INDEX = '_ng_task_index'
const MEASURES = ['reward', 'score'] as const

export function aggregateMetrics(answers: VerifyAnswer[]): NemoGymMetrics {
  const measured = answers.filter(({ mask_sample: masked }) => masked !== true)
  const overall = describeValues(measured)
  return {
    agent_metrics: { ...overall, ...describeTasks(measured), ...describeCoverage(answers, measured) },
    key_metrics: overall['mean/reward'] === undefined ? {} : { 'mean/reward': overall['mean/reward'] },
    group_level_metrics: [...Map.groupBy(measured, (answer) => answer[TASK_INDEX])].map(([index, group]) => ({
      ...(isMeasure(index) && { [TASK_INDEX]: index }),
      ...(typeof group[0]?.task_name === 'string' && { task_name: group[0].task_name }),
      ...describeValues(group),
    })),
  }
}

function describeValues(answers: VerifyAnswer[]): Record<string, number> {
  const metrics: Record<string, number> = {}
  for (const name of MEASURES) {
    const values = answers.map((answer) => answer[name]).filter(isMeasure)
    if (values.length === 0) continue
    metrics[`mean/${name}`] = mean(values)
    metrics[`std/${name}`] = populationStd(values)
    metrics[`min/${name}`] = values.reduce((a, b) => Math.min(a, b))
    metrics[`max/${name}`] = values.reduce((a, b) => Math.max(a, b))
  }
  return metrics
}

function describeTasks(answers: VerifyAnswer[]): Record<string, number> {
  const byTask = Map.groupBy(answers, ({ task_name: task }) => task)
  const means = [...byTask].flatMap(([task, group]) => {
    const { 'mean/reward': reward } = describeValues(group)
    return typeof task === 'string' && reward !== undefined ? [[`mean/reward/${task}`, reward] as const] : []
  })
  return Object.fromEntries(means)
}

function describeCoverage(answers: VerifyAnswer[], measured: VerifyAnswer[]): Record<string, number> {
  if (measured.length === answers.length) return {}
  return {
    'coverage/measured_rollouts': measured.length,
    'coverage/masked_rollouts': answers.length - measured.length,
  }
}

/** JSON such as `1e999` parses as Infinity, which has no mean and no JSON. */
function isMeasure(value: unknown): value is number {
  return Number.isFinite(value)
}
