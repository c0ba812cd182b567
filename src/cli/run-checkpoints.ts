/** `runs save` and `runs restore`: a run's checkpoint as a file. */
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { z } from 'zod'
import { addServerOptions, type ServerOptions, withServer } from './api-client.ts'
import { CliError } from './cli-error.ts'
import { formatExamples } from './option-parsers.ts'
import { printLine } from './output.ts'
import { streamBodyToStdout } from './stream-body.ts'

export function buildRunSaveCommand(): Command {
  return addServerOptions(new Command('save'))
    .description('Print a run’s checkpoint: settings, sequence, difficulties, counters.')
    .argument('<run>', 'name of the run')
    .addHelpText('after', formatExamples('reasoning-gym-server runs save first > first.json'))
    .action((name: string, options: ServerOptions) =>
      withServer(options, { keeps: true }, async (server) =>
        streamBodyToStdout(await server.request('GET', getCheckpointPath(name))),
      ),
    )
}

const RestoreResponse = z.looseObject({ epoch: z.number(), forgotten: z.record(z.string(), z.number()) })

export function buildRunRestoreCommand(): Command {
  return addServerOptions(new Command('restore'))
    .description('Restore a run from a checkpoint, also under another name. What is buffered now is forgotten.')
    .argument('<run>', 'name of the run')
    .argument('<file>', 'the checkpoint; -: stdin')
    .addHelpText('after', formatExamples('reasoning-gym-server runs restore second first.json'))
    .action((name: string, file: string, options: ServerOptions) => {
      const checkpoint = readCheckpointFile(file)
      return withServer(options, { keeps: true }, async (server) => {
        const { epoch, forgotten } = await server.call(RestoreResponse, 'PUT', getCheckpointPath(name), checkpoint)
        const lost = Object.entries(forgotten).map(([what, count]) => `${count} ${what.replaceAll('_', ' ')}`)
        await printLine(`The run ${name} is restored, in epoch ${epoch}; forgotten: ${lost.join(', ')}`)
      })
    })
}

function readCheckpointFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'))
  } catch (cause) {
    throw new CliError(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

function getCheckpointPath(run: string): string {
  return `/runs/${encodeURIComponent(run)}/checkpoint`
}
