/** Right and wrong answers to an item: its own, or where any valid one counts an example of its metadata, or one found. */
import { z } from 'zod'
import { findNovelConclusion } from '../scorers/hardened/propositional-conclusion.ts'
import type { KnownItem } from './item-lookup.ts'
import { solveBoxnet } from './solvers/boxnet.ts'
import { invertScramble } from './solvers/rubiks-cube.ts'
import { solveRushHour } from './solvers/rush-hour.ts'

/** Earns less than full marks wherever an answer can; in most tasks nothing. */
export const WRONG_ANSWER = 'I am not sure'

/** Tasks whose items have no answer of their own, and how one is read from their metadata. */
const METADATA_ANSWER_SCHEMAS: Record<string, z.ZodType<string | undefined>> = {
  propositional_logic: z
    .looseObject({ example_answer: z.string() })
    .transform((metadata) => concludeUnderBothScorings(metadata) ?? metadata.example_answer),
  graph_color: z
    .object({ possible_answer: z.object({ $dict: z.array(z.tuple([z.number(), z.number()])) }) })
    .transform((m) => JSON.stringify(Object.fromEntries(m.possible_answer.$dict))),
  rubiks_cube: z.object({ scramble_moves: z.string() }).transform((m) => invertScramble(m.scramble_moves)),
  rush_hour: z.object({ board_config: z.string() }).transform((m) => solveRushHour(m.board_config)),
  boxnet: z
    .object({ initial_state: z.record(z.string(), z.array(z.string())) })
    .transform((m) => solveBoxnet(m.initial_state)),
}

/** Undefined where no right answer is known: the model cannot do such an item. */
export function getCorrectAnswer({
  task,
  answer,
  metadata,
}: Pick<KnownItem, 'task' | 'answer' | 'metadata'>): string | undefined {
  return answer ?? METADATA_ANSWER_SCHEMAS[task]?.safeParse(metadata).data
}

/** The library pays a bare variable a quarter, and hardened scoring all of it; written twice it is worth all to both. */
function concludeUnderBothScorings(metadata: { example_answer: string }): string | undefined {
  const conclusion = findNovelConclusion({ answer: null, metadata })
  return conclusion?.length === 1 ? `(${conclusion} ∧ ${conclusion})` : conclusion
}
