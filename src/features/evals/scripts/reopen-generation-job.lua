-- Opens an ended sampling again: finished samples stay, those named are asked a second time; nothing of it expires any more.
-- KEYS  job (hash)  modelApiKey (string)  items (list)  completions (hash)  verdicts (hash)  claims (hash)  retries (list)
--       events (stream)
-- ARGV  1 key of the model, or ''  2 milliseconds that it lives  3 now, ms
--       4 milliseconds that a result outlives its samples  5… samples to ask again
-- Gives 1, or 0 if it is not cancelled or failed, and was not done with failures, or if its samples are no longer kept.
-- include parts/completions
local status = redis.call('HGET', K.job, 'status')
if status ~= 'cancelled' and status ~= 'failed' and status ~= 'done' then
  return 0
end
local left = redis.call('PTTL', K.job)
if left >= 0 and left <= tonumber(ARGV[4]) then
  return 0
end
redis.call('HSET', K.job, 'status', 'running', 'resumed', ARGV[3])
redis.call('HDEL', K.job, 'result', 'detail', 'ended')
if ARGV[1] ~= '' then
  redis.call('SET', K.modelApiKey, ARGV[1], 'PX', ARGV[2])
end
for at = 5, #ARGV do
  if redis.call('HDEL', K.verdicts, ARGV[at]) == 1 then
    redis.call('HINCRBY', K.job, 'done', -1)
    redis.call('HINCRBY', K.job, 'failed', -1)
  end
  forget_text(K.job, K.completions, ARGV[at])
  redis.call('RPUSH', K.retries, ARGV[at])
end
redis.call('PERSIST', K.job)
for k = 3, #KEYS do
  redis.call('PERSIST', KEYS[k])
end
return 1
