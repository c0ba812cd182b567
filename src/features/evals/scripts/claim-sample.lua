-- Claims the next sample for a slot. A slot whose worker was killed gets the sample that it had; no other slot gets that one.
-- KEYS  job (hash)  claims (hash: slot to sample)  retries (list: samples to generate again)
-- ARGV  1 slot  2 now, ms
-- Returns the sample's number, -1 if none is left, -2 if the job has ended or does not exist.
local status, total = unpack(redis.call('HMGET', K.job, JOB.status, JOB.total))
if status == 'queued' then
  redis.call('HSET', K.job, JOB.status, 'running', JOB.started_at, ARGV[2])
elseif status ~= 'running' then
  return -2
end
local claimed = redis.call('HGET', K.claims, ARGV[1])
if claimed then
  return tonumber(claimed)
end
local sample = redis.call('LPOP', K.retries)
if not sample then
  sample = tonumber(redis.call('HGET', K.job, JOB.next_sample) or '0')
  if sample >= tonumber(total) then
    return -1
  end
  redis.call('HSET', K.job, JOB.next_sample, sample + 1)
end
redis.call('HSET', K.claims, ARGV[1], sample)
return tonumber(sample)
