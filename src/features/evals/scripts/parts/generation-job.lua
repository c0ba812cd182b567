-- Returns whether a job with this status (string, or false if there is no job) has not ended.
local function is_active(status)
  return status == 'queued' or status == 'running'
end

-- Lets `key`, which a slot has written after its job (hash) has ended, expire with the rest of the job's samples.
local function expire_if_ended(job, key)
  if redis.call('HEXISTS', job, JOB.ended_at) == 1 and redis.call('PTTL', key) == -1 then
    redis.call('PEXPIRE', key, RETENTION.samples_ms)
  end
end

-- Deletes the stored output of a sample and subtracts its size from the job's total.
-- job (hash), outputs (hash)
local function delete_output(job, outputs, sample)
  local bytes = redis.call('HSTRLEN', outputs, sample)
  if bytes > 0 then
    redis.call('HDEL', outputs, sample)
    redis.call('HINCRBY', job, JOB.output_bytes, 0 - bytes)
  end
end
