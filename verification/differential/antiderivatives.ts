/** Answers to integrals as models give them: other forms of the right one, near misses, and faults of format. */
import { listAnswerVariants } from '@reasoning-gym-server/scorers/hardened/notations'
import { MUTATIONS } from '../fuzz/mutations.ts'

type Edit = (text: string, pick: <T>(list: readonly T[]) => T) => string

const editNumber: Edit = (text, pick) => {
  const numbers = [...text.matchAll(/\d+/g)]
  if (numbers.length === 0) return text
  const { index, 0: digits } = pick(numbers)
  const value = Number(digits)
  const other = pick([value + 1, value - 1, value * 2, value + 2, -value, value / 2])
  return text.slice(0, index) + other + text.slice(index + digits.length)
}

const editTerm: Edit = (text, pick) => {
  const terms = text.split(/ (?=[+-] )/)
  return terms.toSpliced(terms.indexOf(pick(terms)), 1).join(' ')
}

/** A slip of a letter makes another name. */
const editLetter: Edit = (text, pick) => {
  const at = pick([...text.matchAll(/[a-zA-Z0-9 *]/g)])?.index ?? 0
  return text.slice(0, at) + pick([...'abcdefghijklmnopqrstuvwxyzCEFGLNS2']) + text.slice(at + pick([0, 1]))
}

const EDITS: readonly Edit[] = [
  editNumber,
  editNumber,
  editLetter,
  editLetter,
  editLetter,
  editTerm,
  (text, pick) => text.replace(pick(['+', '-']), pick(['+', '-'])),
  (text) => text.replaceAll('cos', 'sin'),
  (text) => text.replaceAll(/sin|cos/g, (name) => (name === 'sin' ? 'cos' : 'sin')),
  (text) => text.replaceAll('**', '^'),
  (text) => text.replaceAll(/(\d)\*(?!\*)/g, '$1'),
  (text) => text.replaceAll(/x/gi, (name) => (name === 'x' ? 'X' : 'x')),
  (text) => text.replaceAll(/(\d+)\*(x[*\d]*)\/(\d+)/gi, '($1/$3)*$2'),
  (text) => text.replaceAll(/(\d+)\*(x[*\d]*)\/(\d+)/gi, (_, top, power, bottom) => `${top / bottom}*${power}`),
  (text, pick) => text.replaceAll(/(\d+)\/(\d+)/g, (_, top, bottom) => (top / bottom).toFixed(pick([1, 2, 4, 12]))),
  (text) => text.replaceAll(/(\w+)\/(\d+)/g, '\\frac{$1}{$2}'),
  (text) => text.replaceAll(/(\d+)\*/g, '$1.0*'),
  (text) => text.replace(/exp\(([^()]*)\)/g, 'E**($1)'),
  (text) => text.replace(/\(([^()]*)\)\*\*\(3\/2\)/g, '($1)*sqrt($1)'),
  (text) => text.replace(/sqrt\(([^()]*)\)/g, '($1)**(1/2)'),
  (text) => text.replace(/(sin|cos)\(([^()]*)\)\*\*2/g, pickDoubleAngle),
  (text, pick) => Array.from({ length: pick([8, 20, 60]) }, () => text).join(pick([' + ', ' - '])), // up to 4,000 characters
  (text, pick) => text + Array.from({ length: pick([60, 200]) }, (_, k) => ` + x**${k + 2}/${k + 3}`).join(''),
  (text, pick) =>
    text.replace(' + C', pick(['', ' + c', ' + K', '+C', ' + C.', ' + constant', ' + pi', ' + C*x', ' + 1'])),
  (text, pick) =>
    text +
    pick([
      '*2',
      '/2',
      '*x',
      ' + x',
      ' dx',
      '**2',
      ' = F(x)',
      '; done',
      ' # C',
      '\n\nThis is the result.',
      ' is it',
      ' if C',
    ]),
  (text, pick) => pick(['F(x) = ', '∫ = ', '$', 'The integral is ', 'sum of ', '(', '-']) + text,
  (text) => `\\boxed{${text}}`,
  (text) => `$${text}$`,
  (text) => `<answer>${text}</answer>`,
  (text) => `${text} + 0*log(0)`,
  (text) => `${text} + sqrt(x**2) - x`,
  (text) => `exp(log(${text}))`,
  (text) => text.replaceAll('log(', 'log(abs('),
]

/** sin(u)**2 and cos(u)**2 but for a constant. */
function pickDoubleAngle(_: string, name: string, angle: string): string {
  return `(${name === 'sin' ? '-' : ''}cos(2*(${angle}))/2)`
}

export function generateAntiderivatives(right: string, other: string, count: number, random: () => number): string[] {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T // lists are not empty
  const answers = [right, other, pick(Object.values(MUTATIONS))(right)]
  while (answers.length < count) {
    let text = right
    for (let edits = pick([1, 1, 1, 2, 3]); edits > 0; edits--) text = pick(EDITS)(text, pick)
    answers.push(...listAnswerVariants(text)) // those that hardened scoring reads
  }
  return answers
}
