import type { Caller } from '@reasoning-gym-server/contract/caller'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type ExchangeUsage,
  RateLimiter,
  type RateLimits,
  type RateUsage,
  resolveRateLimits,
} from '../../src/http/rate-limit.ts'

const NONE: RateLimits = { requests: null, bytes: null, anonymousRequests: null }
const trainer: Caller = { id: 'a', role: 'trainer', runs: null }
const stranger: Caller = { id: '10.0.0.1', role: null, runs: new Set() }
const once = (bytes = 0): RateUsage => ({ requests: 1, bytes })
const alone: ExchangeUsage = async () => ({ requests: 0, bytes: 0 })

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
/** What Redis does for each process: it keeps what each of them has told, and adds up the others. */
const board = () => {
  const told = new Map<ExchangeUsage, Map<string, RateUsage>>()
  return (): ExchangeUsage => {
    const exchange: ExchangeUsage = async (minute, caller, changed) => {
      const name = `${minute} ${caller}`
      if (changed) told.set(exchange, new Map(told.get(exchange)).set(name, changed))
      const others = [...told].flatMap(([other, usages]) => (other === exchange ? [] : (usages.get(name) ?? [])))
      const sum = (field: keyof RateUsage) => others.reduce((all, usage) => all + usage[field], 0)
      return { requests: sum('requests'), bytes: sum('bytes') }
    }
    return exchange
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
    expect([1, 2].map(() => meter.consume(trainer, once()))).toEqual([undefined, undefined]) // a key has its own
  })
})

describe('several processes', () => {
  it('share one allowance', async () => {
    const tell = board()
    const one = meterOf({ requests: 4 }, tell())
    const two = meterOf({ requests: 4 }, tell())
    for (const meter of [one, one, two]) expect(meter.consume(trainer, once())).toBeUndefined()
    for (const meter of [one, two, one, two]) await meter.sync()
    expect([one.consume(trainer, once()), one.consume(trainer, once())]).toEqual([undefined, 30])
    for (const meter of [one, two]) await meter.sync()
    expect(two.consume(trainer, once())).toBe(30)
  })

  it('count by themselves while Redis is away, and lose nothing', async () => {
    const join = board()
    const [tell, other] = [join(), join()]
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
    expect(await other(1, 'a', undefined)).toEqual({ requests: 2, bytes: 0 })
    expect([meter.consume(trainer, once()), meter.consume(trainer, once())]).toEqual([undefined, 30])
  })

  it('count once what Redis completes after a stall, however often it was told', async () => {
    const join = board()
    const [tell, other] = [join(), join()]
    const stall = Promise.withResolvers<void>()
    const meter = meterOf({ requests: 9 }, async (...what) => {
      await stall.promise
      return tell(...what)
    })
    meter.consume(trainer, once())
    const stalled = [meter.sync(), meter.sync()]
    stall.resolve()
    await Promise.all([...stalled, meter.sync()])
    expect(await other(1, 'a', undefined)).toEqual({ requests: 1, bytes: 0 })
  })

  it('say nothing of strangers, whose flood would reach Redis', async () => {
    let told = 0
    const meter = meterOf({ anonymousRequests: 9 }, async (...what) => {
      told++
      return alone(...what)
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
