-- Lets what a slot writes after its job has ended expire with the rest of the job's samples.
-- job (hash)  key: what was written  ms: how long samples are kept
local function expire_if_ended(job, key, ms)
  if redis.call('HEXISTS', job, JOB.ended_at) == 1 and redis.call('PTTL', key) == -1 then
    redis.call('PEXPIRE', key, ms)
  end
end
