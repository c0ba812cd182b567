/** Watches the places of TASKS_PATH during development. */
import { existsSync, statSync, watch } from 'node:fs'
import { basename, dirname } from 'node:path'

/** An editor writes several files, and each several times. */
const QUIET_MS = 300
/** As custom_tasks.py: what is no part of a task's code. */
const IGNORED = /(^|\/)(\.|__pycache__|test_|conftest)|\.(pyc|md)$|~$/

/** Calls `onChange` once files below these paths have changed. A path that does not exist, such as the name of a module, is not watched. */
export function watchTasks(places: readonly string[], onChange: () => void): { close(): void } {
  let timer: NodeJS.Timeout | undefined
  const watchers = places.filter(existsSync).map((place) => {
    const isFolder = statSync(place).isDirectory()
    // Editors replace a file, so its folder is watched.
    return watch(isFolder ? place : dirname(place), { recursive: isFolder }, (_event, file) => {
      if (file === null || IGNORED.test(file) || (!isFolder && file !== basename(place))) return
      clearTimeout(timer)
      timer = setTimeout(onChange, QUIET_MS)
    })
  })
  return {
    close() {
      clearTimeout(timer)
      for (const watcher of watchers) watcher.close()
    },
  }
}
