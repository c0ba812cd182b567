/** Curricula as a picture: a panel for each, with a line for each task: difficulty over the groups that moved it. */
import type { CurriculumPoint } from '@reasoning-gym-server/contract/run'

const WIDTH = 960
const HEIGHT = 380
const MARGIN = { top: 64, right: 150, bottom: 44, left: 52 }
const GAP = 36
const COLORS = ['#4269d0', '#c98500', '#d1495b', '#2a9d8f', '#6f4e9c', '#7a6a53', '#3c7d22', '#b5479d']

export interface CurriculumPanel {
  title: string
  points: CurriculumPoint[]
}

/** Where a panel lies, and how groups and difficulties lie in it. */
interface Frame {
  left: number
  right: number
  x: (group: number) => number
}

/** `aims`: where each task should settle. */
export function renderCurriculumSvg(panels: CurriculumPanel[], aims: Record<string, number>, title: string): string {
  const tasks = Object.keys(aims).toSorted()
  const colorOf = (task: string) => COLORS[tasks.indexOf(task) % COLORS.length] ?? '#777'
  const frames = panels.map((panel, k) => placePanel(panel, k, panels.length))
  const last = panels.at(-1)
  const labels = tasks.map((task) => y(last?.points.findLast((point) => point.task === task)?.difficulty ?? 0))
  const heights = spreadLabels(labels)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${MARGIN.left}" y="24" font-size="14" fill="#333">${title}</text>`,
    ...panels.flatMap((panel, k) => drawPanel(panel, frames[k], aims, colorOf)),
    ...[0, 0.25, 0.5, 0.75, 1].map(
      (value) => `<text x="${MARGIN.left - 8}" y="${y(value) + 4}" text-anchor="end" fill="#777">${value}</text>`,
    ),
    ...tasks.map((task, k) => {
      const height = ((heights[k] ?? 0) + 4).toFixed(1)
      return `<text x="${WIDTH - MARGIN.right + 10}" y="${height}" fill="${colorOf(task)}">${task}</text>`
    }),
    `<text x="${MARGIN.left}" y="${HEIGHT - 12}" fill="#777">groups of the task →</text>`,
    `<text x="14" y="${MARGIN.top - 12}" fill="#777">difficulty</text>`,
    '</svg>\n',
  ].join('\n')
}

function placePanel({ points }: CurriculumPanel, k: number, count: number): Frame {
  const width = (WIDTH - MARGIN.left - MARGIN.right - GAP * (count - 1)) / count
  const left = MARGIN.left + k * (width + GAP)
  const longest = Math.max(1, ...[...Map.groupBy(points, ({ task }) => task).values()].map((list) => list.length))
  return { left, right: left + width, x: (group) => left + (group / longest) * width }
}

function drawPanel(
  { title, points }: CurriculumPanel,
  frame: Frame | undefined,
  aims: Record<string, number>,
  colorOf: (task: string) => string,
): string[] {
  if (!frame) return []
  const { left, right, x } = frame
  const across = `M${left.toFixed(1)} `
  return [
    `<text x="${((left + right) / 2).toFixed(1)}" y="${MARGIN.top - 12}" text-anchor="middle" fill="#333">${title}</text>`,
    ...[0, 0.25, 0.5, 0.75, 1].map(
      (value) => `<path d="${across}${y(value)}H${right.toFixed(1)}" stroke="#8886" stroke-width="1"/>`,
    ),
    ...[...Map.groupBy(points, ({ task }) => task)].flatMap(([task, list]) => {
      const path = list.map(
        ({ difficulty }, n) => `${n === 0 ? 'M' : 'L'}${x(n + 1).toFixed(1)} ${y(difficulty).toFixed(1)}`,
      )
      const aim = `${across}${y(aims[task] ?? 0).toFixed(1)}H${right.toFixed(1)}`
      return [
        `<path d="${path.join('')}" fill="none" stroke="${colorOf(task)}" stroke-width="2"/>`,
        `<path d="${aim}" stroke="${colorOf(task)}" stroke-dasharray="2 5" opacity="0.7"/>`,
      ]
    }),
  ]
}

function y(difficulty: number): number {
  return MARGIN.top + (1 - difficulty) * (HEIGHT - MARGIN.top - MARGIN.bottom)
}

/** Moves labels apart where they would lie on one another. */
function spreadLabels(heights: number[], apart = 15): number[] {
  const order = [...heights.keys()].toSorted((a, b) => (heights[a] ?? 0) - (heights[b] ?? 0))
  const moved: number[] = []
  let last = Number.NEGATIVE_INFINITY
  for (const k of order) {
    last = Math.max(heights[k] ?? 0, last + apart)
    moved[k] = last
  }
  return moved
}
