import { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { Extraction, type Verdict } from '@reasoning-gym-server/contract/verdict'
import { strip } from '@reasoning-gym-server/scorers/python/text'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ExtractionResult, extractAnswer } from '../../src/grading/answer-extraction.ts'
import { type GroupScoringRules, gradeGroup } from '../../src/grading/group-advantages.ts'
import { buildVerdict, listDualFormatVariants, type ScorerResult } from '../../src/grading/verdict.ts'

describe('whatever a model writes', () => {
  const tag = fc.constantFrom(
    '<answer>',
    '</answer>',
    '<think>',
    '</think>',
    '<ANSWER>',
    '</Think>',
    '\\boxed{',
    '}',
    '{',
  )
  // Any code point. The unit 'binary' of fast-check is the same, and takes a second to make a table of all of them.
  const unit = fc.nat(0x10ffff - 0x800).map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800))
  const text = fc
    .array(fc.oneof({ arbitrary: tag, weight: 3 }, fc.string({ unit, maxLength: 6 })), { maxLength: 14 })
    .map((parts) => parts.join(''))
  const answer = (completion: string, extraction: Extraction) => {
    const reading = extractAnswer(completion, { extraction })
    return reading.kind === 'answer' ? reading.answer : undefined
  }

  const small = (reading: ExtractionResult) => JSON.parse(JSON.stringify(reading).toLowerCase())

  it('is an answer that stands in it, or a fault with a name', () => {
    fc.assert(
      fc.property(text, fc.constantFrom(...Extraction.options), (completion, extraction) => {
        const reading = extractAnswer(completion, { extraction })
        if (reading.kind === 'fault')
          expect(reading.fault).toMatch(/^(no_answer|many_answers|unclosed_(answer|think))$/)
        // Thinking in the middle of an answer is cut out, so what is left may not stand there in one piece.
        else if (!/<think>/i.test(completion)) expect(completion).toContain(reading.answer)
        if (reading.kind === 'answer' && extraction !== 'bare') expect(reading.answer).toBe(strip(reading.answer))
      }),
      { numRuns: 2000 },
    )
  })

  it('and is read strictly, reads the same by the laxer rules', () => {
    fc.assert(
      fc.property(text, (completion) => {
        const strict = answer(completion, 'strict')
        fc.pre(strict !== undefined)
        expect(answer(completion, 'last_tag')).toBe(strict)
        expect(answer(completion, 'tag_or_boxed')).toBe(strict)
      }),
      { numRuns: 500 },
    )
  })

  it('reads the same after a thought, and with tags in other letter case', () => {
    fc.assert(
      fc.property(text, fc.constantFrom('strict', 'last_tag', 'tag_or_boxed'), (completion, extraction) => {
        const shouted = completion.replace(/<\/?(?:answer|think)>/gi, (found) => found.toUpperCase())
        expect(small(extractAnswer(shouted, { extraction }))).toEqual(small(extractAnswer(completion, { extraction })))
        const [first] = /<\/?think>/i.exec(completion) ?? []
        fc.pre(first?.[1] !== '/') // a closing tag first would end the thought of the prompt
        const thought = `<think>so <answer>1</answer></think>${completion}`
        expect(extractAnswer(thought, { extraction })).toEqual(extractAnswer(completion, { extraction }))
      }),
      { numRuns: 1000 },
    )
  })
})

const scoring: fc.Arbitrary<ScorerResult> = fc.oneof(
  fc.double().map((score) => ({ kind: 'score', score }) as const),
  fc.constant({ kind: 'raised' } as const),
  fc.constant({ kind: 'failed', code: 'scorer_timeout', detail: 'late' } as const),
)

describe('whatever a scorer says', () => {
  it('a verdict is a score in [0, 1] or no score at all', () => {
    fc.assert(
      fc.property(fc.array(scoring, { minLength: 1, maxLength: 2 }), (readings) => {
        const verdict = buildVerdict('x', readings)
        if (verdict.status === 'unscored') expect([verdict.score, verdict.reward]).toEqual([null, null])
        else {
          expect(verdict.score).toBeGreaterThanOrEqual(0)
          expect(verdict.score).toBeLessThanOrEqual(1)
          expect(verdict.reward).toBe(verdict.score)
        }
        const failed = readings.some(({ kind }) => kind === 'failed')
        const full = readings.some(
          (reading) => reading.kind === 'score' && reading.score >= 1 && reading.score < Infinity,
        )
        expect(verdict.status === 'unscored').toBe(failed && !full)
      }),
    )
  })

  it('the order of the readings does not matter, and another reading lowers no score', () => {
    fc.assert(
      fc.property(scoring, scoring, (one, other) => {
        expect(buildVerdict('x', [one, other])).toEqual(buildVerdict('x', [other, one]))
        const [alone, both] = [buildVerdict('x', [one]), buildVerdict('x', [one, other])]
        if (alone.status === 'scored' && both.status === 'scored')
          expect(both.score).toBeGreaterThanOrEqual(alone.score)
      }),
    )
  })

  it('dual format asks for the bare answer first', () => {
    fc.assert(fc.property(fc.string(), fc.boolean(), (text, dual) => listDualFormatVariants(text, dual)[0] === text))
  })
})

