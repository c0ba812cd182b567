/** Splits a completion into reasoning and visible text, by the rules that the server extracts answers with. */
const THINK_TAG_PATTERN = /<(\/?)think>/gi
const CLOSING_THINK_TAG = '</think>'
/** The server puts this between the beginning and the end of a shortened text. */
const TRUNCATION_MARK = ' … '

/** [{ kind: 'thinking' | 'text', text, open? }]; `open`: the tag is not closed. */
export function parseSegments(text) {
  const pieces = []
  let from = 0
  let inside = false
  let opened = false
  for (const { 0: tag, 1: slash, index } of text.matchAll(THINK_TAG_PATTERN)) {
    const closes = slash === '/'
    if (closes ? !inside && opened : inside) continue
    pieces.push({ kind: closes ? 'thinking' : 'text', text: text.slice(from, index) })
    from = index + tag.length
    inside = !closes
    opened ||= inside
  }
  const rest = text.slice(from)
  pieces.push(inside ? { kind: 'thinking', text: rest, open: true } : { kind: 'text', text: rest })
  return pieces.filter((piece) => piece.text.trim() !== '')
}

/**
 * Splits a completion that was shortened to its beginning and end. The omitted middle may have closed the reasoning.
 * Reasoning that spans both ends is one piece, even if the cut is inside the closing tag.
 */
export function parseTruncatedSegments(text) {
  const half = Math.floor((text.length - TRUNCATION_MARK.length) / 2)
  const head = parseSegments(`${text.slice(0, half)}${TRUNCATION_MARK.trimEnd()}`)
  const end = text.slice(half + TRUNCATION_MARK.length)
  const thinks = head.at(-1)?.open === true
  const tail = parseSegments(`${TRUNCATION_MARK.trimStart()}${(thinks && completeClosingTag(end)) || end}`)
  if (!thinks || tail[0]?.kind !== 'thinking') return [...head, ...tail]
  return [...head.slice(0, -1), { kind: 'thinking', text: `${head.at(-1).text}\n${tail[0].text}` }, ...tail.slice(1)]
}

/** Completes a closing tag that the cut went through. Ignores a lone `>`, which may belong to anything. */
function completeClosingTag(end) {
  for (let k = 1; k < CLOSING_THINK_TAG.length - 1; k++) {
    const rest = CLOSING_THINK_TAG.slice(k)
    if (end.slice(0, rest.length).toLowerCase() === rest) return `${CLOSING_THINK_TAG}${end.slice(rest.length)}`
  }
  return undefined
}

/**
 * Splits a text at its answers: the parts at odd places are answers with their tags. In a shortened text, the beginning
 * of an answer may be missing.
 */
export function splitAnswers(text, cut = false) {
  const parts = text.split(/(<answer>[\s\S]*?<\/answer>)/i)
  const [head] = parts
  const end = cut ? head.search(/<\/answer>/i) : -1
  if (end === -1) return parts
  const start = Math.max(0, head.lastIndexOf(TRUNCATION_MARK.trim(), end))
  const close = end + '</answer>'.length
  return [head.slice(0, start), head.slice(start, close), head.slice(close), ...parts.slice(1)]
}

/** Splits a text at each occurrence of `q`, in any case: the parts at odd places are the occurrences. */
export function splitMatches(text, q = '') {
  if (q === '') return [text]
  return text.split(new RegExp(`(${q.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')})`, 'i'))
}
