/** Before each file of the server's tests: waits until what they share has been made. */
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'

const readyFile = inject('readyFile')
while (!existsSync(readyFile)) await sleep(50)
const problem = readFileSync(readyFile, 'utf8')
if (problem !== '') throw new Error(`The tests could not start what they share. ${problem}`)
