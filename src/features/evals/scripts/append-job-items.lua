-- Appends items to the list of a job that claims items as needed.
-- KEYS  job (hash)  items (list)
-- ARGV  1 number of items that the caller found  2… item IDs
-- Returns 1, or 0 if the job does not exist or another call has appended in the meantime; nothing is stored then.
-- include parts/generation-job
if redis.call('EXISTS', K.job) == 0 or redis.call('LLEN', K.items) ~= tonumber(ARGV[1]) then
  return 0
end
redis.call('RPUSH', K.items, unpack(ARGV, 2))
expire_if_ended(K.job, K.items)
return 1
