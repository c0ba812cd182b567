/** A right answer to an item: its own, or where any valid one counts the example that its metadata holds. */
import { z } from 'zod'
import type { KnownItem } from './knowledge.ts'

const Example = z.object({ example_correct_answer: z.string() }).transform((m) => m.example_correct_answer)
const Conclusion = z.object({ example_answer: z.string() }).transform((m) => m.example_answer)
const Coloring = z
  .object({ possible_answer: z.object({ $dict: z.array(z.tuple([z.number(), z.number()])) }) })
  .transform((m) => JSON.stringify(Object.fromEntries(m.possible_answer.$dict)))
const Known = z.union([Example, Conclusion, Coloring])

/** Undefined where no right answer is known: the model cannot do such an item. */
export function rightAnswer({ answer, metadata }: KnownItem): string | undefined {
  return answer ?? Known.safeParse(metadata).data
}
