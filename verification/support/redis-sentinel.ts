/** A master, its replica and a Sentinel that watches them, on loopback, for tests of a failover. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { resolveRedisBinary } from '../../src/main/bootstrap/redis/redis-process.ts'
import { buildTlsSettings, type TestCertificates } from './certificates.ts'
import {
  connectToPort,
  endProcess,
  findFreePortPairs,
  LoopbackRedis,
  quiesceMaster,
  waitForReplica,
} from './loopback-redis.ts'
import { waitUntil } from './wait.ts'

const START_TIMEOUT_MS = 90_000
/** After one second, Sentinel replaced masters that were only slow on a busy machine. */
const DOWN_AFTER_MS = 3000
/** Clients give a master that hangs up 2 s after its failover; until then one that wakes up would answer what it then loses. */
const CLIENTS_GONE_MS = 4000

export interface SentinelSetup {
  /** What REDIS_URL is set to. */
  url: string
  /** Kills the master with -9 once its replica has everything; resolves when the replica is the master. */
  failOver(): Promise<void>
  /** Kills the master with -9, whatever its replica lacks; resolves when the replica is the master. */
  crashMaster(): Promise<void>
  /** Kills the master after its replica has stood still for so long; gives since when it may lack
   * something, and the time of death. */
  failOverBehind(lagMs: number): Promise<{ since: number; diedAt: number }>
  /** Stops the master as a machine that hangs does: its connections stay open. Resolves when the replica is the master. */
  hangMaster(): Promise<void>
  /**
   * Brings the one that failed back, and resolves when it is the other's replica. Throws if Sentinel has also replaced a master
   * that was only slow: what that loses says nothing about the server.
   */
  recover(): Promise<void>
  stop(): Promise<void>
}

const wait = (what: string, holds: () => Promise<boolean>) => waitUntil(what, holds, { timeoutMs: START_TIMEOUT_MS })

/** Of two servers, the first is the master to begin with. */
export async function startSentinel(serverBinary?: string, certificates?: TestCertificates): Promise<SentinelSetup> {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-sentinel-'))
  const binary = serverBinary ?? (await resolveRedisBinary(console.log))
  const [first = 0, second = 0, third = 0, ...tlsPorts] = await findFreePortPairs(6)
  const tlsSettings = tlsPorts.map((port) => (certificates ? buildTlsSettings(certificates, port) : {}))
  let master = new LoopbackRedis(binary, folder, first, { ...tlsSettings[0] })
  await master.client.ping()
  let replica = new LoopbackRedis(binary, folder, second, {
    ...tlsSettings[1],
    replicaof: `127.0.0.1 ${master.publicPort}`,
  })
  const config = join(folder, 'sentinel.conf')
  writeFileSync(
    config,
    [
      `port ${third}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      ...Object.entries(tlsSettings[2] ?? {}).map(([name, value]) => `${name} ${value}`),
      `sentinel monitor mymaster 127.0.0.1 ${master.publicPort} 1`,
      `sentinel down-after-milliseconds mymaster ${DOWN_AFTER_MS}`,
      `sentinel failover-timeout mymaster ${DOWN_AFTER_MS}`,
      '',
    ].join('\n'),
  )
  const replicates = async () => /master_link_status:up/.test(await replica.client.info('replication'))
  await wait('the replica follows', replicates)
  const child = spawn(binary, [config, '--sentinel'], { stdio: 'ignore' })
  process.once('exit', () => child.kill('SIGKILL'))
  const sentinel = connectToPort(third)
  await wait('Sentinel knows both', async () => /slaves=1/.test(await sentinel.info('sentinel')))
  const announcements = sentinel.duplicate()
  await announcements.subscribe('+switch-master')
  let switches = 0
  let failures = 0
  announcements.on('message', () => switches++)
  const getMasterPort = async () => {
    const address = await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'mymaster')
    return Array.isArray(address) ? Number(address[1]) : undefined
  }
  const replaceMaster = async (fail: () => Promise<void>) => {
    failures++
    await fail()
    // Until Sentinel says so, a master that comes back would be taken for the one, and lose what it accepts.
    await wait('the replica is the master', async () => (await getMasterPort()) === replica.publicPort)
    const [next, failed] = [replica, master]
    master = next
    replica = failed
  }
  let bringBack = async () => {}
  const killMaster = async (kill: () => Promise<void>) => {
    await replaceMaster(kill)
    bringBack = async () => replica.restart()
  }
  return {
    url: `${certificates ? 'rediss' : 'redis'}+sentinel://127.0.0.1:${(certificates && tlsPorts[2]) ?? third}/mymaster`,
    failOver: () =>
      killMaster(async () => {
        await quiesceMaster(master, replica)
        await master.kill()
      }),
    crashMaster: () => killMaster(() => master.kill()),
    async failOverBehind(lagMs) {
      let [since, diedAt] = [0, 0]
      await killMaster(async () => {
        since = Date.now()
        await waitForReplica(master, replica)
        replica.pause()
        await sleep(lagMs)
        await master.kill()
        diedAt = Date.now()
        replica.resume()
      })
      return { since, diedAt }
    },
    async hangMaster() {
      await replaceMaster(async () => {
        await quiesceMaster(master, replica)
        master.pause()
      })
      bringBack = async () => {
        await sleep(CLIENTS_GONE_MS)
        replica.resume()
      }
    },
    async recover() {
      await bringBack()
      await wait('it came back', async () => {
        // Sentinel gives a failover up if it takes too long; the server that came back is then the master again.
        if ((await getMasterPort()) === replica.publicPort) [master, replica] = [replica, master]
        return replicates()
      })
      if (switches > failures)
        throw new Error(
          `Sentinel has replaced the master ${switches} times for ${failures} failures: the machine is too busy`,
        )
    },
    async stop() {
      announcements.disconnect()
      sentinel.disconnect()
      await endProcess(child, 'SIGKILL')
      for (const server of [master, replica]) server.resume()
      await Promise.all([master.stop(), replica.stop()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
