/** `runs save` and `runs restore`: write a run's checkpoint to stdout and restore a run from a file. */

import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { z } from 'zod'
import { CliError } from '../cli-error.ts'
import { CliCommand } from '../command.ts'
import { printLine, streamBodyToStdout } from '../output.ts'
import type { ServerOptions, WithServer } from '../with-server.ts'

export function buildRunSaveCommand(withServer: WithServer): Command {
  return new CliCommand('save')
    .summary('Print a checkpoint of a run')
    .description(
      'Print a checkpoint of a run as JSON: its settings, its position in the item sequence, the difficulty of each task, and its counters.',
    )
    .argument('<run>', 'name of the run')
    .examples(['reasoning-gym-server runs save first > first.json'])
    .action((name: string, options: ServerOptions) =>
      withServer(options, { keeps: true }, async (server) =>
        streamBodyToStdout(await server.request('GET', getCheckpointPath(name))),
      ),
    )
    .addServerOptions()
}

const RestoreResponse = z.object({ epoch: z.number(), forgotten: z.record(z.string(), z.number()) })

export function buildRunRestoreCommand(withServer: WithServer): Command {
  return new CliCommand('restore')
    .summary('Restore a run from a checkpoint')
    .description(
      'Restore a run from a checkpoint, under the same or another name. This discards the groups and batches that the run holds now.',
    )
    .argument('<run>', 'name of the run')
    .argument('<file>', 'checkpoint file, or - for stdin')
    .examples(['reasoning-gym-server runs restore second first.json'])
    .action((name: string, file: string, options: ServerOptions) => {
      const checkpoint = readCheckpointFile(file)
      return withServer(options, { keeps: true }, async (server) => {
        const { epoch, forgotten } = await server.call(RestoreResponse, 'PUT', getCheckpointPath(name), checkpoint)
        const lost = Object.entries(forgotten).map(([what, count]) => `${count} ${what.replaceAll('_', ' ')}`)
        await printLine(`Restored run ${name}, now in epoch ${epoch}. Discarded: ${lost.join(', ')}`)
      })
    })
    .addServerOptions()
}

function readCheckpointFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'))
  } catch (cause) {
    throw new CliError(`Cannot read ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

function getCheckpointPath(run: string): string {
  return `/runs/${encodeURIComponent(run)}/checkpoint`
}
