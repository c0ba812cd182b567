/**
 * After `npm ci`, lets npm's scripts find Node 24 as `node`. npm links the program itself, except for the npm of Debian 12 and 13, whose
 * scripts would run on the Node of the system.
 */
import { existsSync, symlinkSync } from 'node:fs'

const program = `node-${process.platform}-${process.arch}/bin/node`
const link = 'node_modules/.bin/node'
if (existsSync(`node_modules/${program}`) && !existsSync(link)) symlinkSync(`../${program}`, link)
