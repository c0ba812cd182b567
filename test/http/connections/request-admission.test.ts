import Fastify, { type FastifyInstance } from 'fastify'
import { expect, it } from 'vitest'
import { requestAdmission } from '../../../src/http/connections/request-admission.ts'

/** An app that notes in which turn of the event loop it begins each request. */
async function noting(): Promise<{ app: FastifyInstance; begun: { turn: number; id: string }[] }> {
  const app = Fastify()
  const begun: { turn: number; id: string }[] = []
  let turn = 0
  const count = () => {
    turn++
    if (!ended) setImmediate(count)
  }
  let ended = false
  app.addHook('onClose', async () => {
    ended = true
  })
  await app.register(requestAdmission)
  for (const url of ['/work', '/livez']) {
    app.get<{ Querystring: { id: string } }>(url, async ({ query }) => {
      begun.push({ turn, id: query.id })
      return {}
    })
  }
  await app.ready()
  count()
  return { app, begun }
}

it('a turn of the event loop begins 32 requests, in the order in which they came; the others stand in line', async () => {
  const { app, begun } = await noting()
  await Promise.all(Array.from({ length: 200 }, (_, k) => app.inject(`/work?id=${k}`)))
  await app.close()
  expect(begun.map(({ id }) => Number(id))).toEqual(Array.from({ length: 200 }, (_, k) => k))
  const sizes = [...Map.groupBy(begun, ({ turn }) => turn).values()].map((of) => of.length)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(2 * 32) // those that come in a turn, and those in line after it
  expect(sizes.length).toBeGreaterThanOrEqual(3)
})

it('who asks whether the process lives does not stand in line', async () => {
  const { app, begun } = await noting()
  const work = Array.from({ length: 200 }, (_, k) => app.inject(`/work?id=${k}`))
  await Promise.all([...work, app.inject('/livez?id=alive')])
  await app.close()
  expect(begun.findIndex(({ id }) => id === 'alive')).toBeLessThan(100)
})
