/** Correct and wrong answers to an item. A correct answer comes from the item, its metadata, or a solver. */

import { findNovelConclusion } from '@reasoning-gym-server/scorers/hardened/propositional-conclusion'
import { z } from 'zod'
import type { KnownItem } from './item-lookup.ts'
import { solveBoxnet } from './solvers/boxnet.ts'
import { invertScramble } from './solvers/rubiks-cube.ts'
import { solveRushHour } from './solvers/rush-hour.ts'

/** A wrong answer for every task. It earns 0 in most tasks, and less than 1 wherever an answer can. */
export const WRONG_ANSWER = 'I am not sure'

/** Tasks whose items have no reference answer, and how to derive one from the metadata. */
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

/** Returns a correct answer, or undefined if none is known. The model answers such an item wrong. */
export function getCorrectAnswer({
  task,
  answer,
  metadata,
}: Pick<KnownItem, 'task' | 'answer' | 'metadata'>): string | undefined {
  return answer ?? METADATA_ANSWER_SCHEMAS[task]?.safeParse(metadata).data
}

/** Upstream scoring gives a bare variable 0.25, hardened scoring 1. Written twice, it earns 1 in both. */
function concludeUnderBothScorings(metadata: { example_answer: string }): string | undefined {
  const conclusion = findNovelConclusion({ answer: null, metadata })
  return conclusion?.length === 1 ? `(${conclusion} ∧ ${conclusion})` : conclusion
}
