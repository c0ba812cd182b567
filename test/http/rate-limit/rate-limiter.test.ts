import type { Caller } from '@reasoning-gym-server/contract/caller'
import { afterEach, describe, expect, it } from 'vitest'
import {
  RateLimiter,
  type RateLimits,
  type RateUsage,
  type ReportUsage,
  resolveRateLimits,
} from '../../../src/http/rate-limit/rate-limiter.ts'

const NONE: RateLimits = { requests: null, bytes: null, anonymousRequests: null }
const trainer: Caller = { id: 'a', role: 'trainer', runs: null }
const stranger: Caller = { id: '10.0.0.1', role: null, runs: new Set() }
const once = (bytes = 0): RateUsage => ({ requests: 1, bytes })
const alone: ReportUsage = async (_minute, _caller, more) => more

let now = 0
const open: RateLimiter[] = []
afterEach(() => {
  for (const meter of open.splice(0)) meter.close()
})
const meterOf = (limits: Partial<RateLimits>, tell = alone) => {
  now = 90_000
  const meter = new RateLimiter({ ...NONE, ...limits }, tell, () => now)
  open.push(meter)
  return meter
}
/** What Redis does: sums over all who tell. */
const board = (): ReportUsage => {
  const sums = new Map<string, RateUsage>()
  return async (minute, caller, { requests, bytes }) => {
    const sum = sums.get(`${minute} ${caller}`) ?? { requests: 0, bytes: 0 }
    const all = { requests: sum.requests + requests, bytes: sum.bytes + bytes }
    sums.set(`${minute} ${caller}`, all)
    return all
  }
}

describe('a minute’s allowance', () => {
  it('is refused with the seconds until the next minute, which begins anew', () => {
    const meter = meterOf({ requests: 2 })
    expect([meter.consume(trainer, once()), meter.consume(trainer, once()), meter.consume(trainer, once())]).toEqual([
      undefined,
      undefined,
      30,
    ])
    now = 119_900
    expect(meter.consume(trainer, once())).toBe(1)
    now = 120_000
    expect(meter.consume(trainer, once())).toBeUndefined()
  })

  it('is each caller’s own; strangers have another', () => {
    const meter = meterOf({ requests: 1, anonymousRequests: 2 })
    expect(meter.consume(trainer, once())).toBeUndefined()
    expect(meter.consume({ ...trainer, id: 'b' }, once())).toBeUndefined()
    expect([1, 2, 3].map(() => meter.consume(stranger, once()) === undefined)).toEqual([true, true, false])
  })

  it('of bytes lets through what begins below it', () => {
    const meter = meterOf({ bytes: 100 })
    expect(meter.consume(trainer, once(99))).toBeUndefined()
    meter.addBytes(trainer, 1)
    expect(meter.consume(trainer, once())).toBe(30)
  })

  it('stays bounded in memory however many addresses call: the last ones share one', () => {
    const meter = meterOf({ anonymousRequests: 1 })
    const late = (id: string) => meter.consume({ ...stranger, id }, once())
    for (let k = 0; k < 50_000; k++) meter.consume({ ...stranger, id: `s${k}` }, once())
    expect([late('late'), late('later')]).toEqual([undefined, 30])
  })
})

describe('several processes', () => {
  it('share one allowance', async () => {
    const tell = board()
    const [one, two] = [meterOf({ requests: 4 }, tell), meterOf({ requests: 4 }, tell)]
    for (const meter of [one, one, two]) expect(meter.consume(trainer, once())).toBeUndefined()
    for (const meter of [one, two, one, two]) await meter.sync()
    expect([one.consume(trainer, once()), one.consume(trainer, once())]).toEqual([undefined, 30])
    for (const meter of [one, two]) await meter.sync()
    expect(two.consume(trainer, once())).toBe(30)
  })

  it('count by themselves while Redis is away, and lose nothing', async () => {
    const tell = board()
    let away = true
    const meter = meterOf({ requests: 3 }, async (...what) => {
      if (away) throw new Error('gone')
      return tell(...what)
    })
    meter.consume(trainer, once())
    meter.consume(trainer, once())
    await meter.sync()
    away = false
    await meter.sync()
    expect(await tell(1, 'a', { requests: 0, bytes: 0 })).toEqual({ requests: 2, bytes: 0 })
    expect([meter.consume(trainer, once()), meter.consume(trainer, once())]).toEqual([undefined, 30])
  })

  it('say nothing of strangers, whose flood would reach Redis', async () => {
    let told = 0
    const meter = meterOf({ anonymousRequests: 9 }, async (...[, , more]) => {
      told++
      return more
    })
    meter.consume(stranger, once())
    await meter.sync()
    expect(told).toBe(0)
  })
})

it('without keys nothing is limited unless it is asked for', () => {
  const settings = { RATE_LIMIT: undefined, BYTE_RATE_LIMIT: undefined, ANONYMOUS_RATE_LIMIT: 6000 }
  expect(resolveRateLimits(settings, false)).toMatchObject({ requests: null, bytes: null })
  expect(resolveRateLimits(settings, true)).toMatchObject({ requests: 600_000, bytes: 16 * 2 ** 30 })
  expect(resolveRateLimits({ ...settings, RATE_LIMIT: 5 }, false)).toMatchObject({ requests: 5 })
})
