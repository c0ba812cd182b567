-- Deletes the stored output of a sample and subtracts its size from the job's total.
-- job (hash), outputs (hash)
local function delete_output(job, outputs, sample)
  local bytes = redis.call('HSTRLEN', outputs, sample)
  if bytes > 0 then
    redis.call('HDEL', outputs, sample)
    redis.call('HINCRBY', job, JOB.output_bytes, -bytes)
  end
end
