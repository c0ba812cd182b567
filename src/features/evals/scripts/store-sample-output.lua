-- Stores the output of a sample and adds its size to the job's total.
-- KEYS  job (hash)  outputs (hash: sample to output)
-- ARGV  1 sample  2 output  3 index of the model that answered, or ''
-- Returns the bytes of all outputs, or -1 if the job does not exist; nothing is stored then.
-- include parts/generation-job
if redis.call('EXISTS', K.job) == 0 then
  return -1
end
if ARGV[3] ~= '' then
  redis.call('HSET', K.job, JOB.answered .. ARGV[3], 1)
end
local before = redis.call('HSTRLEN', K.outputs, ARGV[1])
redis.call('HSET', K.outputs, ARGV[1], ARGV[2])
expire_if_ended(K.job, K.outputs)
return redis.call('HINCRBY', K.job, JOB.output_bytes, #ARGV[2] - before)
