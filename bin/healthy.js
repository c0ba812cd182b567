/** The health check of the container image: succeeds if the API or the worker answers GET /livez. */
const port = (name, otherwise) => Number(process.env[name]) || otherwise
const lives = async (at) => {
  const { ok, status } = await fetch(`http://127.0.0.1:${at}/livez`, { signal: AbortSignal.timeout(3000) })
  if (!ok) throw new Error(`GET /livez on port ${at} returned ${status}`)
}

Promise.any([lives(port('PORT', 8000)), lives(port('WORKER_PORT', 8001))]).catch(({ errors }) => {
  console.error(errors.map(({ message }) => message).join('; '))
  process.exitCode = 1
})
