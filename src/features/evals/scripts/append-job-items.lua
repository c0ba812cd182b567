-- Appends items to the list of a job that claims them as it needs them.
-- KEYS  job (hash)  items (list)
-- ARGV  1 ms for which the samples of an ended job are kept  2… item IDs
-- Returns the number of items, or 0 if the job does not exist; then nothing is stored.
-- include parts/expiry
if redis.call('EXISTS', K.job) == 0 then
  return 0
end
local count = redis.call('RPUSH', K.items, unpack(ARGV, 2))
expire_if_ended(K.job, K.items, ARGV[1])
return count
