-- Prolongs the lease of the call that is at work, or ends it.
-- KEYS  as parts/idempotency-room.lua says
-- ARGV  1 to 8 as parts/idempotency-room.lua says  9 token of the call  10 end of the lease, ms
if redis.call('HGET', K.record, RECORD.token) == ARGV[9] then
  redis.call('HSET', K.record, RECORD.working_until, ARGV[10])
end
