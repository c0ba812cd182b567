-- Keeps what the model gave for a sample, and counts its bytes.
-- KEYS  1 sampling (hash)  2 texts (hash: sample to text)
-- ARGV  1 sample  2 text  3 milliseconds that the samples of an ended sampling are kept
-- Gives the bytes of all texts, or -1 if the sampling is gone: then nothing is kept.
-- include parts/expiry
if redis.call('EXISTS', KEYS[1]) == 0 then
  return -1
end
local before = redis.call('HSTRLEN', KEYS[2], ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
expire_if_late(KEYS[1], KEYS[2], ARGV[3])
return redis.call('HINCRBY', KEYS[1], 'bytes', #ARGV[2] - before)
