-- Stores the first output of a sample, adds its size to the job's total, and notes whether the model has answered.
-- KEYS  job (hash)  outputs (hash: sample to output)  verdicts (hash)
-- ARGV  1 sample  2 output, or '' if it is not kept  3 1 if it is the answer of the model, otherwise 0
--       4 sample or group whose verdict ends the sample, or ''  5 output that may be replaced, or ''
-- Returns 1, or 0 if nothing is stored: the job does not exist, or another output came first.
-- include parts/generation-job
if redis.call('EXISTS', K.job) == 0 then
  return 0
end
if ARGV[3] == '1' then
  redis.call('HSET', K.job, JOB.answered, 1)
end
local before = redis.call('HGET', K.outputs, ARGV[1]) or ''
if before ~= ARGV[5] or redis.call('HEXISTS', K.verdicts, ARGV[4]) == 1 then
  return 0
end
if ARGV[2] ~= '' then
  redis.call('HSET', K.outputs, ARGV[1], ARGV[2])
  redis.call('HINCRBY', K.job, JOB.output_bytes, #ARGV[2] - #before)
  expire_if_ended(K.job, K.outputs)
end
return 1
