/** A run with what a server keeps over a restart. */
import { expect } from 'vitest'
import type { Answer } from '../world.ts'

/** A run with two scored groups, of which the first is in an open batch. */
export async function fillServer(url: string): Promise<void> {
  expect((await call(url, 'PUT', '/runs/kept', { batch_size: 2 })).status).toBeLessThan(300)
  const { body } = await call(url, 'POST', '/items', { task: 'leg_counting', seed: 42 })
  for (const group_id of ['g0', 'g1']) {
    const rollouts = [{ completion: '<answer>100</answer>' }, { completion: '<answer>none</answer>' }]
    const group = { run: 'kept', item_id: body.items[0].id, group_id, rollouts, policy_version: 1 }
    expect((await call(url, 'POST', '/rollouts', group)).body).toMatchObject({ status: 'scored' })
  }
  expect((await call(url, 'POST', '/runs/kept/batches', { step: 1 })).status).toBe(200)
}

export async function expectComplete(url: string): Promise<void> {
  const run = (await call(url, 'GET', '/runs/kept')).body
  expect(run.settings).toMatchObject({ batch_size: 2 })
  expect(run.progress).toMatchObject({ groups: 2, scored_groups: 2, rollouts: 4 })
  for (const group_id of ['g0', 'g1']) {
    expect((await call(url, 'GET', `/rollouts/${group_id}?run=kept`)).body).toMatchObject({
      status: 'scored',
      verdicts: [{ status: 'scored' }, { status: 'scored' }],
    })
  }
  const batch = (await call(url, 'GET', '/runs/kept/batches/1')).body
  expect(batch).toMatchObject({ step: 1, groups: [{ group_id: 'g0', policy_version: 1 }] })
}

/** The open batch can be acknowledged, and the next has the other group. */
export async function expectBatchesGoOn(url: string): Promise<void> {
  const { body } = await call(url, 'POST', '/runs/kept/batches/1/ack')
  expect(body).toEqual({ step: 1, acknowledged: true })
  expect((await call(url, 'POST', '/runs/kept/batches', { step: 2 })).body).toMatchObject({
    groups: [{ group_id: 'g1' }],
  })
}

async function call(
  url: string,
  method: string,
  path: string,
  body?: object,
): Promise<Pick<Answer, 'status' | 'body'>> {
  const response = await fetch(url + path, {
    method,
    headers: { ...(body && { 'content-type': 'application/json' }), prefer: 'wait=30' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const { status } = response
  return { status, body: JSON.parse((await response.text()) || 'null') }
}
