import { describe, expect, it } from 'vitest'
import { answerGrid, explanations, textDiff } from './pure.ts'

const { diffTexts, countChanges } = textDiff
const { compareGrids } = answerGrid
const { explainVerdict, classifyVerdict } = explanations

describe('a diff of two texts', () => {
  it('marks the characters of a changed line and keeps the others', () => {
    expect(diffTexts('one\ntwo', 'one\ntao')).toEqual([
      { expected: [{ text: 'one', same: true }], answer: [{ text: 'one', same: true }] },
      {
        expected: [
          { text: 't', same: true },
          { text: 'w', same: false },
          { text: 'o', same: true },
        ],
        answer: [
          { text: 't', same: true },
          { text: 'a', same: false },
          { text: 'o', same: true },
        ],
      },
    ])
  })

  it('has a side of null where one text has a line more', () => {
    expect(diffTexts('a\nb\nc', 'a\nc').map(({ answer }) => answer?.[0]?.text ?? null)).toEqual(['a', null, 'c'])
    expect(diffTexts('a', 'a\nb')[1]).toEqual({ expected: null, answer: [{ text: 'b', same: false }] })
  })

  it('joins back to both texts, whatever they are', () => {
    const texts = ['', 'abc', 'a\nb\nc\n', 'x\n\ny', '👍🏽 ok', 'abcabba', 'cbabac', 'z'.repeat(3000)]
    const join = (rows: ReturnType<typeof diffTexts>, side: 'expected' | 'answer') =>
      rows.flatMap((row) => (row[side] ? [row[side].map(({ text }) => text).join('')] : [])).join('\n')
    for (const a of texts)
      for (const b of texts) {
        const rows = diffTexts(a, b)
        expect([join(rows, 'expected'), join(rows, 'answer')]).toEqual([a, b])
        expect(countChanges(rows) === 0).toBe(a === b)
      }
  })

  it('of long different texts takes no longer than a blink', () => {
    const before = process.threadCpuUsage() // other programs do not count
    diffTexts('ab'.repeat(20_000), 'ba'.repeat(20_000))
    const { user, system } = process.threadCpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(500)
  })
})

const statesOf = (grid: ReturnType<typeof compareGrids>) =>
  grid?.rows.map((row) => row.map(({ state }) => state[0]).join(''))

describe('a grid', () => {
  const MINI =
    'Solve this 4x4 Mini Sudoku puzzle:\n_ _ 1 _\n_ _ 4 2\n4 _ _ _\n_ 3 2 4\nFormat your response as the puzzle above.'
  const MINI_ANSWER = '2 4 1 3\n3 1 4 2\n4 2 3 1\n1 3 2 4'

  it('of a sudoku tells given cells from filled ones, and marks the wrong ones', () => {
    const grid = compareGrids('mini_sudoku', {
      answer: '2 4 1 3\n1 3 4 2\n4 2 3 1\n1 3 2 4',
      expected: MINI_ANSWER,
      question: MINI,
    })
    expect(statesOf(grid)).toEqual(['ssss', 'wwss', 'ssss', 'ssss'])
    expect(grid?.rows[1]?.[0]).toEqual({ value: '1', given: false, state: 'wrong', expected: '3' })
    expect(grid?.rows.map((row) => row.map(({ given }) => Number(given)).join(''))).toEqual([
      '0010',
      '0011',
      '1000',
      '0111',
    ])
    expect(grid).toMatchObject({ wrong: 2, total: 16, note: null })
  })

  it('is read with frames, and without spaces between the digits', () => {
    expect(
      compareGrids('mini_sudoku', { answer: '|24|13|\n|31|42|\n-----\n42 31\n1324', expected: MINI_ANSWER })?.wrong,
    ).toBe(0)
  })

  it('with a row too few or too long says so', () => {
    expect(compareGrids('rotate_matrix', { answer: '1 2', expected: '1 2\n3 4' })).toMatchObject({
      wrong: 2,
      note: 'The answer has 1 × 2 cells, expected are 2 × 2',
    })
    const long = compareGrids('rotate_matrix', { answer: '1 2\n3 4 5', expected: '1 2\n3 4' })
    expect(statesOf(long)).toEqual(['ss', 'sse'])
    expect(long?.note).toBe('Row 2 has 3 cells, row 1 has 2')
  })

  it('may be JSON in one line', () => {
    expect(statesOf(compareGrids('game_of_life', { answer: '[[0,1],[1, 1]]', expected: '[[0,1],[1,0]]' }))).toEqual([
      'ss',
      'sw',
    ])
  })

  it('of futoshiki is read past its signs', () => {
    const expected = '2   1 < 5   4 > 3\n                 \n4   3   2   1   5'
    const question = 'Solve:\n_   1 < _   _ > _\n∧                \n_   _   2   _   _\nRemember'
    const grid = compareGrids('futoshiki', { answer: '2 1 < 5 4 > 3\n∧\n4 3 1 2 5', expected, question })
    expect(statesOf(grid)).toEqual(['sssss', 'sswws'])
    expect(grid?.rows[1]?.[2]).toMatchObject({ given: true, value: '1', expected: '2' })
  })

  it('of queens marks those that attack each other, and never a different solution', () => {
    const expected = '_ Q _ _\n_ _ _ Q\nQ _ _ _\n_ _ Q _'
    const other = '_ _ Q _\nQ _ _ _\n_ _ _ Q\n_ Q _ _'
    expect(compareGrids('n_queens', { answer: other, expected })?.wrong).toBe(0)
    expect(
      statesOf(compareGrids('n_queens', { answer: 'Q _ _ _\n_ Q _ _\n_ _ _ _\n_ _ _ _', expected }))?.join(''),
    ).toBe(`wpppp${'w'.padEnd(11, 'p')}`)
  })

  it('that was accepted has no marked cell; a text without a grid has none', () => {
    expect(compareGrids('survo', { answer: '1 2', expected: '1 3', isRight: true })?.wrong).toBe(0)
    expect(compareGrids('sudoku', { answer: 'I give up' })).toBeNull()
    expect(compareGrids('gcd', { answer: '1 2\n3 4' })).toBeNull()
  })
})

