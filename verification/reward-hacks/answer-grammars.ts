/** Random answers in the language of a task, made without looking at the question. */

type Random = () => number
/** One answer; equal random numbers make equal answers. */
type AnswerGrammar = (random: Random) => string

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T // lists are not empty
const integerUpTo = (random: Random, most: number) => 1 + Math.floor(random() * most)
const generateMany = <T>(random: Random, most: number, make: () => T) =>
  Array.from({ length: integerUpTo(random, most) }, make)
const createMoveGrammar =
  (words: readonly string[], most: number, between = ' '): AnswerGrammar =>
  (random) =>
    generateMany(random, most, () => pick(random, words)).join(between)

const CUBE_MOVES = [...'LRUDFB'].flatMap((face) => [face, `${face}'`])
const COLORS = ['red', 'blue', 'green']
const BOXNET_COORDINATES = ['0.5', '1.5', '2.5', '3.5']
const JUG_MOVES = [...'ABC'].flatMap((jug) => [
  `fill ${jug}`,
  `empty ${jug}`,
  ...[...'ABC'].filter((other) => other !== jug).map((other) => `pour ${jug}->${other}`),
])

export const ANSWER_GRAMMARS: Readonly<Record<string, AnswerGrammar>> = {
  boxnet: (random) => {
    const agent = () => `Agent[${pick(random, BOXNET_COORDINATES.slice(0, 2))}, ${pick(random, BOXNET_COORDINATES)}]`
    const action = () => {
      const color = pick(random, COLORS)
      const square = `square[${pick(random, BOXNET_COORDINATES.slice(0, 2))}, ${pick(random, BOXNET_COORDINATES)}]`
      return `move(box_${color}, ${random() < 0.7 ? `target_${color}` : square})`
    }
    return JSON.stringify(generateMany(random, 6, () => ({ [agent()]: action() })))
  },
  coin_flip: (random) => `${integerUpTo(random, 32)}/${2 ** integerUpTo(random, 12)}`,
  complex_arithmetic: (random) => `${integerUpTo(random, 20) - 10} + ${integerUpTo(random, 20) - 10}i`,
  countdown: (random) => `0e0*(${integerUpTo(random, 9)}+${integerUpTo(random, 9)})+${integerUpTo(random, 999)}e0`,
  graph_color: (random) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [String(i), integerUpTo(random, 3)]))),
  jugs: (random) => JSON.stringify(generateMany(random, 14, () => pick(random, JUG_MOVES))),
  knight_swap: (random) =>
    JSON.stringify(generateMany(random, 3, () => `w,${pick(random, [...'ABCD'])}1,${pick(random, [...'ABCD'])}3`)),
  polynomial_equations: (random) => generateMany(random, 3, () => ((random() - 0.5) * 4).toFixed(1)).join(', '),
  propositional_logic: generateFormula,
  puzzle24: createMoveGrammar(['6*4*1*1', '24', '8*3', '+1-1', '*1', '(2+2)*6', '3*8*1*1', '6*4+1-1'], 2, ''),
  quantum_lock: createMoveGrammar(['A', 'B', 'C'], 8, ' → '),
  rubiks_cube: createMoveGrammar(CUBE_MOVES, 8),
  rush_hour: createMoveGrammar(['A+1', 'A+2', 'A+3', 'B+1', 'B-1', 'C+1', 'C-1', 'D+1', 'E-1', 'F+1', 'G+1'], 4),
  shortest_path: createMoveGrammar(['right', 'down', 'left', 'up'], 5),
  sokoban: createMoveGrammar(['U', 'D', 'L', 'R'], 60, ''),
  time_intervals: (random) => `${integerUpTo(random, 60) - 1} days, ${pick(random, ['00', '06', '12'])}:00:00`,
  tower_of_hanoi: (random) =>
    generateMany(
      random,
      7,
      () => `Move disk ${integerUpTo(random, 3)} from Peg ${integerUpTo(random, 3)} to Peg ${integerUpTo(random, 3)}`,
    ).join('\n'),
}

/** Two or three variables of those that most questions have. */
function generateFormula(random: Random): string {
  const side = (depth: number): string => {
    if (depth === 0 || random() < 0.4) return `${random() < 0.4 ? '¬' : ''}${pick(random, ['P', 'Q'])}`
    return `(${side(depth - 1)} ${pick(random, ['∨', '∧', '→', '↔'])} ${side(depth - 1)})`
  }
  return side(2)
}

const ATOMS = ['0', '1', '2', '10', '-1', '1.0', 'True', 'False', 'yes', 'no', 'nan', 'inf', 'x', 'A', 'a', '']
const FRAMES: readonly ((parts: string[]) => string)[] = [
  (parts) => parts.join(' '),
  (parts) => parts.join(', '),
  (parts) => parts.join('\n'),
  (parts) => parts.join(''),
  (parts) => `[${parts.join(', ')}]`,
  (parts) => `[[${parts.join(', ')}]]`,
  (parts) => `{"${parts.join('": 1, "')}": 1}`,
  (parts) => `(${parts.join('+')})`,
  (parts) => `$${parts.join('/')}$`,
  (parts) => `\\boxed{${parts.join(' ')}}`,
  (parts) => `['${parts.join("', '")}']`,
]

/** Small values, words and pieces of other items' right answers in any of the usual frames. */
export function generateGenericAnswer(random: Random, pieces: readonly string[]): string {
  const part = () => (pieces.length > 0 && random() < 0.6 ? pick(random, pieces) : pick(random, ATOMS))
  return pick(random, FRAMES)(generateMany(random, 4, part))
}
