/** `doctor --repair`: a private Redis whose file is damaged says so when it starts, and starts again after the repair. */
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { acquireDataDirLock } from '../../src/main/bootstrap/data-folder.ts'
import { startPrivateRedis } from '../../src/main/bootstrap/redis/private-redis.ts'
import { run } from './command-line.ts'

const SLOW = { timeout: 180_000 }
const KEYS = ['one', 'two', 'three', 'four', 'five']
const ignore = () => {}

let folder: string
/** The file that Redis appends to: Redis 7 and newer have it in a folder of its own. */
let dataFile: string
let intact: Buffer
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rgs-repair-'))
  await withRedis(async (redis) => {
    for (const key of KEYS) await redis.set(key, `value of ${key}`)
  })
  const files = readdirSync(join(folder, 'redis'), { recursive: true, encoding: 'utf8' })
  dataFile = join(folder, 'redis', files.find((name) => name.endsWith('.incr.aof')) ?? 'appendonly.aof')
  intact = readFileSync(dataFile)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function withRedis<T>(use: (redis: Redis) => Promise<T>): Promise<T> {
  const server = await startPrivateRedis(folder, ignore)
  const redis = new Redis(server.url)
  try {
    return await use(redis)
  } finally {
    redis.disconnect()
    server.noteUse()
    await server.stop()
  }
}

const readKeys = () => withRedis(async (redis) => (await redis.keys('*')).sort())
const refusal = () =>
  startPrivateRedis(folder, ignore).then(
    async (redis) => `it started${String(await redis.stop())}`,
    (error: Error) => error.message,
  )

async function doctor(...args: string[]) {
  const { code, stdout } = await run(['doctor', '--json', '--data-dir', folder, ...args], {})
  const { findings } = JSON.parse(stdout) as {
    findings: { name: string; is: string; found: string; advice?: string }[]
  }
  return { code, data: findings.find(({ name }) => name === 'Data') }
}

const findCopies = () => readdirSync(dirname(dataFile)).filter((name) => name.includes('.damaged-'))

/** The repair cuts the file off at `offset`, keeps it as it was, and the next start has these keys. */
async function expectRepaired(offset: number, keys: string[], advice: RegExp): Promise<void> {
  const damaged = readFileSync(dataFile)
  const { length: bytes } = damaged
  const line = await refusal()
  expect(line).toContain(`${dataFile} is damaged at offset ${offset} of ${bytes} bytes. Nothing has been changed`)
  expect(line).toContain(`npx reasoning-gym-server doctor --repair --data-dir ${folder}`)
  expect(readFileSync(dataFile)).toEqual(damaged)
  expect(await doctor('--repair')).toMatchObject({
    code: 0,
    data: {
      is: 'warn',
      found: expect.stringContaining(`the last ${bytes - offset} of ${bytes} bytes of ${dataFile}`),
      advice: expect.stringMatching(advice),
    },
  })
  expect(statSync(dataFile).size).toBe(offset)
  expect(findCopies()).toHaveLength(1)
  expect(readFileSync(join(dirname(dataFile), findCopies()[0] ?? ''))).toEqual(damaged)
  expect(await readKeys()).toEqual(keys.toSorted())
}

it('zeros at the end, as a power cut leaves them, are cut off: nothing is lost', SLOW, async () => {
  appendFileSync(dataFile, Buffer.alloc(5000))
  await expectRepaired(intact.length, KEYS, /^the part contained only zeros/)
})

it('a file of zeros only has lost what it held, which is said', SLOW, async () => {
  writeFileSync(dataFile, Buffer.alloc(intact.length))
  await expectRepaired(0, [], /^the whole file was zeros, so its data is lost/)
})

it('garbage at the end is cut off', SLOW, async () => {
  appendFileSync(dataFile, Buffer.from(Array.from({ length: 300 }, (_, k) => (k * 37) % 256)))
  await expectRepaired(intact.length, KEYS, /^the part contained no readable entry/)
})

it('garbage in the middle costs all that comes after it, which is said', SLOW, async () => {
  const at = intact.indexOf('three') - '*3\r\n$3\r\nset\r\n$5\r\n'.length
  writeFileSync(dataFile, Buffer.concat([intact.subarray(0, at), Buffer.from('garbage'), intact.subarray(at)]))
  await expectRepaired(at, ['one', 'two'], /^the part contained about [123] readable entries: .* are lost/)
})

it('a file without damage is left alone, and so is one in use', SLOW, async () => {
  expect(await doctor('--repair')).toMatchObject({
    code: 0,
    data: { is: 'ok', found: expect.stringMatching(/nothing/) },
  })
  appendFileSync(dataFile, Buffer.alloc(10))
  const lock = await acquireDataDirLock(folder, ignore)
  const refused = await doctor('--repair')
  lock.release()
  expect(refused).toMatchObject({
    code: 1,
    data: { is: 'fail', found: `process ${process.pid} runs a server on ${folder}` },
  })
  expect(statSync(dataFile).size).toBe(intact.length + 10)
  expect(findCopies()).toEqual([])
  const { data } = await doctor()
  expect(data).toMatchObject({ is: 'warn', found: expect.stringContaining(`(from offset ${intact.length})`) })
})

it('an empty file where data was starts with a warning; the first start has none', SLOW, async () => {
  const start = async () => {
    const warnings: string[] = []
    const redis = await startPrivateRedis(folder, ignore, undefined, (line) => warnings.push(line))
    redis.noteUse()
    await redis.stop()
    return warnings
  }
  expect(await start()).toEqual([])
  writeFileSync(dataFile, '')
  expect(await start()).toEqual([
    expect.stringMatching(/has held data before, but its append-only file is empty or gone/),
  ])
  rmSync(folder, { recursive: true })
  expect(await start()).toEqual([])
  expect(existsSync(join(folder, 'redis', 'in-use'))).toBe(true)
})
