-- Makes an ended job active again. Finished samples remain, the given ones are generated again, and nothing expires.
-- KEYS  job (hash)  modelApiKey (string)  items (list)  outputs (hash)  verdicts (hash)  claims (hash)  retries (list)
--       events (stream)
-- ARGV  1 the model's API key, or ''  2 now, ms  3 JSON: samples to generate again
-- Returns 1, or 0 if the job is active, does not exist, or its samples have expired.
-- include parts/generation-job
local status = redis.call('HGET', K.job, JOB.status)
if not status or is_active(status) then
  return 0
end
local left = redis.call('PTTL', K.job)
if left >= 0 and left <= RETENTION.result_ms - RETENTION.samples_ms then
  return 0
end
redis.call('HSET', K.job, JOB.status, 'running', JOB.resumed_at, ARGV[2])
redis.call('HDEL', K.job, JOB.result, JOB.detail, JOB.ended_at, JOB.answered)
if ARGV[3] ~= '[]' then -- all samples without a score are generated again
  redis.call('HDEL', K.job, JOB.failures)
end
if ARGV[1] ~= '' then
  redis.call('SET', K.modelApiKey, ARGV[1], 'PX', LIMIT.active_ms)
end
for _, sample in ipairs(cjson.decode(ARGV[3])) do
  if redis.call('HDEL', K.verdicts, sample) == 1 then
    redis.call('HINCRBY', K.job, JOB.done, -1)
    redis.call('HINCRBY', K.job, JOB.failed, -1)
  end
  delete_output(K.job, K.outputs, sample)
  redis.call('RPUSH', K.retries, sample)
end
redis.call('PERSIST', K.job)
for _, key in ipairs({ K.items, K.outputs, K.verdicts, K.claims, K.retries, K.events }) do
  redis.call('PERSIST', key)
end
return 1
