import { type AddressInfo, createServer } from 'node:net'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { Redis } from 'ioredis'
import { expect, it, vi } from 'vitest'
import { describeOutage, translateRedisError, watchAnswers } from '../../../src/platform/redis/redis-errors.ts'
import { formatRedisAddress } from '../../../src/platform/redis/redis-url.ts'

const codeOf = (message: string) => {
  const error = translateRedisError(new Error(message))
  return error instanceof ServiceError ? error.code : undefined
}

it('Redis at its memory limit is redis_full, for a command and for a script', () => {
  expect(codeOf("OOM command not allowed when used memory > 'maxmemory'.")).toBe('redis_full')
  expect(codeOf('OOM allow-oom flag is not set on the script, can not run it when used memory')).toBe('redis_full')
  expect(codeOf("ERR Error running script: -OOM command not allowed when used memory > 'maxmemory'.")).toBe(
    'redis_full',
  )
})

it.each([
  'connect ECONNREFUSED 127.0.0.1:6379',
  'read ECONNRESET',
  'connect ENOENT /data/redis.sock',
  'Connection is closed.',
  "Stream isn't writeable and enableOfflineQueue options is false",
  'Reached the max retries per request limit (which is 1). Refer to "maxRetriesPerRequest" option for details.',
  'Command timed out',
  'LOADING Redis is loading the dataset in memory',
  "READONLY You can't write against a read only replica.",
  'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
  'NOAUTH Authentication required.',
  "NOPERM User default has no permissions to run the 'get' command",
  'CLUSTERDOWN The cluster is down',
  'Failed to refresh slots cache.',
  'None of startup nodes is available',
  'All sentinels are unreachable. Retrying from scratch after 10ms.',
  'TRYAGAIN Multiple keys request during rehashing of slot',
  'ERR Error running script (call to f_0): @user_script:9: Lua script attempted to access a non local key in a cluster node',
  'MOVED 3999 127.0.0.1:6381',
  'ASK 3999 127.0.0.1:6381',
  'EXECABORT Transaction discarded because of previous errors.',
  'self-signed certificate in certificate chain',
  'Protocol error, got "\\u0015" as reply type byte',
  'error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required',
])('%s is redis_unavailable', (message) => {
  expect(codeOf(message)).toBe('redis_unavailable')
})

it('the detail has our words, and none of the driver', async () => {
  vi.resetModules() // no Redis has a name yet, whatever an earlier test of this process connected to
  const { translateRedisError } = await import('../../../src/platform/redis/redis-errors.ts')
  const detailOf = (message: string) => (translateRedisError(new Error(message)) as ServiceError).message
  expect(detailOf("Stream isn't writeable and enableOfflineQueue options is false")).toBe(
    'Redis does not answer. Retry.',
  )
  expect(detailOf('LOADING Redis is loading the dataset in memory')).toBe('Redis is still loading its data. Retry.')
})

it('counts the seconds since the last reply, without the password', async () => {
  const countCommands = (text: string) => text.split('\r\n').filter((line) => line.startsWith('*')).length
  const server = createServer((socket) =>
    socket.on('data', (data) => socket.write('+OK\r\n'.repeat(countCommands(String(data))))),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const redis = new Redis({ host: '127.0.0.1', port, enableReadyCheck: false, lazyConnect: true })
  watchAnswers(redis, formatRedisAddress(`redis://me:secret@127.0.0.1:${port}`))
  await redis.connect()
  await redis.ping()
  const later = performance.now() + 12_000
  expect(describeOutage(redis, later)).toBe(`Redis at 127.0.0.1:${port} has not answered for 12 s`)
  redis.disconnect()
  server.close()
})

it('an error of any other cause stays as it is', () => {
  const error = new Error('WRONGTYPE Operation against a key holding the wrong kind of value')
  expect(translateRedisError(error)).toBe(error)
  expect(codeOf('a key that was removed, for TASK 1')).toBeUndefined()
  expect(translateRedisError('OOM command not allowed')).toBe('OOM command not allowed')
})

it('an error that has a code of its own keeps it, whatever its message', () => {
  const down = new ServiceError('engine_unavailable', 'The engine is down: spawn /venv/bin/python ENOENT')
  expect(translateRedisError(down)).toBe(down)
})

it('a missing file is no missing Redis', () => {
  const missing = Object.assign(new Error("ENOENT: no such file or directory, open '/x'"), { syscall: 'open' })
  expect(translateRedisError(missing)).toBe(missing)
})
