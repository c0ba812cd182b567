/** Graphs, formulas, roles of islanders, and points of a Go board. */
import { type FormulaStep, FormulaTooDeepError, parseFormula } from '../formula.ts'
import { MAX_VARIABLES, TruthTableLogic } from '../hardened/propositional-logic.ts'
import { lower, strip } from '../python/text.ts'
import { isRecord, jsonAnswer, patternAnswer } from './forms.ts'
import {
  brokenRule,
  type Explainer,
  formatFault,
  QuestionError,
  quote,
  readPart,
  readQuestion,
  textAfter,
  type Violation,
} from './violation.ts'

export const graphColor: Explainer = (question) => {
  const vertices = readPart(question, /Vertices: \[([\d, ]*)\]/).split(', ')
  const edges = [...readPart(question, /Edges: \[(.*)\]/).matchAll(/\((\d+), (\d+)\)/g)]
  const colors = readPart(question, /Possible colors: \[([\d, ]*)\]/).split(', ')
  return jsonAnswer('a JSON map of vertices to colors', (value) =>
    isRecord(value) ? checkColoring(value, vertices, edges, colors) : 'other',
  )
}

function checkColoring(
  value: Record<string, unknown>,
  vertices: readonly string[],
  edges: readonly (readonly string[])[],
  colors: readonly string[],
): Violation | undefined {
  const colorOf = new Map(Object.entries(value).map(([vertex, color]) => [vertex, JSON.stringify(color)]))
  for (const vertex of vertices) {
    const color = colorOf.get(vertex)
    if (color === undefined) return brokenRule(`Vertex ${vertex} has no color.`)
    if (!colors.includes(color))
      return brokenRule(`Vertex ${vertex} has the color ${quote(color)}, which is not possible.`)
  }
  const conflict = edges.find(([, u, v]) => colorOf.get(u ?? '') === colorOf.get(v ?? ''))
  if (conflict === undefined) return undefined
  const [, u = '', v = ''] = conflict
  return brokenRule(`Vertices ${u} and ${v} are connected, and both have color ${colorOf.get(u)}.`)
}

const MAX_STEPS = 2000

export const propositionalLogic: Explainer = (question) => {
  const premises = [...textAfter(question, 'Given:').matchAll(/^\.?\d+\. (.+)$/gm)].map(([, premise = '']) => premise)
  const variables = [...new Set(premises.join().match(/[A-Z]/g) ?? [])].toSorted()
  if (premises.length === 0 || variables.length > MAX_VARIABLES) throw new QuestionError('no premises in the question')
  const logic = new TruthTableLogic(variables)
  const tables = premises.map((premise) => logic.evaluateParts(parseFormula(premise) ?? [])?.at(-1) ?? 0n)
  const known = tables.reduce((both, table) => both & table)
  return (answer) => {
    const conclusion = parseConclusion(strip(answer))
    if (conclusion === undefined)
      return formatFault(
        `One formula of letters, ∨, ∧, →, ↔, ¬ and brackets is needed, but the answer is ${quote(answer)}.`,
      )
    const strange = conclusion.find((step) => step.kind === 'variable' && !variables.includes(step.name))
    if (strange?.kind === 'variable') return brokenRule(`${quote(strange.name)} is in no premise.`)
    const against = known & ~(logic.evaluateParts(conclusion)?.at(-1) ?? 0n)
    if (against === 0n) return brokenRule('The conclusion follows, but it says nothing new or less than it could.')
    const row = (against & -against).toString(2).length - 1 // the first assignment, as bits of the variables
    const values = variables.map((name, i) => `${name} ${(row >> i) & 1 ? 'true' : 'false'}`).join(', ')
    return brokenRule(`The conclusion does not follow: with ${values}, all premises hold, and it does not.`)
  }
}

function parseConclusion(text: string): FormulaStep[] | undefined {
  if (!/^[A-Z∨∧→↔¬()\s]+$/.test(text)) return undefined
  try {
    const steps = parseFormula(text)
    const isWhole = steps?.every((step) => step.kind === 'operator' || /^[A-Z]$/.test(step.name))
    return isWhole && steps !== undefined && steps.length <= MAX_STEPS ? steps : undefined
  } catch (error) {
    if (error instanceof FormulaTooDeepError) return undefined
    throw error
  }
}

export const knightsKnaves: Explainer = (question) => {
  const names = readPart(question, /You meet \d+ inhabitants: (.*?)\. /).split(/, and |, /)
  const [honest = '', liar = ''] = readQuestion(question, /like: "\S+ is a (\w+)\/(\w+)/)
  return (answer) => {
    const text = lower(answer)
    for (const name of names) {
      const said = findRoles(text, lower(name))
      const [role] = said
      if (role === undefined)
        return formatFault(`The answer must say whether ${name} is ${withArticle(honest)} or ${withArticle(liar)}.`)
      if (role !== honest && role !== liar)
        return brokenRule(
          `${name} is called ${quote(role)}, but each inhabitant is ${withArticle(honest)} or ${withArticle(liar)}.`,
        )
      if (said.some((other) => other !== role))
        return brokenRule(`${name} cannot be both ${withArticle(honest)} and ${withArticle(liar)}.`)
    }
    return undefined
  }
}

function withArticle(role: string): string {
  return `${/^[aeiou]/.test(role) ? 'an' : 'a'} ${role}`
}

/** The words after “NAME is a”. */
function findRoles(text: string, name: string): string[] {
  const roles: string[] = []
  const phrase = `${name} is a`
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
    const [, role] = /^n? ([a-z]+)/.exec(text.slice(at + phrase.length, at + phrase.length + 40)) ?? []
    if (role !== undefined) roles.push(role)
  }
  return roles
}

export const tsumego: Explainer = (question) => {
  const lines = [...question.matchAll(/^ ?(\d+) ([.XO](?: [.XO])*)$/gm)]
  const rows = new Map(lines.map(([, number = '', cells = '']) => [number, cells.split(' ')]))
  if (rows.size === 0) throw new QuestionError('no board in the question')
  return patternAnswer(/^[A-Z]\d+$/, 'a point such as C4', (point) => {
    const cell = rows.get(String(Number(point.slice(1))))?.[point.charCodeAt(0) - 65]
    if (cell === undefined) return brokenRule(`${point} is not on the board.`)
    return cell === '.' ? undefined : brokenRule(`There is already a stone on ${point}.`)
  })
}
