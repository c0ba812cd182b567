/** Random answers in the language of a task, made without looking at the question. */

type Random = () => number
/** One answer; equal random numbers make equal answers. */
type Grammar = (random: Random) => string

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T // lists are not empty
const upTo = (random: Random, most: number) => 1 + Math.floor(random() * most)
const many = <T>(random: Random, most: number, make: () => T) => Array.from({ length: upTo(random, most) }, make)
const moves =
  (words: readonly string[], most: number, between = ' '): Grammar =>
  (random) =>
    many(random, most, () => pick(random, words)).join(between)

const MOVES_OF_A_CUBE = [...'LRUDFB'].flatMap((face) => [face, `${face}'`])
const COLORS = ['red', 'blue', 'green']
const AT = ['0.5', '1.5', '2.5', '3.5']
const JUG_MOVES = [...'ABC'].flatMap((jug) => [
  `fill ${jug}`,
  `empty ${jug}`,
  ...[...'ABC'].filter((other) => other !== jug).map((other) => `pour ${jug}->${other}`),
])

export const GRAMMARS: Readonly<Record<string, Grammar>> = {
  boxnet: (random) => {
    const agent = () => `Agent[${pick(random, AT.slice(0, 2))}, ${pick(random, AT)}]`
    const action = () => {
      const color = pick(random, COLORS)
      const square = `square[${pick(random, AT.slice(0, 2))}, ${pick(random, AT)}]`
      return `move(box_${color}, ${random() < 0.7 ? `target_${color}` : square})`
    }
    return JSON.stringify(many(random, 6, () => ({ [agent()]: action() })))
  },
  coin_flip: (random) => `${upTo(random, 32)}/${2 ** upTo(random, 12)}`,
  complex_arithmetic: (random) => `${upTo(random, 20) - 10} + ${upTo(random, 20) - 10}i`,
  countdown: (random) => `0e0*(${upTo(random, 9)}+${upTo(random, 9)})+${upTo(random, 999)}e0`,
  graph_color: (random) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [String(i), upTo(random, 3)]))),
  jugs: (random) => JSON.stringify(many(random, 14, () => pick(random, JUG_MOVES))),
  knight_swap: (random) =>
    JSON.stringify(many(random, 3, () => `w,${pick(random, [...'ABCD'])}1,${pick(random, [...'ABCD'])}3`)),
  polynomial_equations: (random) => many(random, 3, () => ((random() - 0.5) * 4).toFixed(1)).join(', '),
  propositional_logic: formula,
  puzzle24: moves(['6*4*1*1', '24', '8*3', '+1-1', '*1', '(2+2)*6', '3*8*1*1', '6*4+1-1'], 2, ''),
  quantum_lock: moves(['A', 'B', 'C'], 8, ' → '),
  rubiks_cube: moves(MOVES_OF_A_CUBE, 8),
  rush_hour: moves(['A+1', 'A+2', 'A+3', 'B+1', 'B-1', 'C+1', 'C-1', 'D+1', 'E-1', 'F+1', 'G+1'], 4),
  shortest_path: moves(['right', 'down', 'left', 'up'], 5),
  sokoban: moves(['U', 'D', 'L', 'R'], 60, ''),
  time_intervals: (random) => `${upTo(random, 60) - 1} days, ${pick(random, ['00', '06', '12'])}:00:00`,
  tower_of_hanoi: (random) =>
    many(random, 7, () => `Move disk ${upTo(random, 3)} from Peg ${upTo(random, 3)} to Peg ${upTo(random, 3)}`).join(
      '\n',
    ),
}

/** Two or three variables of those that most questions have. */
function formula(random: Random): string {
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
export function anything(random: Random, pieces: readonly string[]): string {
  const part = () => (pieces.length > 0 && random() < 0.6 ? pick(random, pieces) : pick(random, ATOMS))
  return pick(random, FRAMES)(many(random, 4, part))
}
