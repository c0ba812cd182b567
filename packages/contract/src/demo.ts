/** A demo: a training run of a simulated learner, which shows what a run looks like. */
import { z } from 'zod'
import { TaskName } from './recipe.ts'
import { RunName } from './rollout.ts'

export const DemoInput = z
  .strictObject({
    steps: z.int().min(1).max(200).default(40).describe('Number of training steps. A step takes about a second.'),
    tasks: z
      .array(TaskName)
      .min(1)
      .max(50)
      .optional()
      .describe('Tasks to train on, such as a task of your own. Default: eight tasks of the library.'),
    run: RunName.optional().describe('Name of the run, which must not exist yet. Default: `demo-` and a number.'),
  })
  .meta({ id: 'DemoInput', description: 'Length, tasks and name of a demo.' })
export type DemoInput = z.infer<typeof DemoInput>

export const StartedDemo = z
  .strictObject({
    run: RunName.describe('Name of the run that the demo trains.'),
    steps: z.int().min(1).describe('Number of training steps.'),
    dashboard: z.string().describe('Path of the run’s page on the dashboard, relative to the URL of the server.'),
  })
  .meta({ id: 'StartedDemo', description: 'A demo that has started.' })
export type StartedDemo = z.infer<typeof StartedDemo>
