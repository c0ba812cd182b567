/** advanced_geometry and simple_geometry: decimals rounded as the question says, and polygons that are not convex. */
import { z } from 'zod'
import { TypedFloat } from '../numbers.ts'
import type { Fraction } from '../python/numbers.ts'
import type { Correction } from './correction.ts'
import { add, divide, isMultipleOfPlace, isRounded, multiply, powerOfTen, readDecimal } from './rounding.ts'

type Point = readonly [x: bigint, y: bigint]

const Kind = z.enum(['angle_measure', 'incircle_radius', 'orthocenter'])
type Kind = z.infer<typeof Kind>
const Metadata = z.looseObject({ task_type: Kind })

const POINT_PATTERN = /[ABC]=\((-?\d+), (-?\d+)\)/g
const DEGREE_SIGN_PATTERN = / ?(?:°|\^\\circ|\^\{\\circ\})$/
const COORDINATES_PATTERN = /^(?:\(([^(),]*),([^(),]*)\)|([^(),]*),([^(),]*))$/
/** The digits of a double that count here. */
const DOUBLE_PLACES = 12

export const advancedGeometry: Correction = {
  reason: 'Three decimals are asked for, but the key of an angle has two, and decimals that are not rounded are paid.',
  decide({ entry }) {
    const kind = Metadata.parse(entry.metadata).task_type
    const wanted = measure(kind, entry.question)
    return (answer) => {
      if (wanted === undefined) return undefined
      const given = readNumbers(kind, answer)
      const isRight = given.length === wanted.length && given.every((text, k) => isMeasure(kind, text, wanted[k]))
      return isRight || (kind === 'incircle_radius' ? undefined : false) // two places of a radius are worth a half
    }
  },
}

export const simpleGeometry: Correction = {
  reason: 'The last angle often has 180 degrees or more, which no convex polygon has.',
  hasRightAnswer({ metadata }) {
    const { missing_angle_raw: angle } = z.looseObject({ missing_angle_raw: TypedFloat }).parse(metadata)
    return angle > 0 && angle < 180
  },
}

function readNumbers(kind: Kind, answer: string): string[] {
  if (kind === 'angle_measure') return [answer.replace(DEGREE_SIGN_PATTERN, '')]
  if (kind === 'incircle_radius') return [answer]
  const [, ...parts] = COORDINATES_PATTERN.exec(answer) ?? []
  return parts.filter((part) => part !== undefined).map((part) => part.trim())
}

/** Three places are asked for; of an angle the key has two. */
function isMeasure(kind: Kind, text: string, wanted: Fraction | undefined): boolean {
  const read = readDecimal(text)
  if (read === undefined || wanted === undefined) return false
  const isExact = isMultipleOfPlace(read.value, -3) && isRounded({ ...read, lastPlace: -3 }, wanted)
  const isKey = kind === 'angle_measure' && read.lastPlace >= -2 && isRounded({ ...read, lastPlace: -2 }, wanted)
  return isExact || isKey
}

/** Undefined where the question has no three points. */
function measure(kind: Kind, question: string): Fraction[] | undefined {
  const points = [...question.matchAll(POINT_PATTERN)].map(([, x = '', y = '']): Point => [BigInt(x), BigInt(y)])
  const [a, b, c] = points
  if (a === undefined || b === undefined || c === undefined) return undefined
  if (kind === 'orthocenter') return findOrthocenter(a, b, c)
  const [toA, toC] = [subtract(a, b), subtract(c, b)]
  const doubleArea = Math.abs(Number(cross(toA, toC)))
  if (kind === 'angle_measure') return [toFraction((Math.atan2(doubleArea, Number(dot(toA, toC))) * 180) / Math.PI)]
  return [toFraction(doubleArea / (getLength(toA) + getLength(toC) + getLength(subtract(c, a))))]
}

/** On the altitude through A, as far along it as the altitude through B crosses it. */
function findOrthocenter(a: Point, b: Point, c: Point): Fraction[] {
  const [base, side] = [subtract(c, b), subtract(c, a)]
  const altitude: Point = [-base[1], base[0]]
  const share = divide(toRatio(dot(subtract(b, a), side)), toRatio(dot(altitude, side)))
  return [
    add(toRatio(a[0]), multiply(share, toRatio(altitude[0]))),
    add(toRatio(a[1]), multiply(share, toRatio(altitude[1]))),
  ]
}

function subtract(a: Point, b: Point): Point {
  return [a[0] - b[0], a[1] - b[1]]
}

function dot(a: Point, b: Point): bigint {
  return a[0] * b[0] + a[1] * b[1]
}

function cross(a: Point, b: Point): bigint {
  return a[0] * b[1] - a[1] * b[0]
}

function getLength([x, y]: Point): number {
  return Math.hypot(Number(x), Number(y))
}

function toRatio(x: bigint): Fraction {
  return { numerator: x, denominator: 1n }
}

function toFraction(x: number): Fraction {
  return { numerator: BigInt(Math.round(x * 10 ** DOUBLE_PLACES)), denominator: powerOfTen(DOUBLE_PLACES).numerator }
}
