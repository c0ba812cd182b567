/** What every engine must hold to. `npm test` runs it on the Python one. */
import type { Config } from '@reasoning-gym-server/contract/recipe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Engine, EngineOutcome, GeneratedItem } from '../../src/engine/engine.ts'

const UNANSWERED = ['boxnet', 'graph_color', 'propositional_logic', 'rubiks_cube', 'rush_hour']
/** Programs that use time and threads make some of its items anew each time. */
const UNSTABLE = ['codeio']

export interface Subject {
  open(): Promise<Engine>
  /** Another engine of the same kind, which may be cheaper to start. */
  openOther(options?: { scoreDeadlineMs?: number }): Promise<Engine>
  /** An answer that hangs the library's scorer. */
  hanging: { task: string; answer: string }
  /** A config whose items take more memory than a host has. */
  hungry: { task: string; config: Config }
  /** Begins the work and kills the host that does it, from outside. */
  crash<T>(engine: Engine, work: () => Promise<T>): Promise<T>
}

const made = (outcome: EngineOutcome | undefined): GeneratedItem => {
  if (outcome?.kind !== 'value') throw new Error(`not made: ${JSON.stringify(outcome)}`)
  return outcome.value as GeneratedItem // engines give what they made
}

export function engineContract(name: string, subject: Subject): void {
  describe(`${name} as an engine`, () => {
    let engine: Engine
    let other: Engine
    let names: string[]

    beforeAll(async () => {
      ;[engine, other] = await Promise.all([subject.open(), subject.openOther()])
      names = Object.keys(await engine.tasks())
    })
    afterAll(async () => {
      await Promise.all([engine.close(), other.close()])
    })

    const item = async (by: Engine, task: string, seed: number, index = 0, config = {}) =>
      made((await by.generateItems(task, config, [[seed, index]]))[0])
    const itemsOfTasks = new Map<string, Promise<GeneratedItem>>()
    const itemOf = async (task: string) => {
      const made = itemsOfTasks.get(task) ?? item(engine, task, 7, 3)
      itemsOfTasks.set(task, made)
      return made
    }
    const score = (task: string, answers: string[], entry: GeneratedItem['entry'], by = engine) =>
      by.score(task, {}, 7, entry, answers)

    it('makes an item of every task, equal on another host, however it is placed', { timeout: 120_000 }, async () => {
      expect(names).toHaveLength(105)
      const pairs = await Promise.all(
        names.map(async (task) => [task, await itemOf(task), await item(other, task, 7, 3)] as const),
      )
      const differing = pairs.filter(([, a, b]) => JSON.stringify(a) !== JSON.stringify(b)).map(([task]) => task)
      expect(differing.filter((task) => !UNSTABLE.includes(task))).toEqual([])
    })

    it('makes the same item after other items, other seeds and other configs', async () => {
      const first = await item(engine, 'maze', 5)
      await item(engine, 'maze', 6)
      await item(engine, 'maze', 5, 0, { min_grid_size: 9 })
      expect(await item(engine, 'maze', 5)).toEqual(first)
      const easy = await item(engine, 'codeio', 5, 0, { difficulty: 6 })
      await item(engine, 'codeio', 5, 0, { difficulty: 8 })
      expect((await item(engine, 'codeio', 5, 0, { difficulty: 6 })).question).toBe(easy.question)
    })

    it('makes the same item after one that leaves the process changed', async () => {
      const fine = { min_decimal_places: 6, max_decimal_places: 6, min_digits: 6, max_digits: 6 }
      const first = await item(engine, 'decimal_chain_sum', 5, 0, fine)
      await engine.generateItems(
        'decimal_arithmetic',
        { precision: 5 },
        Array.from({ length: 40 }, (_, k) => [k, 0]),
      )
      expect(await item(engine, 'decimal_chain_sum', 5, 0, fine)).toEqual(first)
      expect(first.entry.answer).toMatch(/\d{6}\.\d{4}/)
    })

    it('scores the right answer of every task 1, after the entry’s way through JSON', {
      timeout: 120_000,
    }, async () => {
      const wrong: unknown[] = []
      await Promise.all(
        names.map(async (task) => {
          const { entry } = await itemOf(task)
          if (entry.answer === null) return expect(UNANSWERED).toContain(task)
          const [outcome] = await score(task, [entry.answer], JSON.parse(JSON.stringify(entry)))
          if (outcome?.kind !== 'value' || outcome.value !== 1) wrong.push([task, outcome])
        }),
      )
      expect(wrong).toEqual([])
    })

    it('gives a config in canonical form: defaults dropped, numbers by value, lists for tuples', async () => {
      expect(await engine.canonicalizeConfig('leg_counting', { min_animals: 3, max_animals: 4 })).toEqual({
        max_animals: 4,
      })
      expect(await engine.canonicalizeConfig('number_format', { max_delta: 10, min_n: 1000.0 })).toEqual({})
      expect(await engine.canonicalizeConfig('basic_arithmetic', { operators: ['+', '-'] })).toEqual({
        operators: ['+', '-'],
      })
      expect(await engine.canonicalizeConfig('word_sorting', { transformation: 'uppercase' })).toEqual({
        transformation: 'uppercase',
      })
      expect(await engine.canonicalizeConfig('arc_agi', { board_format_opts: { row_delimiter: ';' } })).toEqual({
        board_format_opts: { row_delimiter: ';' },
      })
      expect(
        await engine.canonicalizeConfig('time_intervals', { min_date: '1900-01-01', max_date: '2000-01-01' }),
      ).toEqual({
        max_date: '2000-01-01',
      })
      expect(await engine.canonicalizeConfig('aiw', { task_types: ['friends'], task_type_weights: [1] })).toEqual({
        task_type_weights: [1],
        task_types: ['friends'],
      })
    })

    it.each([
      ['leg_counting', { min_animal: 3 }, 'config.min_animal: unknown field'],
      ['leg_counting', { min_animals: 'three' }, 'config.min_animals: expected an integer'],
      ['leg_counting', { min_animals: 9, max_animals: 3 }, 'max_animals'],
      ['spell_backward', { data_file: '/etc/passwd' }, 'cannot be set'],
      ['leg_counting', { seed: 3 }, 'cannot be set'],
      ['leg_counting', { size: 3 }, 'cannot be set'],
      ['word_sorting', { transformation: 'wild' }, 'expected one of'],
      ['arc_agi', { board_format_opts: { colour: 1 } }, 'board_format_opts.colour: unknown field'],
    ])('refuses a config of %s that is not valid: %j', async (task, config, said) => {
      const refusal = engine.canonicalizeConfig(task, config)
      await expect(refusal).rejects.toMatchObject({ code: 'invalid_config' })
      await expect(refusal).rejects.toThrow(said)
      await expect(refusal).rejects.not.toThrow('Traceback')
    })

    it('says so when there is no item with an index', async () => {
      const [outcome] = await engine.generateItems('word_ladder', {}, [[1, 100_000]])
      expect(outcome).toMatchObject({ kind: 'error', code: 'index_out_of_range' })
    })

    it('tells a scorer that raises from a wrong answer', async () => {
      const { entry } = await item(engine, 'prime_factorization', 7)
      const outcomes = await score('prime_factorization', ['no number', '1'], entry)
      expect(outcomes.map(({ kind }) => kind)).toEqual(['raised', 'value'])
    })

    it('is not disturbed by a library that prints', async () => {
      const { entry } = await item(engine, 'tower_of_hanoi', 7)
      const outcomes = await score('tower_of_hanoi', ['nonsense', entry.answer ?? ''], entry)
      expect(outcomes.at(-1)).toEqual({ kind: 'value', value: 1 })
    })

    it('loses to a hang the verdict of that answer and no other', async () => {
      const { task, answer } = subject.hanging
      const slow = await subject.openOther({ scoreDeadlineMs: 3000 })
      try {
        const { entry } = await item(slow, task, 7)
        const outcomes = await score(task, ['', answer, 'x', answer, 'y'], entry, slow)
        const deadline = expect.stringMatching(/^(timeout|starved)$/) // the second on a machine that has more to do
        expect(outcomes.map((outcome) => (outcome.kind === 'lost' ? outcome.reason : outcome.kind))).toEqual([
          'value',
          deadline,
          'value',
          deadline,
          'value',
        ])
      } finally {
        await slow.close()
      }
    })

    it('loses to memory without end that request and no other', async () => {
      const { task, config } = subject.hungry
      const [hungry, modest] = await Promise.all([engine.generateItems(task, config, [[7, 0]]), item(engine, task, 7)])
      expect(hungry).toMatchObject([{ kind: 'lost', reason: 'out_of_memory' }])
      expect(modest.question).not.toBe('')
    })

    it('loses to a crash the verdict of the answer in hand and no other', async () => {
      const { task, answer } = subject.hanging
      const { entry } = await item(engine, task, 7)
      const outcomes = await subject.crash(engine, () => score(task, [answer, 'x'], entry))
      expect(outcomes.map((outcome) => (outcome.kind === 'lost' ? outcome.reason : outcome.kind))).toEqual([
        'crashed',
        'value',
      ])
    })
  })
}
