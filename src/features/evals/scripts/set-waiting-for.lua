-- Sets what a collection waits for. A collection that was deleted in the meantime is not created again.
-- KEYS  job (hash)
-- ARGV  1 what it waits for, or ''
if redis.call('EXISTS', K.job) == 1 then
  redis.call('HSET', K.job, JOB.waiting_for, ARGV[1])
end
