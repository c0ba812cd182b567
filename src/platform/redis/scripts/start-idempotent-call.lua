-- Starts the call of an Idempotency-Key, unless the call is done or another caller is executing it.
-- KEYS  as parts/idempotency-room.lua says
-- ARGV  1 to 8 as parts/idempotency-room.lua says  9 hash of the body  10 token for a new key  11 end of the lease, ms
-- Returns { 'do', token }, { 'wait', '' }, { 'done', decision }, { 'other_body', '' }, or { 'full', milliseconds until a
-- record may be dropped } if the key is new and there is no room for it.
-- include parts/idempotency-room
local stored = redis.call('HMGET', K.record, RECORD.body, RECORD.token, RECORD.working_until, RECORD.decision)
local body, token, working_until, decision = unpack(stored)
if not body then
  local crowded_by = make_room(LIMITS.record_bytes)
  if crowded_by then
    local oldest = redis.call('ZRANGE', ARGV[4] .. crowded_by, 0, 0, 'WITHSCORES')[2] or now
    return { 'full', tostring(math.max(0, tonumber(oldest) + tonumber(ARGV[8]) - now)) }
  end
  redis.call('HSET', K.record, RECORD.body, ARGV[9], RECORD.token, ARGV[10], RECORD.working_until, ARGV[11])
  redis.call('PEXPIRE', K.record, LIMITS.record_ttl_ms)
  redis.call('ZADD', K.callerRecords, now, LIMITS.record_bytes .. ':' .. ARGV[1])
  add_bytes(LIMITS.record_bytes)
  return { 'do', ARGV[10] }
end
if body ~= ARGV[9] then
  return { 'other_body', '' }
end
if decision then
  return { 'done', decision }
end
if working_until and tonumber(working_until) > now then
  redis.call('HSET', K.record, RECORD.awaited, 1)
  return { 'wait', '' }
end
redis.call('HSET', K.record, RECORD.working_until, ARGV[11])
return { 'do', token }
