/** Hooks that load data once, periodically, or as an event stream. All of them recover when the server does. */
import { ApiError, fetchJson, onKeyEvent, readNdjson, readServerSentEvents } from './api.js'
import { continueRows, getRefreshStart } from './chart-data.js'
import { useEffect, useRef, useState } from './html.js'

const RETRY_DELAYS_MS = [1000, 2000, 5000, 15_000]
/** Time without any event after which a stream counts as dead. The server sends one every two seconds. */
const IDLE_TIMEOUT_MS = 10_000
/** Timeout of a request that is repeated: longer than the server waits for Redis, so that it can say what it lacks. */
const POLL_TIMEOUT_MS = 15_000
/** Timeout of a single request, which may create an item or read a large file. */
const REQUEST_TIMEOUT_MS = 60_000
/** Statuses of a server that is down, busy, or unreachable behind a proxy. */
const RETRYABLE_STATUSES = [0, 429, 502, 503, 504]
/** Conflicts with a concurrent change of the same run. */
const RETRYABLE_CONFLICTS = ['run_changed', 'idempotency_in_progress']

/**
 * What has been loaded: a value of the API as it comes, and the reason if the latest request failed.
 * @typedef {{ value: any, problem?: ApiError, at?: number }} Loaded
 */

/**
 * Loads `path`, and again when `path`, `version` or the key changes, after a transient error, and every `everyMs`.
 * A null path loads nothing. After an error, `value` is the last loaded value and `at` the time when it was loaded.
 * @param {string | null} path
 * @param {{ load?: (path: string, options: { signal: AbortSignal }) => Promise<any>, version?: any, everyMs?: number }} options
 * @returns {Loaded & { reload: () => void }}
 */
export function useResource(path, { load = fetchJson, version = 0, everyMs } = {}) {
  const [state, setState] = useState(/** @type {Loaded & { path?: string }} */ ({ value: undefined }))
  const [round, setRound] = useState(0)
  useEffect(() => onKeyEvent('key', () => setRound((now) => now + 1)), [])
  useEffect(() => {
    if (path === null) return undefined
    const stop = new AbortController()
    const ask = async () => {
      await waitUntilSeen(stop.signal)
      for (let tries = 0; !stop.signal.aborted; ) {
        let wait = everyMs
        try {
          const deadline = AbortSignal.timeout(everyMs === undefined ? REQUEST_TIMEOUT_MS : POLL_TIMEOUT_MS)
          const value = await load(path, { signal: AbortSignal.any([stop.signal, deadline]) })
          if (stop.signal.aborted) return
          setState({ path, value, problem: undefined, at: Date.now() })
          tries = 0
        } catch (error) {
          if (stop.signal.aborted) return
          const problem = /** @type {ApiError} */ (error) // a time-out has neither status nor code
          setState((old) => (old.path === path ? { ...old, problem } : { path, value: undefined, problem }))
          if (RETRYABLE_STATUSES.includes(problem.status) || RETRYABLE_CONFLICTS.includes(problem.code))
            wait = getRetryDelay(tries++)
        }
        if (wait === undefined) return
        await waitUntilVisible(wait, stop.signal)
      }
    }
    void ask()
    return () => stop.abort()
  }, [path, version, round, everyMs])
  const { value, problem, at } = state.path === path ? state : { value: undefined }
  return { value, problem, at, reload: () => setRound((now) => now + 1) }
}

/**
 * What a click or a form starts: `start`, and while `act` works `busy`, then its `value` or `problem`. `act` gets the argument of
 * `start`; the event of a form does not load a page.
 * @returns {{ start: (from?: any) => Promise<void>, busy?: boolean, value?: any, problem?: any }}
 */
export function useAction(act) {
  const [state, setState] = useState(/** @type {{ busy?: boolean, value?: any, problem?: any }} */ ({}))
  const start = async (from) => {
    if (from instanceof Event) from.preventDefault()
    setState({ busy: true })
    try {
      setState({ value: await act(from) })
    } catch (problem) {
      setState({ problem })
    }
  }
  return { start, ...state }
}

/** A fast run has a new step many times per second; its charts need not be drawn as often. */
const ROWS_INTERVAL_MS = 1500

/**
 * Loads at most `points` rows of a run's metrics from `path`, and only the newest rows again when `version`, such as the step
 * of the live run, changes. Returns the same as `useResource`.
 */
