/** Runs a command of the client program in a process of its own. */
import { spawn } from 'node:child_process'
import { CLIENT } from './client.ts'

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export async function run(args: string[], { env = {} }: { env?: Record<string, string> } = {}): Promise<Ended> {
  const child = spawn(process.execPath, [CLIENT.entryPoint, ...args], { env: { ...process.env, ...env } })
  child.stdin.end()
  const ended: Ended = { code: null, stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    ended.stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    ended.stderr += chunk.toString()
  })
  const { promise, resolve } = Promise.withResolvers<Ended>()
  child.once('close', (code) => resolve({ ...ended, code }))
  return promise
}
