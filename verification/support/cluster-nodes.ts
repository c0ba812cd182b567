/** What an operator does to a Redis Cluster while it is in use: moves slots, adds and removes masters, fails over. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoopbackRedis } from './loopback-redis.ts'
import { waitUntil } from './wait.ts'

const MIGRATE_TIMEOUT_MS = 5000
const WAIT_TIMEOUT_MS = 60_000
/** A slot stays half moved for a while, so that requests meet it. */
const KEYS_PER_TURN = 5
const TURN_PAUSE_MS = 20

/** The slot of the keys with this hash tag. */
export async function getSlot(node: LoopbackRedis, tag: string): Promise<number> {
  return Number(await node.client.cluster('KEYSLOT', `{${tag}}`))
}

/** The master that serves the slot of a hash tag. */
export async function findOwner(nodes: LoopbackRedis[], tag: string): Promise<LoopbackRedis> {
  for (const node of nodes)
    if ((await isMaster(node)) && (await listSlots(node)).includes(await getSlot(node, tag))) return node
  throw new Error(`no master serves the slot of ${tag}`)
}

/** Moves a slot with its keys while both masters serve it: `-ASK` and `-TRYAGAIN` until it is over, then `-MOVED`. */
export async function moveSlot(
  masters: LoopbackRedis[],
  slot: number,
  source: LoopbackRedis,
  target: LoopbackRedis,
): Promise<void> {
  const [sourceId, targetId] = [await getNodeId(source), await getNodeId(target)]
  await target.client.cluster('SETSLOT', slot, 'IMPORTING', sourceId)
  await source.client.cluster('SETSLOT', slot, 'MIGRATING', targetId)
  for (;;) {
    const keys = await source.client.cluster('GETKEYSINSLOT', slot, KEYS_PER_TURN)
    if (keys.length === 0) break
    await source.client.migrate('127.0.0.1', target.port, '', 0, MIGRATE_TIMEOUT_MS, 'KEYS', ...keys)
    await sleep(TURN_PAUSE_MS)
  }
  await assignSlot(masters, slot, target, source)
}

/** Moves all slots of a master one by one; gives how many had keys. */
export async function evacuate(
  masters: LoopbackRedis[],
  source: LoopbackRedis,
  pickTarget: () => LoopbackRedis,
): Promise<number> {
  let withKeys = 0
  for (const slot of await listSlots(source)) {
    const target = pickTarget()
    const hasKeys = Number(await source.client.cluster('COUNTKEYSINSLOT', slot)) > 0
    if (hasKeys) await moveSlot(masters, slot, source, target)
    else await assignSlot(masters, slot, target, source)
    if (hasKeys) withKeys++
  }
  return withKeys
}

/** Of the slots that a master serves. */
export async function listSlots(node: LoopbackRedis): Promise<number[]> {
  const id = await getNodeId(node)
  const line = String(await node.client.cluster('NODES'))
    .split('\n')
    .find((text) => text.startsWith(id))
  const ranges = (line ?? '')
    .split(' ')
    .slice(8)
    .filter((range) => /^\d/.test(range)) // the others are slots on the move
  return ranges.flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, k) => first + k)
  })
}

export async function getNodeId(node: LoopbackRedis): Promise<string> {
  return String(await node.client.call('CLUSTER', 'MYID'))
}

export async function isMaster(node: LoopbackRedis): Promise<boolean> {
  return /role:master/.test(await node.client.info('replication'))
}

/** A replica that has what its master has. */
export async function isInSync(node: LoopbackRedis): Promise<boolean> {
  return /master_link_status:up/.test(await node.client.info('replication'))
}

export function waitFor(fact: () => Promise<boolean>, what: string): Promise<void> {
  return waitUntil(what, fact, { timeoutMs: WAIT_TIMEOUT_MS })
}

/** The new owner first, so that no request is sent in a circle. */
async function assignSlot(
  masters: LoopbackRedis[],
  slot: number,
  target: LoopbackRedis,
  source: LoopbackRedis,
): Promise<void> {
  const targetId = await getNodeId(target)
  for (const node of [target, source, ...masters.filter((other) => other !== target && other !== source)])
    await node.client.cluster('SETSLOT', slot, 'NODE', targetId).catch((error: Error) => {
      // A master that gave its last slot away makes itself a replica of the new owner, and knows it by then.
      if (!error.message.includes('only with masters')) throw error
    })
}
