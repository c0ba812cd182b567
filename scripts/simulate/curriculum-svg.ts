/** A curriculum as a picture: a line for each task, difficulty over the groups that moved it. */
import type { CurriculumPoint } from '../../src/contract/run.ts'

const WIDTH = 860
const HEIGHT = 380
const MARGIN = { top: 44, right: 190, bottom: 44, left: 52 }
const COLORS = ['#4269d0', '#c98500', '#d1495b', '#2a9d8f', '#6f4e9c', '#7a6a53', '#3c7d22', '#b5479d']

/** `aims`: where each task should settle. */
export function renderCurriculumSvg(points: CurriculumPoint[], aims: Record<string, number>, title: string): string {
  const lines = [...Map.groupBy(points, ({ task }) => task)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const longest = Math.max(...lines.map(([, list]) => list.length))
  const x = (k: number) => MARGIN.left + (k / longest) * (WIDTH - MARGIN.left - MARGIN.right)
  const y = (difficulty: number) => MARGIN.top + (1 - difficulty) * (HEIGHT - MARGIN.top - MARGIN.bottom)
  const ends = spreadLabels(lines.map(([, list]) => y(list.at(-1)?.difficulty ?? 0)))
  const drawn = lines.map(([task, list], k) => {
    const colour = COLORS[k % COLORS.length]
    const path = list.map(
      ({ difficulty }, n) => `${n === 0 ? 'M' : 'L'}${x(n + 1).toFixed(1)} ${y(difficulty).toFixed(1)}`,
    )
    const aim = y(aims[task] ?? 0).toFixed(1)
    return [
      `<path d="${path.join('')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      `<path d="M${x(0)} ${aim}H${x(longest).toFixed(1)}" stroke="${colour}" stroke-dasharray="2 5" opacity="0.7"/>`,
      `<text x="${x(longest) + 10}" y="${((ends[k] ?? 0) + 4).toFixed(1)}" fill="${colour}">${task}</text>`,
    ].join('\n')
  })
  const rules = [0, 0.25, 0.5, 0.75, 1].map(
    (value) =>
      `<path d="M${MARGIN.left} ${y(value)}H${x(longest).toFixed(1)}" stroke="#8886" stroke-width="1"/>` +
      `<text x="${MARGIN.left - 8}" y="${y(value) + 4}" text-anchor="end" fill="#777">${value}</text>`,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${MARGIN.left}" y="24" font-size="14" fill="#333">${title}</text>`,
    ...rules,
    ...drawn,
    `<text x="${MARGIN.left}" y="${HEIGHT - 12}" fill="#777">groups of a task →</text>`,
    `<text x="14" y="${MARGIN.top - 8}" fill="#777">difficulty</text>`,
    '</svg>\n',
  ].join('\n')
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
