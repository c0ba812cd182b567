/** Draws curves of learners: `node verification/learner/picture.ts CURVES.jsonl > docs/pictures/learning.svg`. */

import { readFileSync } from 'node:fs'
import type { CurvePoint } from './summary.ts'

const SHOWN: Readonly<Record<string, [color: string, label: string]>> = {
  clean: ['#0072b2', 'clean'],
  original: ['#d55e00', 'original'],
  'plain, staircase': ['#009e73', 'loop, staircase'],
  'plain, RLVE': ['#cc79a7', 'loop, rule of RLVE'],
  'plain, defaults': ['#888888', 'loop, library’s defaults'],
}
const PANEL = { width: 330, height: 210, top: 46, left: 52, gap: 72 }

interface Panel {
  title: string
  getValue: (point: CurvePoint) => number
}
/** Where no arm cheats, each panel is a task. */
const PANELS: Panel[] = [
  { title: 'held-out answers that are right', getValue: ({ accuracy }) => accuracy },
  { title: 'paid by the library, but not right', getValue: ({ accuracy, paid }) => paid - accuracy },
]

const lines = readFileSync(process.argv[2] ?? '', 'utf8')
  .trim()
  .split('\n')
const points = lines.map((line) => JSON.parse(line) as CurvePoint) // as learner.py prints
const lastStep = Math.max(...points.map(({ step }) => step))
const isCheated = points.some(({ accuracy, paid }) => paid - accuracy > 0.1)
const panels = isCheated ? PANELS : Object.keys(points[0]?.right_by_task ?? {}).map(showTask)
const values = panels.flatMap(({ getValue }) => points.map(getValue))
const top = Math.ceil(Math.max(...values) * 10) / 10

console.log(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 330" font-family="sans-serif" font-size="12">
<style>text { fill: #333 } path.axis { stroke: #999; fill: none } @media (prefers-color-scheme: dark) { text { fill: #ccc } }</style>
<title>What a small transformer learns by GRPO in five arms</title>
${panels.map(drawPanel).join('\n')}
${Object.values(SHOWN).map(drawKey).join('\n')}
</svg>`)

function showTask(task: string): Panel {
  return { title: `right in ${task}`, getValue: ({ right_by_task }) => right_by_task[task] ?? 0 }
}

function drawPanel({ title, getValue }: Panel, k: number): string {
  const x0 = PANEL.left + k * (PANEL.width + PANEL.gap)
  const y0 = PANEL.top + PANEL.height
  const x = (step: number) => (x0 + (step / lastStep) * PANEL.width).toFixed(1)
  const y = (value: number) => (y0 - (value / top) * PANEL.height).toFixed(1)
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => Math.round(part * lastStep))
  const levels = Array.from({ length: Math.round(top * 10) + 1 }, (_, level) => level / 10)
  const curves = Object.entries(SHOWN).map(([arm, [color]]) => {
    const steps = [...new Set(points.filter((point) => point.arm === arm).map(({ step }) => step))]
    const summaries = steps.map((step) => {
      const values = points.filter((point) => point.arm === arm && point.step === step).map(getValue)
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length
      const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(values.length - 1, 1)
      return { step, mean, error: Math.sqrt(variance / values.length) }
    })
    const upper = summaries.map(({ step, mean, error }) => `${x(step)},${y(mean + error)}`)
    const lower = summaries.toReversed().map(({ step, mean, error }) => `${x(step)},${y(mean - error)}`)
    const line = summaries.map(({ step, mean }) => `${x(step)},${y(mean)}`).join(' ')
    return `<polygon points="${[...upper, ...lower].join(' ')}" fill="${color}" opacity="0.15"/>
<polyline points="${line}" fill="none" stroke="${color}" stroke-width="2"/>`
  })
  return `<text x="${x0}" y="${PANEL.top - 16}" font-size="13" font-weight="bold">${title}</text>
<path class="axis" d="M${x0},${PANEL.top}V${y0}H${x0 + PANEL.width}"/>
${levels.map((level) => `<text x="${x0 - 8}" y="${Number(y(level)) + 4}" text-anchor="end">${level.toFixed(1)}</text>`).join('')}
${ticks.map((tick) => `<text x="${x(tick)}" y="${y0 + 18}" text-anchor="middle">${tick}</text>`).join('')}
<text x="${x0 + PANEL.width / 2}" y="${y0 + 36}" text-anchor="middle">steps of GRPO (128 rollouts each)</text>
${curves.join('\n')}`
}

function drawKey([color, label]: [string, string], k: number): string {
  const x = PANEL.left + k * 150
  return `<path d="M${x},314h22" stroke="${color}" stroke-width="3"/><text x="${x + 28}" y="318">${label}</text>`
}