describe('the reason for a score', () => {
  const scored = { status: 'scored', score: 0, fault: null, answer: '7', expected: '8' }

  it.each([
    [{ ...scored, task: 'gcd' }, 'The answer differs from the expected one.'],
    [{ ...scored, task: 'gcd', expected: undefined }, 'The answer is wrong.'],
    [
      { ...scored, task: 'countdown' },
      'The answer is not a valid solution. Other solutions than the expected one would be accepted.',
    ],
    [
      { ...scored, task: 'countdown', score: 1 },
      'The answer is correct: another valid solution than the expected one.',
    ],
    [
      { ...scored, score: 1, hardened: 0, answer: 'nan', expected: '-10.0 + 12.0i' },
      'Upstream scoring gives 1.00, and hardened scoring gives 0.00: the answer is paid, not right.',
    ],
    [{ ...scored, task: 'sudoku', score: 0.42 }, 'The answer is partly correct: the task gives it 0.42 of 1.'],
    [
      { ...scored, fault: 'no_answer', finish_reason: 'length' },
      'There is no <answer> outside the reasoning. The completion was cut off at the token limit.',
    ],
    [
      { ...scored, task: 'gcd', feedback: { kind: 'rule', text: '7 does not divide 16.' } },
      'The answer differs from the expected one. 7 does not divide 16.',
    ],
    [
      {
        ...scored,
        score: 1,
        answer: '8',
        components: { try_discount: -0.5 },
        turns: [{ score: 0, feedback: { kind: 'rule', text: '7 does not divide 16.' } }, { score: 1 }],
      },
      'The answer is correct. Try 2 decided. Feedback on try 1: 7 does not divide 16. The number of tries takes 0.50 off the reward.',
    ],
    [
      { status: 'unscored', score: null, code: 'generation_failed', detail: 'HTTP 500' },
      'The model returned no completion. The rollout carries no training signal. HTTP 500.',
    ],
    [{ status: 'missing', score: null }, 'There is no completion for this sample yet.'],
  ])('%j', (verdict, sentence) => {
    expect(explainVerdict(verdict)).toBe(sentence)
  })

  it('has a class that needs no color', () => {
    const classes = [1, 0.5, 0.01, 0].map((score) => classifyVerdict({ status: 'scored', score }))
    expect(classes).toEqual(['right', 'partial', 'wrong', 'wrong'])
    const paid = [1, 0, null, undefined].map((hardened) => classifyVerdict({ status: 'scored', score: 1, hardened }))
    expect(paid).toEqual(['right', 'paid', 'right', 'right'])
  })
})
