-- Prolongs the lease of the call that is at work, or ends it.
-- KEYS  as parts/idempotency-room.lua says
-- ARGV  1 to 8 as parts/idempotency-room.lua says  9 token of the call  10 end of the lease, ms
--       11 channel of notifications, if the lease ends
if redis.call('HGET', K.record, RECORD.token) == ARGV[9] then
  redis.call('HSET', K.record, RECORD.working_until, ARGV[10])
  if ARGV[11] then
    redis.call('PUBLISH', ARGV[11], K.record)
  end
end
