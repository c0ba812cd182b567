-- Ends a sampling, once: keeps its result, tells it, and forgets the key of the model.
-- KEYS  1 sampling (hash)  2 secret (string)  3 events (stream)  4 claims (hash)
-- ARGV  1 status  2 result as JSON  3 detail  4 now, ms  5 what the last event says, as JSON
-- Gives 1, or 0 if it had ended already or is gone.
local status = redis.call('HGET', KEYS[1], 'status')
if status ~= 'running' and status ~= 'queued' then
  return 0
end
redis.call('HSET', KEYS[1], 'status', ARGV[1], 'result', ARGV[2], 'detail', ARGV[3], 'ended', ARGV[4])
redis.call('DEL', KEYS[2])
if ARGV[1] == 'done' then
  redis.call('DEL', KEYS[4])
end
redis.call('XADD', KEYS[3], 'MAXLEN', '~', 2000, '*', 'event', 'result', 'data', ARGV[5])
return 1
