import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { getFreePort, startChildServer } from '../../src/main/bootstrap/child-server.ts'
import type { Answer } from '../world.ts'

it('a data folder without a storage format is refused at start with what to do', { timeout: 90_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'upgrade-'))
  try {
    mkdirSync(join(folder, 'redis'), { mode: 0o700 })
    // Written by commit 7d6d9f4: a run with a group.
    const log = gunzipSync(readFileSync('test/fixtures/unversioned-data.aof.gz'))
    writeFileSync(join(folder, 'redis', 'appendonly.aof'), log)
    const env = { ...process.env, DATA_DIR: folder, PORT: String(await getFreePort()), REDIS_URL: undefined }
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, ['src/main/serve.ts'], { env, timeout: 60_000 }, (_error, stdout, stderr) =>
        resolve(stdout + stderr),
      )
    })
    expect(output.match(/The stored data has an unknown format, but this server reads format 1\./g)).toHaveLength(1) // not per process
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
})

it('a data folder of the present format opens again with everything in it', { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reopened-'))
  try {
    const first = await startChildServer({ DATA_DIR: folder })
    try {
      await fillServer(first.url)
      await expectComplete(first.url)
    } finally {
      await first.stop()
    }
    const second = await startChildServer({ DATA_DIR: folder })
    try {
      await expectComplete(second.url)
      const { body } = await call(second.url, 'POST', '/runs/kept/batches/1/ack')
      expect(body).toEqual({ step: 1, acknowledged: true })
      expect((await call(second.url, 'POST', '/runs/kept/batches', { step: 2 })).body).toMatchObject({
        groups: [{ group_id: 'g1' }],
      })
    } finally {
      await second.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
})

/** A run with two scored groups, of which the first is in an open batch. */
async function fillServer(url: string): Promise<void> {
  expect((await call(url, 'PUT', '/runs/kept', { batch_size: 2 })).status).toBeLessThan(300)
  const { body } = await call(url, 'POST', '/items', { task: 'leg_counting', seed: 42 })
  for (const group_id of ['g0', 'g1']) {
    const rollouts = [{ completion: '<answer>100</answer>' }, { completion: '<answer>none</answer>' }]
    const group = { run: 'kept', item_id: body.items[0].id, group_id, rollouts, policy_version: 1 }
    expect((await call(url, 'POST', '/rollouts', group)).body).toMatchObject({ status: 'scored' })
  }
  expect((await call(url, 'POST', '/runs/kept/batches', { step: 1 })).status).toBe(200)
}

async function expectComplete(url: string): Promise<void> {
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