describe('whatever is in a group', () => {
  const verdict: fc.Arbitrary<Verdict> = fc.oneof(
    {
      arbitrary: fc.constantFrom(0, 0.25, 0.5, 1).map((score) => buildVerdict('x', [{ kind: 'score', score }])),
      weight: 4,
    },
    scoring.map((reading) => buildVerdict('x', [reading])),
  )
  const length = fc.option(fc.integer({ min: 0, max: 3000 }), { nil: undefined })
  const measured = fc.record({ trained: length, length, finish_reason: fc.constantFrom(undefined, 'stop', 'length') })
  const group = fc.array(fc.tuple(measured, verdict), { minLength: 1, maxLength: 9 })
  const rules: fc.Arbitrary<GroupScoringRules> = fc
    .record({
      advantage: fc.constantFrom('mean', 'mean_std', 'leave_one_out', 'none'),
      length_penalty: fc.constantFrom(true, false, { kind: 'dapo', buffer: 400, factor: 1 }),
      mask_too_long_completions: fc.boolean(),
      drop_equal_scores: fc.boolean(),
      signal_on: fc.constantFrom('reward', 'score'),
    })
    .map((some) => RunSettings.parse({ max_token_length: 1000, ...some }))
  const judge = (members: [object, Verdict][], how: GroupScoringRules) =>
    gradeGroup(
      members.map(([rollout]) => rollout as Parameters<typeof gradeGroup>[0][number]),
      members.map(([, one]) => one),
      how,
      true,
    )

  it('what was not scored has no reward and no advantage; who does not vote has advantage 0', () => {
    fc.assert(
      fc.property(group, rules, (members, how) => {
        const judged = judge(members, how)
        judged.verdicts.forEach((one, k) => {
          expect(one.status).toBe(members[k]?.[1].status)
          if (one.status === 'unscored') expect([one.reward, one.advantage]).toEqual([null, null])
          else {
            expect(Number.isFinite(one.reward) && Number.isFinite(one.advantage)).toBe(true)
            if (one.skipped || one.masked) expect(one.advantage).toBe(0)
            expect(one.reward).toBeLessThanOrEqual(one.score)
          }
        })
        const voters = judged.verdicts.filter((one) => one.status === 'scored' && !one.skipped && !one.masked)
        expect(judged.voters).toBe(voters.length)
        expect(judged.status === 'failed').toBe(judged.verdicts.every(({ status }) => status === 'unscored'))
      }),
      { numRuns: 500 },
    )
  })

  it('advantages around the mean come to nothing in all, and none differ where there is no signal', () => {
    fc.assert(
      fc.property(group, rules, (members, how) => {
        const judged = judge(members, { ...how, advantage: 'mean', signal_on: 'reward' })
        const advantages = judged.verdicts.map(({ advantage }) => advantage ?? 0)
        const sum = advantages.reduce((total, one) => total + one, 0)
        if ((judged.voters ?? 0) > 1) expect(Math.abs(sum)).toBeLessThan(1e-9)
        if (!judged.signal) expect(advantages.every((one) => Math.abs(one) < 1e-12)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  it('the order of the rollouts does not matter', () => {
    fc.assert(
      fc.property(group, rules, (members, how) => {
        const [there, back] = [judge(members, how), judge(members.toReversed(), how)]
        expect(back.verdicts.toReversed().map(({ reward }) => reward)).toEqual(
          there.verdicts.map(({ reward }) => reward),
        )
        expect([back.signal, back.voters, back.destination]).toEqual([there.signal, there.voters, there.destination])
        expect(back.mean_score ?? 0).toBeCloseTo(there.mean_score ?? 0, 12)
      }),
      { numRuns: 500 },
    )
  })
})
