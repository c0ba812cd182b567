/** Notations of one answer are paid alike, and a second guess in the form of a notation is not. */
import { listReadings } from '@reasoning-gym-server/scorers/hardened/notations'
import { expect, it } from 'vitest'
import { startCpuClock } from '../cpu-clock.ts'

const same: [key: string, answers: string[]][] = [
  [
    '1800',
    [
      '**1800**',
      '`1800`',
      '```\n1800\n```',
      '```text\n1800\n```',
      '“1800”',
      '1800.',
      'The final answer is: **1,800**.',
      '**Answer:** 1800',
      '\\boxed{1800}.',
      '$x = 1{,}800$',
      'x = 900 \\times 2 = 1800',
      '= 1 800',
      "1'800.0",
      '+1800',
      '１８００',
    ],
  ],
  ['-5', ['\u22125', '\\boxed{\u22125}', '3 - 8 = -5']],
  ['104.0 - 12.0i', ['(24.0 - 35.0i) - (-80.0 - 23.0i) = 104.0 - 12.0i', '104.0 \u2212 12.0i']],
  ['5', ['[5]', '[[5]]', '[\n  [5]\n]']],
  ['3.5e-05', ['x = 3.5e-05', 'P(X > 7) ≈ 3.5e-05']],
  ['3413/3684', ['3413 / 3684', '3,413/3,684']],
  ["['-3']", ['["-3"]', '[-3]', '[ "-3" ]']],
  ['[1, 2, 3]', ['[1,2,3]', '1, 2, 3', '`[ 1, 2, 3 ]`', '[1,\n2,\n3]', '["1", "2", "3"]']],
  ["['a', 'b']", ['["a", "b"]', 'a, b', '[a, b]']],
  [
    '1 2\n3 4',
    [
      '[[1, 2], [3, 4]]',
      '[1, 2]\n[3, 4]',
      '[1, 2],\n[3, 4]',
      '1, 2\n3, 4',
      '1  2\n\n3  4',
      '1\t2\n3\t4',
      '```\n1 2\n3 4\n```',
    ],
  ],
  ['He said it.', ['He said it..', '"He said it."', 'The answer is He said it.']],
]
it.each(same)('%j in other notations', (key, answers) => {
  for (const answer of answers) expect(listReadings(answer, key), answer).toContain(key)
})

const others: [key: string, answers: string[]][] = [
  [
    '5',
    [
      '4 or 5',
      '4, 5',
      '**4** **5**',
      'not 5',
      '4 = 5',
      '-4 = 5',
      '≈ 5',
      '4 or x = 5',
      '\\boxed{4} \\boxed{5}',
      '5k',
      '5²',
      '45',
      '(5',
      '5 6',
    ],
  ],
  ['1800', ['1,80,0', '1,8', '18,00', '1.800', '1 , 800']],
  ['[1, 2, 3]', ['[1, 2, 3, 4]', '[1, 2]', '[3, 2, 1]', '[[1, 2], [3]]', '[1, 2, 3] or [3, 2, 1]', '(1, 2), 3']],
  ['1 2\n3 4', ['1 2 3 4', '1 2 3\n4', '1 2\n3 4\n5 6', '[[1, 3], [2, 4]]']],
  ['[6]', ['6', '[6, 6]', '[]', '[[], 6]', '[6, []]']],
  ['-5', ['[[], -5]', '[[-5], []]']],
  ['A and (B or C)', ['(A and B) or C', 'A and B or C']],
]
it.each(others)('%j: another answer stays another', (key, answers) => {
  for (const answer of answers) expect(listReadings(answer, key), answer).not.toContain(key)
})

it('a number may be followed by what the question counts, and by nothing else', () => {
  const question = 'How many legs are there in total if you have 3 ants?'
  expect(listReadings('**194 legs**', '194', question)).toContain('194')
  for (const answer of ['194 ants', '194 or 195 legs', '194 thousand', '1 94 legs'])
    expect(listReadings(answer, '194', question), answer).not.toContain('194')
})

it('an answer without a wrapper has one reading', () => {
  expect(listReadings('100', '90')).toEqual(['100'])
  expect(listReadings('1 2\n3 5', '1 2\n3 4')).toEqual(['1 2\n3 5'])
})

it('reads hostile answers in time', () => {
  for (const sign of ['*', '_', '`', '"', '(', '[', '=', ' ', '1,000', '- ', 'a '])
    for (const answer of [sign.repeat(20_000), `x${sign.repeat(20_000)}=`, `${sign.repeat(20_000)}5`]) {
      const cpuMs = startCpuClock()
      listReadings(answer, '5')
      listReadings(answer, '1 2\n3 4')
      expect(cpuMs()).toBeLessThan(1000)
    }
  const nested = `${'\\text{'.repeat(9000)}x${'}'.repeat(9000)}`
  expect(listReadings(nested, '5').length).toBeLessThan(30)
  expect(listReadings('\\text{\\textbf{\u2212\\text{5}}}', '-5')).toContain('-5')
})
