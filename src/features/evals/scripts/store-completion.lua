-- Keeps what the model gave for a sample, and counts its bytes.
-- KEYS  job (hash)  completions (hash: sample to text)
-- ARGV  1 sample  2 text  3 milliseconds that the samples of an ended sampling are kept
-- Gives the bytes of all texts, or -1 if the sampling is gone: then nothing is kept.
-- include parts/expiry
if redis.call('EXISTS', K.job) == 0 then
  return -1
end
local before = redis.call('HSTRLEN', K.completions, ARGV[1])
redis.call('HSET', K.completions, ARGV[1], ARGV[2])
expire_if_late(K.job, K.completions, ARGV[3])
return redis.call('HINCRBY', K.job, 'bytes', #ARGV[2] - before)
