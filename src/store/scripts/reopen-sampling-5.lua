-- Opens an ended sampling again: finished samples stay, those named are asked a second time.
-- KEYS  1 sampling (hash)  2 secret (string)  3 verdicts (hash)  4 texts (hash)  5 again (list)
-- ARGV  1 key of the model, or ''  2 milliseconds that it lives  3 now, ms  4… samples to ask again
-- Gives 1, or 0 if it is not cancelled or failed, and was not done with failures.
local status = redis.call('HGET', KEYS[1], 'status')
if status ~= 'cancelled' and status ~= 'failed' and status ~= 'done' then
  return 0
end
redis.call('HSET', KEYS[1], 'status', 'running', 'resumed', ARGV[3])
redis.call('HDEL', KEYS[1], 'result', 'detail', 'ended')
if ARGV[1] ~= '' then
  redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
end
for at = 4, #ARGV do
  if redis.call('HDEL', KEYS[3], ARGV[at]) == 1 then
    redis.call('HINCRBY', KEYS[1], 'done', -1)
    redis.call('HINCRBY', KEYS[1], 'failed', -1)
  end
  redis.call('HDEL', KEYS[4], ARGV[at])
  redis.call('RPUSH', KEYS[5], ARGV[at])
end
return 1
