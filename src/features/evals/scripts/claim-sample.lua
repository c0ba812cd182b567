-- Gives a lane its next sample. A lane that was killed finds the one it had; nobody else is given that one.
-- KEYS  job (hash)  claims (hash: lane to sample)  retries (list: samples to be asked a second time)
-- ARGV  1 lane  2 now, ms
-- Gives the sample's number, -1 when none is left, -2 when the sampling has ended or is gone.
local status, total = unpack(redis.call('HMGET', K.job, 'status', 'total'))
if status == 'queued' then
  redis.call('HSET', K.job, 'status', 'running', 'started', ARGV[2])
elseif status ~= 'running' then
  return -2
end
local mine = redis.call('HGET', K.claims, ARGV[1])
if mine then
  return tonumber(mine)
end
local sample = redis.call('LPOP', K.retries)
if not sample then
  sample = tonumber(redis.call('HGET', K.job, 'next') or '0')
  if sample >= tonumber(total) then
    return -1
  end
  redis.call('HSET', K.job, 'next', sample + 1)
end
redis.call('HSET', K.claims, ARGV[1], sample)
return tonumber(sample)
