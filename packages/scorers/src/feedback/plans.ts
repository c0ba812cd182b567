/** Plans of actions: jugs, a quantum lock, agents with boxes, turns of a cube and a word ladder. */
import { AGENT_PATTERN, DELIVERY_PATTERN, SHIFT_PATTERN } from '../hardened/plans.ts'
import { countChangedLetters, getLadderWords } from '../moves.ts'
import { codePointLength, splitWhitespace, strip } from '../python/text.ts'
import { isRecord, isTextList, jsonAnswer } from './forms.ts'
import {
  brokenRule,
  type Explainer,
  findMisfit,
  formatFault,
  QuestionError,
  quote,
  readPart,
  readQuestion,
  type Violation,
} from './violation.ts'

const JUG_MOVE = /^(?:(fill|empty) ([A-Z])|pour ([A-Z])->([A-Z]))$/

export const jugs: Explainer = (question) => {
  const capacities = new Map(
    readPart(question, /this many litres of water: (.*)/)
      .split(', ')
      .map((part): [string, number] => [part.split(':')[0] ?? '', Number(part.split(':')[1])]),
  )
  const target = Number(readPart(question, /target is: (\d+) litres/))
  return jsonAnswer('a JSON list of moves such as ["fill A", "pour A->B"]', (value) =>
    isTextList(value) ? checkJugMoves(value, capacities, target) : 'other',
  )
}

function checkJugMoves(moves: readonly string[], capacities: ReadonlyMap<string, number>, target: number) {
  const levels = new Map([...capacities.keys()].map((jug) => [jug, 0]))
  for (const [i, move] of moves.entries()) {
    const [found, deed, jug = '', from = '', to = ''] = JUG_MOVE.exec(strip(move)) ?? []
    if (found === undefined)
      return formatFault(
        `Each move must be like "fill A", "empty B" or "pour A->B", but move ${i + 1} is ${quote(move)}.`,
        { move: i + 1 },
      )
    const unknown = (deed === undefined ? [from, to] : [jug]).find((name) => !capacities.has(name))
    if (unknown !== undefined)
      return brokenRule(`Move ${i + 1} (${move}): there is no jug ${unknown}.`, { move: i + 1 })
    if (deed !== undefined) levels.set(jug, deed === 'fill' ? (capacities.get(jug) ?? 0) : 0)
    else pour(levels, capacities, from, to)
  }
  if ([...levels.values()].includes(target)) return undefined
  const held = [...levels].map(([jug, level]) => `${jug}: ${level}`).join(', ')
  return brokenRule(`At the end, no jug holds ${target} litres (${held}).`)
}

function pour(levels: Map<string, number>, capacities: ReadonlyMap<string, number>, from: string, to: string): void {
  const [source, dest] = [levels.get(from) ?? 0, levels.get(to) ?? 0]
  const amount = Math.min(source, (capacities.get(to) ?? 0) - dest)
  levels.set(from, source - amount)
  levels.set(to, (levels.get(to) ?? 0) + amount)
}

interface Button {
  operation: string
  value: number
  color: string
}

export const quantumLock: Explainer = (question) => {
  const [start = '', light = ''] = readQuestion(question, /Start: (-?\d+) \((red|green)\)/)
  const target = Number(readPart(question, /Target: (-?\d+)/))
  const buttons = new Map(
    [...question.matchAll(/^([A-Z]): (Add|Subtract|Multiply)(?: by)? (\d+) \(when (red|green|any)\)$/gm)].map(
      ([, name = '', operation = '', value, color = '']): [string, Button] => [
        name,
        { operation, value: Number(value), color },
      ],
    ),
  )
  if (buttons.size === 0) throw new QuestionError('no buttons in the question')
  return (answer) => {
    const presses = strip(answer).split(/ ?→ ?/)
    const form = 'The answer must be buttons with → between them'
    return (
      findMisfit(presses, (press) => buttons.has(press), form, 'press', 'move') ??
      pressButtons(presses, buttons, { value: Number(start), light }, target)
    )
  }
}

function pressButtons(
  presses: readonly string[],
  buttons: ReadonlyMap<string, Button>,
  start: { value: number; light: string },
  target: number,
): Violation {
  let { value, light } = start
  for (const [i, press] of presses.entries()) {
    const { operation, value: by, color } = buttons.get(press) ?? { operation: '', value: 0, color: 'any' }
    if (color !== 'any' && color !== light)
      return brokenRule(`Press ${i + 1} (${press}) does nothing to the number, because the light is ${light} then.`, {
        move: i + 1,
      })
    if (operation === 'Add') value += by
    else if (operation === 'Subtract') value -= by
    else value *= by
    light = light === 'red' ? 'green' : 'red'
  }
  return value === target
    ? brokenRule('The presses reach the target, but their number is not the smallest.')
    : brokenRule(`The presses end at ${value}, and the target is ${target}.`)
}

