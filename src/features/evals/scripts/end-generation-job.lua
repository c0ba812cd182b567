-- Ends a job once: stores its result, adds the last event, deletes the model's API key, and sets when the rest expires.
-- KEYS  job (hash)  modelApiKey (string)  items (list)  outputs (hash)  verdicts (hash)  claims (hash)  retries (list)
--       events (stream)
-- ARGV  1 status  2 result as JSON  3 detail  4 now, ms  5 data of the last event, as JSON
--       6 retention of the result, ms  7 retention of the samples, ms
-- Returns 1, or 0 if it had ended already or does not exist.
-- include parts/status
if not is_active(redis.call('HGET', K.job, JOB.status)) then
  return 0
end
redis.call('HSET', K.job, JOB.status, ARGV[1], JOB.result, ARGV[2], JOB.detail, ARGV[3], JOB.ended_at, ARGV[4])
redis.call('DEL', K.modelApiKey)
if ARGV[1] == 'done' then
  redis.call('DEL', K.claims)
end
redis.call('XADD', K.events, 'MAXLEN', '~', 2000, '*', 'event', 'result', 'data', ARGV[5])
redis.call('PEXPIRE', K.job, ARGV[6])
for k = 3, #KEYS do
  redis.call('PEXPIRE', KEYS[k], ARGV[7])
end
return 1
