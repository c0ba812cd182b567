/**
 * Builds the configuration of Gym's head server, where Axolotl finds the resources servers: this server, and each run
 * of it.
 */

export const SERVER_NAME = 'reasoning_gym_server'

/** `host` as the client wrote it, `HOST:PORT`. Clients build `http://{host}:{port}/verify`, so the port carries the path. */
export function formatServerConfig(host: string, runs: string[]): string {
  const [, name = host, port = '80'] = /^(.*?)(?::(\d+))?$/.exec(host) ?? []
  const servers = [
    [SERVER_NAME, 'nemo-gym'],
    ...runs.map((run) => [`${SERVER_NAME}/${run}`, `nemo-gym/${run}`] as const),
  ]
  return servers
    .map(([server, path]) =>
      [
        `${server}:`,
        `  resources_servers:`,
        `    ${server}:`,
        `      entrypoint: app.py`,
        `      host: "${name}"`,
        `      port: "${port}/${path}"`,
        '',
      ].join('\n'),
    )
    .join('')
}
