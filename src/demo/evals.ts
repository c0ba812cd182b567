/** Evals of a demo: the learner answers the same items at several steps, so that its learning curve is comparable. */
import { generateLearnerCompletion } from '@reasoning-gym-server/mock-model/learner'
import { DemoCallError, type DemoServer } from './demo-server.ts'

const ITEMS_PER_TASK = 5
const DIFFICULTY = 0.4

interface Measurement {
  run: string
  step: number
  progress: number
  tasks: readonly string[]
}

/** Posts the learner's completions to a new eval. Does nothing if the caller's key does not permit evals. */
export async function measureLearner(server: DemoServer, measurement: Measurement): Promise<void> {
  const id = await startEval(server, measurement)
  if (id === undefined) return
  const { items } = (await server.call({ method: 'GET', path: `/eval/${id}/items` })) as {
    items: { sample_id: string; item_id: string }[] // as declared
  }
  const completions = await Promise.all(
    items.map(async ({ sample_id, item_id }) => {
      const item = await server.lookUp(item_id)
      return { sample_id, ...generateLearnerCompletion(item, 0, measurement.progress) }
    }),
  )
  await server.call({ method: 'POST', path: `/eval/${id}/completions`, body: { completions } })
}

async function startEval(server: DemoServer, { run, step, tasks }: Measurement): Promise<string | undefined> {
  const suite = { tasks, n: ITEMS_PER_TASK, difficulty: DIFFICULTY }
  const body = { model: null, suite, run, step, labels: { demo: run } }
  const started = await server.call({ method: 'POST', path: '/eval', body }).catch((error: unknown) => {
    if (error instanceof DemoCallError && error.status === 403) return undefined
    throw error
  })
  return (started as { id: string } | undefined)?.id // as declared
}
