-- Stores the output of a sample, adds its size to the job's total, and notes whether the model has answered.
-- KEYS  job (hash)  outputs (hash: sample to output)
-- ARGV  1 sample  2 output, or '' if it is not kept  3 1 if it is the answer of the model, otherwise 0
-- Returns 1, or 0 if the job does not exist; nothing is stored then.
-- include parts/generation-job
if redis.call('EXISTS', K.job) == 0 then
  return 0
end
if ARGV[3] == '1' then
  redis.call('HSET', K.job, JOB.answered, 1)
end
if ARGV[2] ~= '' then
  local before = redis.call('HSTRLEN', K.outputs, ARGV[1])
  redis.call('HSET', K.outputs, ARGV[1], ARGV[2])
  redis.call('HINCRBY', K.job, JOB.output_bytes, #ARGV[2] - before)
  expire_if_ended(K.job, K.outputs)
end
return 1
