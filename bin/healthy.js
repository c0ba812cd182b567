/** What the image's health check asks: does the API, or the worker, answer that it lives? */
const port = (name, otherwise) => Number(process.env[name]) || otherwise
const lives = async (at) => {
  const { ok, status } = await fetch(`http://127.0.0.1:${at}/livez`, { signal: AbortSignal.timeout(3000) })
  if (!ok) throw new Error(`port ${at} answers ${status}`)
}

Promise.any([lives(port('PORT', 8000)), lives(port('WORKER_PORT', 8001))]).catch(({ errors }) => {
  console.error(errors.map(({ message }) => message).join('; '))
  process.exitCode = 1
})
