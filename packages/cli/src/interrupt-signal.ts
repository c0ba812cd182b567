/** Ctrl-C: the first stops the command gracefully, the second immediately. */
export const INTERRUPTED_EXIT_CODE = 130

let interruptController: AbortController | undefined

/** Aborts on SIGINT or SIGTERM. The first call installs the handlers. */
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
