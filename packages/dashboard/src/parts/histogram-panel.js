/** Distributions of rewards and of completion lengths over training, as heat strips. */
import { prepareStrip } from '../chart-data.js'
import { useMetricRows, useThrottled } from '../data-hooks.js'
import { formatCompact, formatDecimal, formatPercent, formatTime } from '../format.js'
import { useColorScheme, useWidth } from '../hooks.js'
import { html, useEffect, useMemo, useRef, useState } from '../html.js'
import { Help, Panel } from './common.js'
import { createPen, getCellColor, isDarkColor } from './heat-map.js'

const MAX_COLUMNS = 120
const REFRESH_INTERVAL_MS = 5000
/** The columns of a long run span many steps, so that a few seconds change little. */
const LONG_REFRESH_INTERVAL_MS = 15_000
const BIN_HEIGHT = 14

/** Bins of equal width from 0 to 1. */
const nameRewardBin = (bin) => `${formatDecimal(bin / 10, 1)} to ${formatDecimal((bin + 1) / 10, 1)}`
/** Bin k has the lengths above 2^(k-1), up to 2^k. */
const nameLengthBin = (bin) => `up to ${formatCompact(2 ** bin)} tokens`

export function HistogramPanel({ run, path }) {
  const isLong = (run.progress.step ?? 0) > 4 * MAX_COLUMNS
  const version = useThrottled(run.progress.scored_groups, isLong ? LONG_REFRESH_INTERVAL_MS : REFRESH_INTERVAL_MS)
  const { value: rows } = useMetricRows(`${path}/histograms`, { points: MAX_COLUMNS, version })
  const strips = useMemo(() => {
    const all = rows ?? []
    const lengths = ['correct_lengths', 'wrong_lengths'].map((key) => all.map((row) => row[key] ?? []))
    return {
      names: all.map(({ step, time }) => (step === undefined ? formatTime(time * 1000) : `step ${step}`)),
      rewards: prepareStrip(all.map(({ rewards }) => rewards ?? [])),
      lengths: lengths.map((counts) => prepareStrip(counts, lengths.flat())),
    }
  }, [rows])
  return useMemo(() => drawStrips(strips), [strips])
}

function drawStrips({ names, rewards, lengths }) {
  if (names.length < 3) return null
  return html`<${Panel} title="Distributions">
    <div class="charts">
      <${HeatStrip} title="Rewards" help="Each column shows how the rewards of its rollouts spread from 0 (bottom) to 1 (top). Darker cells have more rollouts." strip=${rewards} names=${names} nameBin=${nameRewardBin} />
      ${
        lengths[0].bins > 0 &&
        html`<${HeatStrip} title="Length of right rollouts" help="Each column shows how the lengths in tokens spread; each row is twice as long as the one below it. Compare it with the wrong rollouts: longer and wrong often means that the token limit cuts the answer off." strip=${lengths[0]} names=${names} nameBin=${nameLengthBin} />
      <${HeatStrip} title="Length of wrong rollouts" strip=${lengths[1]} names=${names} nameBin=${nameLengthBin} />`
      }
    </div>
  <//>`
}

function HeatStrip({ title, help, strip, names, nameBin }) {
  const [box, width] = useWidth()
  const scheme = useColorScheme()
  const canvas = useRef(null)
  const [at, setAt] = useState(null)
  const { shares, first, bins } = strip
  const height = bins * BIN_HEIGHT
  useEffect(() => {
    if (width > 0 && bins > 0) drawStrip(canvas.current, { shares, bins, width, height, dark: isDarkColor() })
  }, [strip, width, scheme])
  const point = ({ offsetX, offsetY }) => {
    const [column, bin] = [Math.floor((offsetX / width) * shares.length), bins - 1 - Math.floor(offsetY / BIN_HEIGHT)]
    setAt(column in shares && bin >= 0 && bin < bins ? { column, bin } : null)
  }
  const common = shares.at(-1)?.indexOf(Math.max(...(shares.at(-1) ?? []))) ?? 0
  return html`<figure class="chart strip">
    <figcaption>
      <h3><span>${title}</span>${help && html`<${Help} about=${title}>${help}<//>`}</h3>
      <span class="key">${at ? `${names[at.column]}, ${nameBin(first + at.bin)}: ${formatPercent(shares[at.column][at.bin])}` : `${names[0]} to ${names.at(-1)}`}</span>
    </figcaption>
    <div class="cells">
      <div class="bins" aria-hidden="true"><span>${nameBin(first + bins - 1)}</span><span>${nameBin(first)}</span></div>
      <div ref=${box} role="img" aria-label=${`${title}: most common at last ${nameBin(first + common)}`}>
        <canvas ref=${canvas} style=${{ height: `${height}px` }} onMouseMove=${point} onMouseLeave=${() => setAt(null)}></canvas>
      </div>
    </div>
  </figure>`
}

function drawStrip(canvas, { shares, bins, width, height, dark }) {
  const pen = createPen(canvas, width, height)
  const step = width / shares.length
  shares.forEach((column, x) => {
    column.forEach((share, bin) => {
      if (share === 0) return
      pen.fillStyle = getCellColor(0.08 + 0.92 * Math.sqrt(share), dark) // the root keeps rare bins visible
      pen.fillRect(x * step, (bins - 1 - bin) * BIN_HEIGHT, Math.ceil(step), BIN_HEIGHT - 1)
    })
  })
}
