-- Stores the item of a sample for a job that chooses its items as it progresses. The first choice is kept.
-- KEYS  job (hash)  items (hash: sample to item ID)
-- ARGV  1 sample  2 item ID
-- Returns the item ID that is stored: the given one, unstored, if the job does not exist.
-- include parts/generation-job
if redis.call('EXISTS', K.job) == 0 then
  return ARGV[2]
end
redis.call('HSETNX', K.items, ARGV[1], ARGV[2])
expire_if_ended(K.job, K.items)
return redis.call('HGET', K.items, ARGV[1])
