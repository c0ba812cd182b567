/** Reads NDJSON and server-sent events as streams. */
import { fetchResponse } from './api.js'

async function* textsOf(answer, separator, onHeard = () => {}) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    onHeard()
    const parts = (rest + value).split(separator)
    rest = parts.pop() ?? ''
    yield* parts
  }
  if (rest.trim() !== '') yield rest
}

/**
 * Reads one object per line, and stops after `most` lines.
 * @param {string} path
 * @param {{ signal?: AbortSignal, most?: number }} options
 */
export async function readNdjson(path, { signal, most = Number.POSITIVE_INFINITY } = {}) {
  const lines = []
  for await (const line of textsOf(await fetchResponse(path, { signal }), '\n')) {
    if (line.trim() !== '') lines.push(JSON.parse(line))
    if (lines.length >= most) break
  }
  return lines
}

/** Yields `{ event, data }` for each event. Calls `onHeard` for every chunk, including keep-alive comments. */
export async function* readServerSentEvents(path, { signal, onHeard }) {
  const headers = { accept: 'text/event-stream' }
  for await (const block of textsOf(await fetchResponse(path, { signal, headers }), '\n\n', onHeard)) {
    const lines = block.split('\n')
    const field = (name) =>
      lines
        .filter((line) => line.startsWith(`${name}:`))
        .map((line) => line.slice(name.length + 1).trimStart())
        .join('\n')
    const data = field('data')
    if (data !== '') yield { event: field('event') || 'message', data: JSON.parse(data) }
  }
}
