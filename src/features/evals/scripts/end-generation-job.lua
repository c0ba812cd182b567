-- Ends a job once: stores its result, adds the last event, deletes the model's API key, and sets when the rest expires.
-- KEYS  job (hash)  modelApiKey (string)  items (list)  outputs (hash)  verdicts (hash)  claims (hash)  retries (list)
--       events (stream)
-- ARGV  1 JSON: status; result (JSON text); detail; now, ms; event, the data of the last one (JSON text); channel of
--         notifications; resumed_at, text or '': what the job had when the result was computed
-- Returns 1, or 0 if it had ended already, was resumed meanwhile, or does not exist.
-- include parts/generation-job
local ended = cjson.decode(ARGV[1])
local status, resumed_at = unpack(redis.call('HMGET', K.job, JOB.status, JOB.resumed_at))
if not is_active(status) or (resumed_at or '') ~= ended.resumed_at then
  return 0
end
redis.call(
  'HSET', K.job,
  JOB.status, ended.status, JOB.result, ended.result, JOB.detail, ended.detail, JOB.ended_at, ended.now
)
redis.call('DEL', K.modelApiKey)
if ended.status == 'done' then
  redis.call('DEL', K.claims)
end
redis.call('XADD', K.events, 'MAXLEN', '~', LIMIT.events, '*', 'event', 'result', 'data', ended.event)
redis.call('PUBLISH', ended.channel, K.events)
redis.call('PEXPIRE', K.job, RETENTION.result_ms)
for _, key in ipairs({ K.items, K.outputs, K.verdicts, K.claims, K.retries, K.events }) do
  redis.call('PEXPIRE', key, RETENTION.samples_ms)
end
return 1
