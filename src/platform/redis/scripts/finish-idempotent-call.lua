-- Stores what was decided under an Idempotency-Key. The first decision counts.
-- KEYS  as parts/idempotency-room.lua says
-- ARGV  1 to 8 as parts/idempotency-room.lua says  9 token of the call  10 decision  11 channel of notifications
-- Returns the decision that is stored already, or ''. A record that was dropped meanwhile stays so.
-- include parts/idempotency-room
local token, decision, awaited = unpack(redis.call('HMGET', K.record, RECORD.token, RECORD.decision, RECORD.awaited))
if token ~= ARGV[9] then
  return ''
end
if decision then
  return decision
end
redis.call('HSET', K.record, RECORD.decision, ARGV[10])
redis.call('HDEL', K.record, RECORD.working_until)
if awaited then
  redis.call('PUBLISH', ARGV[11], K.record)
end
local member = LIMITS.record_bytes .. ':' .. ARGV[1]
local created = redis.call('ZSCORE', K.callerRecords, member)
if created then
  redis.call('ZREM', K.callerRecords, member)
  redis.call('ZADD', K.callerRecords, created, (LIMITS.record_bytes + #ARGV[10]) .. ':' .. ARGV[1])
  add_bytes(#ARGV[10])
  make_room(0)
end
return ''
