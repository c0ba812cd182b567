-- Removes a deleted job from every list. The run comes from Redis: the job itself may have expired.
-- KEYS  ofKind: jobs of the kind (sorted set)  active: active jobs (sorted set)  runs: job to its run (hash)
-- ARGV  1 job ID  2 prefix of the keys that list the jobs of one run
local run = redis.call('HGET', K.runs, ARGV[1])
if run then
  redis.call('ZREM', ARGV[2] .. run, ARGV[1])
  redis.call('HDEL', K.runs, ARGV[1])
end
redis.call('ZREM', K.active, ARGV[1])
redis.call('ZREM', K.ofKind, ARGV[1])
return 1
