/** graph_color: an answer colors each vertex once, and nothing else. */
import { z } from 'zod'
import type { Correction } from './correction.ts'

const Metadata = z.looseObject({ puzzle: z.looseObject({ vertices: z.array(z.int()) }) })
const Coloring = z.record(z.string(), z.int())

export const graphColor: Correction = {
  reason: 'A list, a color `true`, a vertex that the graph lacks and a vertex with two colors are let pass.',
  decide: ({ entry }) => {
    const { vertices } = Metadata.parse(entry.metadata).puzzle
    return (answer) => {
      const coloring = parse(answer)
      // A name that comes twice is one in the parsed object, but has two colons.
      const hasOneEach =
        answer.split(':').length - 1 === vertices.length && Object.keys(coloring).length === vertices.length
      return hasOneEach && vertices.every((vertex) => Object.hasOwn(coloring, vertex)) ? undefined : false
    }
  },
}

function parse(answer: string): Record<string, number> {
  try {
    return Coloring.safeParse(JSON.parse(answer)).data ?? {}
  } catch {
    return {}
  }
}