export function useMetricRows(path, { points = 400, version = 0 } = {}) {
  const known = useRef({ path: '', rows: /** @type {any[]} */ ([]), at: 0 })
  const load = async (_path, options) => {
    const rows = known.current.path === path && isRecent(known.current.at) ? known.current.rows : []
    known.current = { path, rows: await refreshMetricRows(`${path}?points=${points}`, rows, options), at: Date.now() }
    return known.current.rows
  }
  return useResource(path, { load, version: useThrottled(version, ROWS_INTERVAL_MS) })
}

/** Whether rows that were loaded then can be continued: in a tab that was hidden since, the run may have gone back and on again. */
export const isRecent = (at) => Date.now() - at < 60_000

/** Loads the rows at `address`, which has a query: of the known `rows`, only the newest again. */
export async function refreshMetricRows(address, rows, options) {
  const from = getRefreshStart(rows)
  const newer = from === undefined ? [] : await readNdjson(`${address}&from=${from}`, options)
  return continueRows(rows, newer) ?? readNdjson(address, options)
}

/** The value, at most once every `ms`. */
export function useThrottled(value, ms) {
  const [shown, setShown] = useState(value)
  const latest = useRef({ value, timer: /** @type {number | undefined} */ (undefined) })
  latest.current.value = value
  useEffect(() => {
    const { current } = latest
    if (value === shown || current.timer !== undefined) return
    current.timer = setTimeout(() => {
      current.timer = undefined
      setShown(current.value)
    }, ms)
  }, [value, shown])
  useEffect(() => () => clearTimeout(latest.current.timer), [])
  return shown
}

/**
 * Listens to an event stream while the tab is visible, and calls `hear` for each event. A null path listens to nothing.
 * `at` is the time of the last event, `problem` the reason for a lost connection, if known.
 */
export function useEventStream(path, hear, { quietMs = IDLE_TIMEOUT_MS } = {}) {
  const latest = useRef(hear)
  latest.current = hear
  const at = useRef(/** @type {number | undefined} */ (undefined))
  const [{ live, problem }, setState] = useState(/** @type {{ live: boolean, problem?: ApiError }} */ ({ live: false }))
  useEffect(() => {
    if (path === null) return undefined
    /** @type {AbortController | undefined} */
    let stop
    const listen = async () => {
      const mine = new AbortController()
      stop = mine
      for (let tries = 0; !mine.signal.aborted; tries++) {
        const line = createIdleSignal(mine.signal, quietMs)
        try {
          for await (const { event, data } of readServerSentEvents(path, line)) {
            if (event === 'missed') throw new ApiError(503, { code: 'not_now', detail: data.detail })
            tries = 0
            at.current = Date.now()
            setState((old) => (old.live ? old : { live: true, problem: undefined }))
            if (latest.current(event, data) === 'enough') return
          }
          if (!mine.signal.aborted) setState({ live: false, problem: undefined })
        } catch (trouble) {
          if (mine.signal.aborted) return
          setState({ live: false, problem: trouble instanceof ApiError ? trouble : undefined })
          if (trouble instanceof ApiError && [401, 403, 404].includes(trouble.status)) return
        } finally {
          line.close()
        }
        await new Promise((resolve) => setTimeout(resolve, getRetryDelay(tries)))
      }
    }
    const turn = () => {
      stop?.abort()
      setState({ live: false, problem: undefined })
      if (document.visibilityState === 'visible') void listen()
    }
    turn()
    document.addEventListener('visibilitychange', turn)
    const forget = onKeyEvent('key', turn)
    return () => {
      stop?.abort()
      document.removeEventListener('visibilitychange', turn)
      forget()
    }
  }, [path])
  return { live, problem, at: at.current }
}

/** A signal that also aborts after `quietMs` without an event. */
function createIdleSignal(signal, quietMs) {
  const silence = new AbortController()
  const wait = () => setTimeout(() => silence.abort(), quietMs)
  let timer = wait()
  return {
    signal: AbortSignal.any([signal, silence.signal]),
    onHeard() {
      clearTimeout(timer)
      timer = wait()
    },
    close() {
      clearTimeout(timer)
      silence.abort()
    },
  }
}

function getRetryDelay(tries) {
  return RETRY_DELAYS_MS[Math.min(tries, RETRY_DELAYS_MS.length - 1)]
}

/** Resolves after `ms`, but not before the tab is visible. */
async function waitUntilVisible(ms, signal) {
  await new Promise((resolve) => setTimeout(resolve, ms))
  await waitUntilSeen(signal)
}

async function waitUntilSeen(signal) {
  if (document.visibilityState === 'visible' || signal.aborted) return
  await new Promise((resolve) => {
    document.addEventListener('visibilitychange', resolve, { once: true, signal })
    signal.addEventListener('abort', resolve, { once: true })
  })
}
