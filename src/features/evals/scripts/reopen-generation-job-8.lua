-- Opens an ended sampling again: finished samples stay, those named are asked a second time; nothing of it expires any more.
-- KEYS  1 sampling (hash)  2 secret (string)  3 items (list)  4 texts (hash)  5 verdicts (hash)  6 claims (hash)
--       7 again (list)  8 events (stream)
-- ARGV  1 key of the model, or ''  2 milliseconds that it lives  3 now, ms
--       4 milliseconds that a result outlives its samples  5… samples to ask again
-- Gives 1, or 0 if it is not cancelled or failed, and was not done with failures, or if its samples are no longer kept.
-- include parts/completions
local status = redis.call('HGET', KEYS[1], 'status')
if status ~= 'cancelled' and status ~= 'failed' and status ~= 'done' then
  return 0
end
local left = redis.call('PTTL', KEYS[1])
if left >= 0 and left <= tonumber(ARGV[4]) then
  return 0
end
redis.call('HSET', KEYS[1], 'status', 'running', 'resumed', ARGV[3])
redis.call('HDEL', KEYS[1], 'result', 'detail', 'ended')
if ARGV[1] ~= '' then
  redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
end
for at = 5, #ARGV do
  if redis.call('HDEL', KEYS[5], ARGV[at]) == 1 then
    redis.call('HINCRBY', KEYS[1], 'done', -1)
    redis.call('HINCRBY', KEYS[1], 'failed', -1)
  end
  forget_text(KEYS[1], KEYS[4], ARGV[at])
  redis.call('RPUSH', KEYS[7], ARGV[at])
end
redis.call('PERSIST', KEYS[1])
for k = 3, #KEYS do
  redis.call('PERSIST', KEYS[k])
end
return 1