const BOXNET_FORM = 'a JSON list of steps such as [{"Agent[0.5, 0.5]": "move(box_red, target_red)"}]'

type Squares = Map<string, string[]>

export const boxnet: Explainer = (question) => {
  const seen = [...question.matchAll(/I am in square\[([\d.]+), ([\d.]+)\], I can observe \[(.*?)\], I can do/g)]
  const start = seen.map(([, x = '', y = '', items = '']): [string, string[]] => [
    `${x}_${y}`,
    items.match(/\w+/g) ?? [],
  ])
  if (start.length === 0) throw new QuestionError('no squares in the question')
  return jsonAnswer(BOXNET_FORM, (value) => (Array.isArray(value) ? checkSteps(value, start) : 'other'))
}

function checkSteps(steps: readonly unknown[], start: [string, string[]][]): Violation | 'other' | undefined {
  const squares: Squares = new Map(start.map(([square, items]) => [square, [...items]]))
  for (const [i, step] of steps.entries()) {
    if (!isRecord(step)) return 'other'
    for (const [agent, action] of Object.entries(step)) {
      if (typeof action !== 'string') return 'other'
      const fault = act(squares, agent, action)
      if (fault) return { ...fault, text: `Step ${i + 1}, ${agent}: ${fault.text}`, where: { move: i + 1 } }
    }
  }
  const left = [...squares.values()].flat().find((item) => item.startsWith('box_'))
  return left === undefined ? undefined : brokenRule(`At the end, ${left} is not matched to its target.`)
}

function act(squares: Squares, agent: string, action: string): Violation | undefined {
  const [isAgent, x = '', y = ''] = AGENT_PATTERN.exec(agent) ?? []
  if (isAgent === undefined) return formatFault('the key must be like Agent[0.5, 0.5].')
  const here = squares.get(`${x}_${y}`)
  if (here === undefined) return brokenRule('there is no such agent.')
  const [delivers, color = '', target] = DELIVERY_PATTERN.exec(action) ?? []
  const [shifts, item = '', toX = '', toY = ''] = SHIFT_PATTERN.exec(action) ?? []
  if (delivers === undefined && shifts === undefined)
    return formatFault(
      `the action must be like move(box_red, target_red) or move(box_red, square[0.5, 1.5]), but it is ${quote(action)}.`,
    )
  const box = delivers === undefined ? item : `box_${color}`
  if (!here.includes(box)) return brokenRule(`its square has no ${box} then.`)
  if (delivers !== undefined) {
    if (target !== color || !here.includes(`target_${color}`)) return brokenRule(`its square has no target for ${box}.`)
    for (const gone of [box, `target_${color}`]) here.splice(here.indexOf(gone), 1)
    return undefined
  }
  const there = squares.get(`${toX}_${toY}`)
  if (there === undefined || Math.abs(Number(x) - Number(toX)) + Math.abs(Number(y) - Number(toY)) !== 1)
    return brokenRule(`square[${toX}, ${toY}] is not an adjacent square.`)
  here.splice(here.indexOf(box), 1)
  there.push(box)
  return undefined
}

const TURN = /^(?:[LRUDFB]w?|[XYZMES])'?$/

/** Without the scramble, which only the server knows, the turns can be read but not tried. */
export const rubiksCube: Explainer = () => (answer) => {
  const form = "Each move must be a single turn in Singmaster notation, such as R or U'"
  return (
    findMisfit(splitWhitespace(answer), (turn) => TURN.test(turn), form, 'move', 'move') ??
    brokenRule('The cube is not solved after these moves.')
  )
}

export const wordLadder: Explainer = (question) => {
  const [start = '', end = ''] = readQuestion(question, /word ladder '([A-Z]+)' to '([A-Z]+)'/)
  const length = codePointLength(end)
  return (answer) => {
    const words = strip(answer).split(',')
    const form = 'The answer must be uppercase words with commas and no spaces between them'
    const misfit = findMisfit(words, (word) => /^[A-Z]+$/.test(word), form, 'word')
    if (misfit) return misfit
    if (words[0] !== start)
      return brokenRule(`The ladder must start with ${start}, but it starts with ${words[0]}.`, { item: 1 })
    for (const [i, word] of words.entries()) {
      const before = words[i - 1] ?? word
      const where = { item: i + 1 }
      if (word.length !== length) return brokenRule(`${quote(word)} does not have ${length} letters.`, where)
      if (i > 0 && countChangedLetters(before, word) !== 1)
        return brokenRule(`${quote(before)} and ${quote(word)} do not differ in exactly one letter.`, where)
      if (!getLadderWords(length).has(word))
        return brokenRule(`${quote(word)} is not in the list of English words.`, where)
    }
    return words.at(-1) === end
      ? undefined
      : brokenRule(`The ladder must end with ${end}, but it ends with ${words.at(-1)}.`)
  }
}
