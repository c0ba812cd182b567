/** Second opinions on sentences about moves: each plays the moves in its own way, up to the first one that cannot be made. */
import { runInNewContext } from 'node:vm'
import type { Checkers } from './feedback-checkers.ts'

const groupsOf = (pattern: RegExp, text: string) => pattern.exec(text)?.slice(1)

export const MOVE_CHECKERS: Checkers = {
  rush_hour: (answer, _metadata, text, { question }) => {
    const grid =
      question
        .split('Board:\n')[1]
        ?.trim()
        .split('\n')
        .map((row) => [...row]) ?? []
    const moves = answer.trim().split(/\s+/)
    const [move, free] = groupsOf(/^Move (\d+) \(.*the way is free for (\d+)/, text) ?? []
    for (const [i, one] of moves.entries()) {
      const places = grid.flatMap((row, y) => row.flatMap((label, x) => (label === one[0] ? [[y, x] as const] : [])))
      if (places.length === 0) return text.startsWith(`Move ${i + 1} (`) && text.includes('there is no car')
      const isLying = places[0]?.[0] === places[1]?.[0]
      const step = one[1] === '+' ? 1 : -1
      let [from, done] = [places, 0]
      for (; done < Number(one.slice(2)); done++) {
        const to = from.map(([y, x]) => (isLying ? ([y, x + step] as const) : ([y + step, x] as const)))
        if (to.some(([y, x]) => !`.${one[0]}`.includes(grid[y]?.[x] ?? 'x'))) break
        for (const [y, x] of from) (grid[y] as string[])[x] = '.'
        for (const [y, x] of to) (grid[y] as string[])[x] = one[0] ?? ''
        from = to
      }
      if (done < Number(one.slice(2))) return Number(move) === i + 1 && Number(free) === done
    }
    return text.startsWith('At the end') ? grid[2]?.[5] !== 'A' : undefined
  },
  sokoban: (answer, { gamestr }, text) => {
    const rows: string[][] = gamestr
      .trim()
      .split('\n')
      .map((line: string) => line.trim().split(' '))
    const steps: Record<string, [number, number]> = { U: [-1, 0], D: [1, 0], L: [0, -1], R: [0, 1] }
    const is = (y: number, x: number, kinds: string) => kinds.includes(rows[y]?.[x] ?? '+')
    let y = rows.findIndex((row) => row.includes('*') || row.includes('%'))
    let x = rows[y]?.findIndex((sign) => sign === '*' || sign === '%') ?? 0
    const [boxes, goals] = ['@$', 'X$%'].map(
      (kinds) => new Set(rows.flatMap((row, i) => row.flatMap((_, k) => (is(i, k, kinds) ? [`${i} ${k}`] : [])))),
    ) as [Set<string>, Set<string>]
    for (const [i, letter] of [...answer.trim()].entries()) {
      const [dy, dx] = steps[letter] ?? [0, 0]
      const [next, behind] = [`${y + dy} ${x + dx}`, `${y + 2 * dy} ${x + 2 * dx}`]
      const isStuck = boxes.has(next) && (boxes.has(behind) || is(y + 2 * dy, x + 2 * dx, '+'))
      if (is(y + dy, x + dx, '+') || isStuck) return text === `Move ${i + 1} (${letter}) is blocked.`
      if (boxes.delete(next)) boxes.add(behind)
      ;[y, x] = [y + dy, x + dx]
    }
    const [row, column] = groupsOf(/the box in row (\d+), column (\d+) is not on a goal/, text) ?? []
    const box = `${Number(row) - 1} ${Number(column) - 1}`
    return row === undefined ? undefined : boxes.has(box) && !goals.has(box)
  },
  quantum_lock: (answer, metadata, text) => {
    let [value, color] = [metadata.initial_value, metadata.initial_state]
    for (const [i, name] of answer.trim().split(/ ?→ ?/).entries()) {
      const button = metadata.buttons.find((one: { name: string }) => one.name === name)
      if (button.active_state !== 'any' && button.active_state !== color)
        return text.startsWith(`Press ${i + 1} (${name}) does nothing`) && text.includes(`light is ${color}`)
      value = { add: value + button.value, subtract: value - button.value, multiply: value * button.value }[
        button.type as 'add'
      ]
      color = color === 'red' ? 'green' : 'red'
    }
    const hits = value === metadata.target_value
    return hits === text.startsWith('The presses reach') && (hits || text.startsWith(`The presses end at ${value},`))
  },
  jugs: (answer, { puzzle }, text) => {
    const held: number[] = puzzle.jug_capacities.map(() => 0)
    for (const move of JSON.parse(answer) as string[]) {
      const [from = 0, to = 0] = (move.match(/\b[A-Z]\b/g) ?? []).map((jug) => jug.charCodeAt(0) - 65)
      if (move.startsWith('fill')) held[from] = puzzle.jug_capacities[from]
      else if (move.startsWith('empty')) held[from] = 0
      else
        for (; from !== to && (held[from] ?? 0) > 0 && (held[to] ?? 0) < puzzle.jug_capacities[to]; ) {
          held[from] = (held[from] ?? 0) - 1
          held[to] = (held[to] ?? 0) + 1
        }
    }
    const levels = held.map((level, k) => `${String.fromCharCode(65 + k)}: ${level}`).join(', ')
    return text.startsWith('At the end') ? text.includes(`(${levels})`) && !held.includes(puzzle.target) : undefined
  },
  path_star: (answer, { center, goal }, text, { question }) => {
    const nodes = answer.trim().split(/\s+/)
    const [start, found] = groupsOf(/^The path must start at (\d+), but it starts at (\d+)/, text) ?? []
    if (start !== undefined) return Number(start) === center && nodes[0] === found && found !== start
    const [end, last] = groupsOf(/^The path must end at (\d+), but it ends at (\d+)/, text) ?? []
    if (end !== undefined) return Number(end) === goal && nodes.at(-1) === last && last !== end
    const [a, b] = groupsOf(/^There is no edge from (\d+) to (\d+)/, text) ?? []
    return ` ${nodes.join(' ')} `.includes(` ${a} ${b} `) && !new RegExp(`[|]${a} ${b}[|/]`).test(question)
  },
  boxnet: (answer, { initial_state }, text) => {
    const [box] = groupsOf(/^At the end, (box_\w+) is not matched/, text) ?? []
    const all = Object.values(initial_state as Record<string, string[]>).flat()
    return box === undefined ? undefined : answer.split(`(${box},`).length - 1 < all.length && all.includes(box)
  },
  propositional_logic: (answer, { premises }, text) => {
    const [row] = groupsOf(/^The conclusion does not follow: with (.*), all premises hold/, text) ?? []
    if (row === undefined) return undefined
    const values = Object.fromEntries(row.split(', ').map((part) => [part.split(' ')[0], part.endsWith('true')]))
    const operators: Record<string, string> = { '∧': '&&', '∨': '||', '¬': '!', '↔': '===', '→': '<=' }
    const isTrue = (formula: string) =>
      Boolean(
        runInNewContext(
          formula.replaceAll(/[∧∨¬↔→]/g, (sign) => operators[sign] ?? ''),
          values,
        ),
      )
    return premises.every(isTrue) && (/^\(?¬?[A-Z]( [∧∨→↔] ¬?[A-Z])?\)?$/.test(answer) ? !isTrue(answer) : true)
  },
}
