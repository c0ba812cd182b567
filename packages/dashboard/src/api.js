/** Calls the server with the API key of this session, reads its streams, saves its files, and knows what a role may do. */

const STORAGE_KEY = 'rgs-key'
const keyEvents = new EventTarget()

/** An error response, with the server's wording. */
export class ApiError extends Error {
  constructor(status, body) {
    super(body?.detail ?? body?.title ?? `The server returned status ${status}`)
    this.status = status
    this.code = body?.code ?? 'internal'
    this.errors = body?.errors ?? []
  }
}

/** Converts a failed fetch or an unreadable response to an ApiError. Aborted calls keep their error. */
function toApiError(error) {
  if (error instanceof ApiError || error.name === 'AbortError') return error
  return new ApiError(
    0,
    error instanceof SyntaxError
      ? {
          code: 'unreadable_answer',
          detail: 'The response does not come from this server’s API. Check the address and any proxy in between',
        }
      : { code: 'no_answer', detail: 'The server does not answer. Check that it is running; this page tries again' },
  )
}

export function hasKey() {
  return sessionStorage.getItem(STORAGE_KEY) !== null
}

/** Stores the key for the session of this tab. An empty string deletes it. */
export function setKey(key) {
  if (key === '') sessionStorage.removeItem(STORAGE_KEY)
  else sessionStorage.setItem(STORAGE_KEY, key)
  keyEvents.dispatchEvent(new Event('key'))
}

/** Listens for 'key' (the key changed) or 'required' (the server requires a key). Returns a function that stops listening. */
export function onKeyEvent(name, listener) {
  keyEvents.addEventListener(name, listener)
  return () => keyEvents.removeEventListener(name, listener)
}

/**
 * Resolves with a 2xx response and throws an ApiError otherwise. Paths are relative, so that the server can run under a prefix.
 * @param {string} path
 * @param {{ method?: string, body?: unknown, headers?: Record<string, string>, signal?: AbortSignal }} options
 */
export async function fetchResponse(path, { method = 'GET', body, headers = {}, signal } = {}) {
  const key = sessionStorage.getItem(STORAGE_KEY)
  const answer = await fetch(path, {
    method,
    signal,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((error) => {
    throw toApiError(error)
  })
  if (answer.ok) return answer
  const problem = new ApiError(answer.status, await answer.json().catch(() => undefined))
  // Not for a call that was sent before the key was entered.
  if (answer.status === 401 && sessionStorage.getItem(STORAGE_KEY) === key)
    keyEvents.dispatchEvent(new Event('required'))
  throw problem
}

/** @returns {Promise<any>} */
export async function fetchJson(path, options = {}) {
  const answer = await fetchResponse(path, options)
  if (answer.status === 204) return undefined
  return answer.json().catch((error) => {
    throw toApiError(error)
  })
}

/** Fetches a file and saves it, because a plain link would not send the API key. */
export async function downloadFile(path, name) {
  saveBlob(name, await (await fetchResponse(path)).blob())
}

export function saveText(name, text, type) {
  saveBlob(name, new Blob([text], { type }))
}

function saveBlob(name, blob) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/** Reads one object per line. */
export async function readNdjson(path, options) {
  const text = await (await fetchResponse(path, options)).text()
  return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line)]))
}

/** Yields `{ event, data }` for each event. Calls `onHeard` for every chunk, including keep-alive comments. */
export async function* readServerSentEvents(path, { signal, onHeard }) {
  const { body } = await fetchResponse(path, { signal, headers: { accept: 'text/event-stream' } })
  for await (const block of readBlocks(body, onHeard)) {
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

/** Yields what stands between empty lines. */
async function* readBlocks(stream, onHeard) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    onHeard()
    const parts = (rest + value).split('\n\n')
    rest = parts.pop() ?? ''
    yield* parts
  }
  if (rest.trim() !== '') yield rest
}

/** Which roles may do what. The routes decide (`config.access`); this only says it before the click. */
const ROLES = {
  __proto__: null,
  admin: ['admin'],
  trainer: ['trainer', 'admin'],
  evaluator: ['evaluator', 'admin'],
  scorer: ['trainer', 'evaluator', 'admin'],
}

/**
 * Why the caller may not do what needs this role, on this run if it names one; undefined if it may, or if the caller is not
 * known yet. `need`: admin, trainer, evaluator, or scorer (trainer or evaluator).
 */
export function describeDenial(caller, need, run) {
  if (!caller?.role) return undefined
  const allowed = ROLES[need] ?? ROLES.admin
  if (!allowed.includes(caller.role))
    return `This needs a key with the role ${allowed.join(', ').replace(/, (\w+)$/, ' or $1')}. Your key has the role ${caller.role}.`
  if (run !== undefined && caller.runs && !caller.runs.includes(run))
    return `Your key is bound to ${caller.runs.join(', ')} and may not change ${run}.`
  return undefined
}
