/** Writes a frozen dump file. It can run any number of times, on any machine. */
import type { Dumps } from '../dumps.ts'
import type { FrozenFile } from '../repository.ts'

export function createWriteDumpProcessor({ dumps }: { dumps: Dumps }) {
  return (file: FrozenFile): Promise<void> => dumps.writeFile(file)
}
