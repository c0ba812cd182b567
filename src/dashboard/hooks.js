/** What pages share: loading, listening, the address, the width of a box. */
import { call, onKeyNews } from './api.js'
import { useEffect, useRef, useState } from './html.js'
import { readEvents } from './lines.js'

const RETRY_MS = [1000, 2000, 5000, 15_000]

/** Loads again when `path`, `version` or the key changes; a null path loads nothing. */
export function useLoad(path, load = call, version = 0) {
  const [state, setState] = useState({ path: undefined, value: undefined, problem: undefined })
  const [round, setRound] = useState(0)
  useEffect(() => onKeyNews('key', () => setRound((now) => now + 1)), [])
  useEffect(() => {
    if (path === null) return undefined
    const stop = new AbortController()
    load(path, { signal: stop.signal }).then(
      (value) => setState({ path, value, problem: undefined }),
      (problem) => {
        if (!stop.signal.aborted)
          setState((old) => ({ path, value: old.path === path ? old.value : undefined, problem }))
      },
    )
    return () => stop.abort()
  }, [path, version, round])
  const current = state.path === path ? state : { value: undefined, problem: undefined }
  return { value: current.value, problem: current.problem, reload: () => setRound((now) => now + 1) }
}

/** Listens while the tab can be seen; `hear` is called with each event. null listens to nothing. */
export function useEvents(path, hear) {
  const latest = useRef(hear)
  latest.current = hear
  const [live, setLive] = useState(false)
  useEffect(() => {
    if (path === null) return undefined
    let stop
    const listen = async () => {
      const mine = new AbortController()
      stop = mine
      for (let tries = 0; !mine.signal.aborted; tries++) {
        try {
          for await (const { event, data } of readEvents(path, { signal: mine.signal })) {
            tries = 0
            setLive(true)
            if (latest.current(event, data) === 'enough') return
          }
        } catch (problem) {
          if (problem.status === 401 || problem.status === 403 || problem.status === 404) return
        }
        if (mine.signal.aborted) return
        setLive(false)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]))
      }
    }
    const turn = () => {
      stop?.abort()
      setLive(false)
      if (document.visibilityState === 'visible') void listen()
    }
    turn()
    document.addEventListener('visibilitychange', turn)
    const forget = onKeyNews('key', turn)
    return () => {
      stop?.abort()
      document.removeEventListener('visibilitychange', turn)
      forget()
    }
  }, [path])
  return live
}

/** Calls `act` now and then while the tab can be seen. */
export function useEvery(ms, act) {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && latest.current(), ms)
    return () => clearInterval(timer)
  }, [ms])
}

/** `#/runs/NAME?task=x` as `{ parts: ['runs', 'NAME'], query }`. */
export function useAddress() {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const turn = () => setHash(location.hash)
    addEventListener('hashchange', turn)
    return () => removeEventListener('hashchange', turn)
  }, [])
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  return { parts: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) }
}

/** An address that was cut in the middle of a letter is taken as it is: no page would be seen at all. */
function decoded(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The width of a box in pixels, and the ref that it needs. */
export function useWidth() {
  const box = useRef(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)))
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  return [box, width]
}

/** Changes when the colours do. */
export function useScheme() {
  const [round, setRound] = useState(0)
  useEffect(() => {
    const media = matchMedia('(prefers-color-scheme: dark)')
    const turn = () => setRound((now) => now + 1)
    media.addEventListener('change', turn)
    addEventListener('scheme', turn)
    return () => {
      media.removeEventListener('change', turn)
      removeEventListener('scheme', turn)
    }
  }, [])
  return round
}
