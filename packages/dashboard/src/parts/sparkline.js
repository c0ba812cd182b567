/** A line as small as a word, without axes, for a row of a table. */
import { formatDecimal } from '../format.js'
import { html } from '../html.js'

const [WIDTH, HEIGHT, MARGIN] = [96, 22, 2]

/** `values`: numbers, null for a gap. The scale is at least [0, 1]. */
export function Sparkline({ name, values, format = formatDecimal }) {
  const known = values.flatMap((value, k) => (typeof value === 'number' ? [[k, value]] : []))
  if (known.length === 0) return html`<span class="soft">–</span>`
  const [low, high] = [Math.min(0, ...known.map(([, v]) => v)), Math.max(1, ...known.map(([, v]) => v))]
  const place = ([k, value]) => {
    const x = MARGIN + ((WIDTH - 2 * MARGIN) * k) / Math.max(1, values.length - 1)
    const y = HEIGHT - MARGIN - ((HEIGHT - 2 * MARGIN) * (value - low)) / (high - low)
    return [x.toFixed(1), y.toFixed(1)]
  }
  const last = known.at(-1)
  const [x, y] = place(known.length === 1 ? [values.length - 1, last[1]] : last)
  const label =
    known.length === 1 ? `${name} ${format(last[1])}` : `${name} from ${format(known[0][1])} to ${format(last[1])}`
  return html`<svg class="sparkline" role="img" aria-label=${label} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} width=${WIDTH} height=${HEIGHT}>
    ${known.length > 1 && html`<polyline points=${known.map((point) => place(point).join()).join(' ')} />`}
    <circle cx=${x} cy=${y} r="2" />
  </svg>`
}
