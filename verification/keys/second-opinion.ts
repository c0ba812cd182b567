/** A Python process that has a second opinion on the questions of one task: keys/opinion.py. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { z } from 'zod'

const FOLDER = import.meta.dirname

const About = z.strictObject({ why: z.string().nullable(), functions: z.array(z.enum(['solve', 'check'])) })

const Opinion = z.strictObject({
  /** Of all readings of the question; null where no answer is right. */
  answers: z.array(z.string()).nullable(),
  key_is_right: z.boolean().nullable(),
  others: z.array(z.string()),
  wrong: z.array(z.tuple([z.string(), z.string()])),
  solved_at_start: z.boolean(),
})
export type Opinion = z.infer<typeof Opinion>

const Reply = z.union([Opinion, z.strictObject({ failed: z.string() })])

export function hasOpinion(task: string): boolean {
  return existsSync(join(FOLDER, 'tasks', `${task}.py`))
}

export class SecondOpinion {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: AsyncIterator<string>

  constructor(python: string, task: string) {
    this.#child = spawn(python, [join(FOLDER, 'opinion.py'), task], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  /** The first line that it writes. */
  async about(): Promise<z.infer<typeof About>> {
    return About.parse(JSON.parse(await this.#nextLine()))
  }

  /** Throws where the module fails on the question, which is a fault of the module. */
  async ask(question: string, key: string | null, only_key = false): Promise<Opinion> {
    this.#child.stdin.write(`${JSON.stringify({ question, key, only_key })}\n`)
    const reply = Reply.parse(JSON.parse(await this.#nextLine()))
    if ('failed' in reply) throw new Error(`The second opinion failed on this question:\n${question}\n${reply.failed}`)
    return reply
  }

  close(): void {
    this.#child.kill()
  }

  async #nextLine(): Promise<string> {
    const { value, done } = await this.#lines.next()
    if (done) throw new Error('The process of the second opinion has ended.')
    return value
  }
}
