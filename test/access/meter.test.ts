import { afterEach, describe, expect, it } from 'vitest'
import { type Limits, limitsOf, Meter, type Tell, type Use } from '../../src/access/meter.ts'
import type { Caller } from '../../src/words/caller.ts'

const NONE: Limits = { requests: null, bytes: null, requestsOfStrangers: null }
const trainer: Caller = { id: 'a', role: 'trainer', runs: null }
const stranger: Caller = { id: '10.0.0.1', role: null, runs: new Set() }
const once = (bytes = 0): Use => ({ requests: 1, bytes })
const alone: Tell = async (_minute, _caller, more) => more

let now = 0
const open: Meter[] = []
afterEach(() => {
  for (const meter of open.splice(0)) meter.close()
})
const meterOf = (limits: Partial<Limits>, tell = alone) => {
  now = 90_000
  const meter = new Meter({ ...NONE, ...limits }, tell, () => now)
  open.push(meter)
  return meter
}
/** What Redis does: sums over all who tell. */
const board = (): Tell => {
  const sums = new Map<string, Use>()
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
    expect([meter.use(trainer, once()), meter.use(trainer, once()), meter.use(trainer, once())]).toEqual([
      undefined,
      undefined,
      30,
    ])
    now = 119_900
    expect(meter.use(trainer, once())).toBe(1)
    now = 120_000
    expect(meter.use(trainer, once())).toBeUndefined()
  })

  it('is each caller’s own; strangers have another', () => {
    const meter = meterOf({ requests: 1, requestsOfStrangers: 2 })
    expect(meter.use(trainer, once())).toBeUndefined()
    expect(meter.use({ ...trainer, id: 'b' }, once())).toBeUndefined()
    expect([1, 2, 3].map(() => meter.use(stranger, once()) === undefined)).toEqual([true, true, false])
  })

  it('of bytes lets through what begins below it', () => {
    const meter = meterOf({ bytes: 100 })
    expect(meter.use(trainer, once(99))).toBeUndefined()
    meter.add(trainer, 1)
    expect(meter.use(trainer, once())).toBe(30)
  })

  it('stays bounded in memory however many addresses call: the last ones share one', () => {
    const meter = meterOf({ requestsOfStrangers: 1 })
    const late = (id: string) => meter.use({ ...stranger, id }, once())
    for (let k = 0; k < 50_000; k++) meter.use({ ...stranger, id: `s${k}` }, once())
    expect([late('late'), late('later')]).toEqual([undefined, 30])
  })
})

describe('several processes', () => {
  it('share one allowance', async () => {
    const tell = board()
    const [one, two] = [meterOf({ requests: 4 }, tell), meterOf({ requests: 4 }, tell)]
    for (const meter of [one, one, two]) expect(meter.use(trainer, once())).toBeUndefined()
    for (const meter of [one, two, one, two]) await meter.share()
    expect([one.use(trainer, once()), one.use(trainer, once())]).toEqual([undefined, 30])
    for (const meter of [one, two]) await meter.share()
    expect(two.use(trainer, once())).toBe(30)
  })

  it('count by themselves while Redis is away, and lose nothing', async () => {
    const tell = board()
    let away = true
    const meter = meterOf({ requests: 3 }, async (...what) => {
      if (away) throw new Error('gone')
      return tell(...what)
    })
    meter.use(trainer, once())
    meter.use(trainer, once())
    await meter.share()
    away = false
    await meter.share()
    expect(await tell(1, 'a', { requests: 0, bytes: 0 })).toEqual({ requests: 2, bytes: 0 })
    expect([meter.use(trainer, once()), meter.use(trainer, once())]).toEqual([undefined, 30])
  })

  it('say nothing of strangers, whose flood would reach Redis', async () => {
    let told = 0
    const meter = meterOf({ requestsOfStrangers: 9 }, async (...[, , more]) => {
      told++
      return more
    })
    meter.use(stranger, once())
    await meter.share()
    expect(told).toBe(0)
  })
})

it('without keys nothing is limited unless it is asked for', () => {
  const settings = { RATE_LIMIT: undefined, BYTES_LIMIT: undefined, STRANGER_RATE_LIMIT: 6000 }
  expect(limitsOf(settings, false)).toMatchObject({ requests: null, bytes: null })
  expect(limitsOf(settings, true)).toMatchObject({ requests: 600_000, bytes: 16 * 2 ** 30 })
  expect(limitsOf({ ...settings, RATE_LIMIT: 5 }, false)).toMatchObject({ requests: 5 })
})
