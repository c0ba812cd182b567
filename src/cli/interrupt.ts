/** Ctrl-C: the first asks the command to come to its end, the second ends it at once. */
const INTERRUPTED = 130

let abort: AbortController | undefined

/** Aborts when the user wants an end. Listens from the first call on. */
export function interruption(): AbortSignal {
  if (abort) return abort.signal
  const controller = new AbortController()
  abort = controller
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(INTERRUPTED)
      controller.abort()
    })
  }
  return controller.signal
}

export function wasInterrupted(): boolean {
  return abort?.signal.aborted ?? false
}
