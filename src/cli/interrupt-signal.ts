/** Ctrl-C: the first asks the command to come to its end, the second ends it at once. */
const INTERRUPTED_EXIT_CODE = 130

let interruptController: AbortController | undefined

/** Aborts when the user wants an end. Listens from the first call on. */
export function getInterruptSignal(): AbortSignal {
  if (interruptController) return interruptController.signal
  const controller = new AbortController()
  interruptController = controller
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(INTERRUPTED_EXIT_CODE)
      controller.abort()
    })
  }
  return controller.signal
}

export function wasInterrupted(): boolean {
  return interruptController?.signal.aborted ?? false
}
