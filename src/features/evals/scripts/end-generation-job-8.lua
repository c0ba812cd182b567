-- Ends a sampling, once: keeps its result, tells it, forgets the key of the model, and says how long the rest is kept.
-- KEYS  1 sampling (hash)  2 secret (string)  3 items (list)  4 texts (hash)  5 verdicts (hash)  6 claims (hash)
--       7 again (list)  8 events (stream)
-- ARGV  1 status  2 result as JSON  3 detail  4 now, ms  5 what the last event says, as JSON
--       6 milliseconds that the result is kept  7 milliseconds that the samples are kept
-- Gives 1, or 0 if it had ended already or is gone.
local status = redis.call('HGET', KEYS[1], 'status')
if status ~= 'running' and status ~= 'queued' then
  return 0
end
redis.call('HSET', KEYS[1], 'status', ARGV[1], 'result', ARGV[2], 'detail', ARGV[3], 'ended', ARGV[4])
redis.call('DEL', KEYS[2])
if ARGV[1] == 'done' then
  redis.call('DEL', KEYS[6])
end
redis.call('XADD', KEYS[8], 'MAXLEN', '~', 2000, '*', 'event', 'result', 'data', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
for k = 3, #KEYS do
  redis.call('PEXPIRE', KEYS[k], ARGV[7])
end
return 1
