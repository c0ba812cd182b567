/** Finds the redis-server that the private Redis runs. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { installRedisBinary } from '../python/python-environment.ts'
import type { ReportProgress } from '../wait-notice.ts'

const execFileAsync = promisify(execFile)

/** The redis-server of this machine if it is new enough; otherwise the one installed with the library. */
export async function resolveRedisBinary(report: ReportProgress, python?: string): Promise<string> {
  return (await getRedisBinaryOnPath()) ?? installRedisBinary(report, python)
}

/** A redis-server from the PATH, if it is new enough for BullMQ. */
export async function getRedisBinaryOnPath(): Promise<string | undefined> {
  const [major, minor] = await getRedisVersion('redis-server')
  return major > 6 || (major === 6 && minor >= 2) ? 'redis-server' : undefined
}

/** Zeros if it cannot be run. */
export async function getRedisVersion(binary: string): Promise<[major: number, minor: number]> {
  const { stdout } = await execFileAsync(binary, ['--version']).catch(() => ({ stdout: '' }))
  const [major = 0, minor = 0] = (/v=(\d+)\.(\d+)/.exec(stdout)?.slice(1) ?? []).map(Number)
  return [major, minor]
}
