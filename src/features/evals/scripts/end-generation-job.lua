-- Ends a sampling, once: keeps its result, tells it, forgets the key of the model, and says how long the rest is kept.
-- KEYS  job (hash)  modelApiKey (string)  items (list)  completions (hash)  verdicts (hash)  claims (hash)  retries (list)
--       events (stream)
-- ARGV  1 status  2 result as JSON  3 detail  4 now, ms  5 what the last event says, as JSON
--       6 milliseconds that the result is kept  7 milliseconds that the samples are kept
-- Gives 1, or 0 if it had ended already or is gone.
local status = redis.call('HGET', K.job, 'status')
if status ~= 'running' and status ~= 'queued' then
  return 0
end
redis.call('HSET', K.job, 'status', ARGV[1], 'result', ARGV[2], 'detail', ARGV[3], 'ended', ARGV[4])
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
