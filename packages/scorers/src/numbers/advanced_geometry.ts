/** An angle, a point or a radius, equal when rounded. Rule of `reasoning_gym/geometry/advanced_geometry.py`. */
import { z } from 'zod'
import { PyValueError, parseFloat64, parseInteger, ratioToFloat } from '../python/numbers.ts'
import { strip } from '../python/text.ts'
import { defineScorer, requireOracleAnswer } from '../scorer.ts'
import { typedPair } from './typed-schemas.ts'

const GeometryMetadata = z.discriminatedUnion('task_type', [
  z.looseObject({ task_type: z.literal('angle_measure') }),
  z.looseObject({ task_type: z.literal('orthocenter'), ortho: typedPair(z.string()) }),
  z.looseObject({ task_type: z.literal('incircle_radius'), incircle_radius_exact: z.string() }),
])
type GeometryMetadata = z.infer<typeof GeometryMetadata>

export const advancedGeometry = defineScorer<GeometryMetadata>({
  metadata: GeometryMetadata,
  score(answer, entry) {
    try {
      return scoreByTaskType(answer, requireOracleAnswer(entry), entry.metadata)
    } catch (error) {
      if (error instanceof PyValueError) return 0.01
      throw error
    }
  },
})

function scoreByTaskType(answer: string, oracle: string, metadata: GeometryMetadata): number {
  switch (metadata.task_type) {
    case 'angle_measure':
      return roundHalfEven(parseDegrees(answer), 2) === roundHalfEven(parseDegrees(oracle), 2) ? 1 : 0.05
    case 'orthocenter': {
      const [x, y] = parsePoint(answer)
      const [wantedX, wantedY] = metadata.ortho.map(parseRational)
      return isNear(x, wantedX) && isNear(y, wantedY) ? 1 : 0.01
    }
    case 'incircle_radius':
      if (answer === oracle) return 1
      // Most exact radii are roots, which are no float: the library then ends at 0.01, however near the answer.
      return roundHalfEven(parseFloat64(answer), 2) === roundHalfEven(parseFloat64(metadata.incircle_radius_exact), 2)
        ? 0.5
        : 0.05
  }
}

function parseDegrees(text: string): number {
  return parseFloat64(text.replaceAll('°', ''))
}

function parsePoint(text: string): [number, number] {
  const [first = '', second] = text.split(',', 2)
  const x = parseFloat64(strip(first.replaceAll('(', '')))
  if (second === undefined) throw new PyValueError('no second coordinate')
  return [x, parseFloat64(strip(second.replaceAll(')', '')))]
}

function parseRational(text: string): number {
  const [numerator = '', denominator] = text.split('/')
  if (denominator === undefined) return parseFloat64(numerator)
  return ratioToFloat(parseInteger(numerator), parseInteger(denominator))
}

function isNear(a: number, b: number | undefined): boolean {
  return b !== undefined && (a === b || roundHalfEven(a, 3) === roundHalfEven(b, 3))
}

/** numpy's `round`: scaled, rounded half-even, scaled back; not Python's own. */
function roundHalfEven(x: number, places: number): number {
  const scale = 10 ** places
  const scaled = x * scale
  const floor = Math.floor(scaled)
  const rest = scaled - floor
  const up = rest > 0.5 || (rest === 0.5 && floor % 2 !== 0)
  return (up ? floor + 1 : floor) / scale
}
