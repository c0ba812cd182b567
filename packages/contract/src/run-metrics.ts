/** Metrics of a run by task over its training. */
import { z } from 'zod'

export const TaskMetric = z
  .enum(['reward', 'score', 'accuracy', 'difficulty'])
  .meta({ id: 'TaskMetric', description: 'Mean reward, mean score, share of correct rollouts, or mean difficulty.' })
export type TaskMetric = z.infer<typeof TaskMetric>

export const TaskMetrics = z
  .strictObject({
    metric: TaskMetric.describe('Metric of the cells.'),
    columns: z
      .array(
        z
          .strictObject({
            step: z.number().optional().describe('Last step of the column.'),
            first_step: z.number().optional().describe('First step that the column spans.'),
            width: z.number().optional().describe('Number of steps, or of groups, that the column spans.'),
            time: z.number().optional().describe('Unix time of the last group in seconds, if the run has no steps.'),
            first_group: z.number().optional().describe('Number of the first group, if the run has no steps.'),
            groups: z.number().describe('Number of groups.'),
          })
          .describe('Range of steps, or of groups.'),
      )
      .describe('Columns, oldest first.'),
    tasks: z
      .record(z.string(), z.array(z.number().nullable()))
      .describe('Value of each task in each column; null without data.'),
  })
  .meta({ id: 'TaskMetrics', description: 'A metric of each task over training.' })
export type TaskMetrics = z.infer<typeof TaskMetrics>
