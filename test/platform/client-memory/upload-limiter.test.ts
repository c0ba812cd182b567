import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type ArrivingBody, UploadLimiter } from '../../../src/platform/client-memory/upload-limiter.ts'

const KIB = 1024
const LIMIT = 1024 * KIB
const TURN_MS = 100
/** Shares no factor with the number of senders of any test, so that each of them has its step in every turn. */
const STRIDE = 17

interface Sender {
  caller: string
  /** In the order in which they are sent. */
  chunks: number[]
  /** It sends no more after so many chunks. */
  stallsAfter: number
}

interface Sent {
  sender: Sender
  body: ArrivingBody
  next: number
  state: 'sending' | 'waiting' | 'handled' | 'answered' | 'request_timeout' | 'server_busy'
}

/** Lets all of them send at once, a chunk each turn, in an order that changes. A body is handled for a turn. */
function play(senders: Sender[], turns: number): { sent: Sent[]; peak: number } {
  let now = 0
  let peak = 0
  const memory = new UploadLimiter({ limitBytes: LIMIT, waitMs: 60_000, slowMs: 6000, clock: () => now })
  const sent = senders.map((sender): Sent => {
    const one: Sent = {
      sender,
      body: memory.open(sender.caller, ({ code }) => {
        if (code === 'request_timeout' || code === 'server_busy') one.state = code
      }),
      next: 0,
      state: 'sending',
    }
    return one
  })
  for (let turn = 0; turn < turns; turn++, now += TURN_MS) {
    memory.check()
    for (const k of sent.keys()) {
      const one = sent[(k * STRIDE + turn) % sent.length]
      if (one) step(one)
      peak = Math.max(peak, memory.heldBytes)
    }
  }
  memory.close()
  return { sent, peak }
}

function step(one: Sent): void {
  const { sender, body } = one
  if (one.state === 'handled') {
    body.release()
    one.state = 'answered'
  }
  if (one.state !== 'sending' || one.next === sender.stallsAfter) return
  const chunk = sender.chunks[one.next]
  if (chunk === undefined) {
    body.complete()
    one.state = 'handled'
    return
  }
  one.next++
  one.state = 'waiting'
  const resume = () => {
    one.state = 'sending'
  }
  if (body.take(chunk, resume)) resume()
}

const sizeOf = ({ chunks }: Sender) => chunks.reduce((sum, chunk) => sum + chunk, 0)
const chunks = fc.array(fc.integer({ min: 16 * KIB, max: 400 * KIB }), { minLength: 1, maxLength: 12 })
const senders = fc.array(
  fc.record({
    caller: fc.constantFrom('a', 'b', 'c'),
    chunks,
    stallsAfter: fc.oneof({ weight: 3, arbitrary: fc.constant(Number.NaN) }, { arbitrary: fc.nat(8), weight: 1 }),
  }),
  { minLength: 1, maxLength: 16 },
)

it('whoever goes on sending is served, whoever stalls is dropped, and one body at most exceeds the limit', () => {
  fc.assert(
    fc.property(senders, (all) => {
      const { sent, peak } = play(all, 2000)
      for (const { sender, state } of sent)
        expect(state).toBe(sender.stallsAfter <= sender.chunks.length ? 'request_timeout' : 'answered')
      expect(peak).toBeLessThanOrEqual(LIMIT + Math.max(...all.map(sizeOf)))
    }),
  )
})

const sending = (caller: string, count: number): Sender => ({
  caller,
  chunks: Array<number>(count).fill(64 * KIB),
  stallsAfter: Number.NaN,
})

it('bodies that were announced and hardly begun hold nothing that others need', () => {
  const stalled = Array.from({ length: 40 }, () => ({ ...sending('a', 900), chunks: [13], stallsAfter: 1 }))
  const { sent } = play([...stalled, sending('a', 8)], 20)
  expect(sent.at(-1)?.state).toBe('answered')
})

it('a body that is larger than the limit arrives all the same', () => {
  const { sent, peak } = play([sending('a', 40), sending('a', 40)], 200)
  expect(sent.map(({ state }) => state)).toEqual(['answered', 'answered'])
  expect(peak).toBeGreaterThan(LIMIT)
})

it('a caller whose bodies take their share leaves room for another one at once', () => {
  const dripping = Array.from({ length: 12 }, () => ({
    ...sending('a', 100),
    chunks: Array<number>(100).fill(8 * KIB),
  }))
  const { sent } = play([...dripping, sending('b', 3)], 25)
  expect(sent.at(-1)?.state).toBe('answered')
})

it('bodies that drip are dropped when another one of the same caller needs their memory', () => {
  const dripping = Array.from({ length: 12 }, () => ({
    ...sending('a', 100),
    chunks: [100 * KIB, ...Array<number>(2000).fill(2 * KIB)],
  }))
  const { sent } = play([...dripping, sending('a', 8)], 600)
  expect(sent.at(-1)?.state).toBe('answered')
  expect(sent.filter(({ state }) => state === 'request_timeout').length).toBeGreaterThan(0)
})

it('a slow body is dropped sooner where it is in the way of another one, and only there', () => {
  let now = 0
  const memory = new UploadLimiter({ limitBytes: LIMIT, waitMs: 60_000, slowMs: 3000, clock: () => now })
  const dropped: string[] = []
  const open = (caller: string) => memory.open(caller, () => dropped.push(caller))
  const sendSlowly = (body: ArrivingBody) => {
    for (let turn = 0; turn < 40; turn++, now += TURN_MS) {
      memory.check()
      expect(body.take(2 * KIB, () => {})).toBe(true) // 20 KiB a second
    }
  }
  const handled = open('a')
  expect(handled.take(0.75 * LIMIT, () => {})).toBe(true)
  handled.complete()
  expect(open('a').take(LIMIT / 32, () => {})).toBe(false) // beyond the share of this caller
  const slow = open('b')
  sendSlowly(slow)
  expect(dropped).toEqual([])
  expect(open('c').take(LIMIT / 4, () => {})).toBe(false) // beyond what is left
  sendSlowly(slow)
  expect(dropped).toEqual(['b', 'c']) // c has its memory then, and sends nothing
  memory.close()
})

it('what waits for too long is refused, and gives up what it holds', () => {
  let now = 0
  const memory = new UploadLimiter({ limitBytes: LIMIT, waitMs: 1000, slowMs: 60_000, clock: () => now })
  const refused: string[] = []
  const handled = memory.open('a', () => {})
  expect(handled.take(LIMIT / 2, () => {})).toBe(true)
  handled.complete() // by something that takes long
  const waiting = memory.open('b', ({ code }) => refused.push(code))
  expect(waiting.take(LIMIT / 4, () => {})).toBe(true)
  expect(waiting.take(LIMIT / 2, () => {})).toBe(false)
  memory.check()
  expect(refused).toEqual([])
  now += 1000
  memory.check()
  expect(refused).toEqual(['server_busy'])
  expect(memory.heldBytes).toBe(LIMIT / 2)
  memory.close()
})
