-- Begins what an Idempotency-Key stands for, unless it is done or somebody is at it.
-- KEYS  idempotencyKey (hash)
-- ARGV  1 hash of the body  2 token for a new key  3 now, ms  4 milliseconds until a call that is at it counts as dead
--       5 milliseconds that the key is kept
-- Gives { 'do', token }, { 'wait', '' }, { 'answer', JSON } or { 'other', '' } for another body.
local hash, token, working, answer = unpack(redis.call('HMGET', K.idempotencyKey, 'hash', 'token', 'working', 'answer'))
if not hash then
  redis.call('HSET', K.idempotencyKey, 'hash', ARGV[1], 'token', ARGV[2], 'working', ARGV[3])
  redis.call('PEXPIRE', K.idempotencyKey, ARGV[5])
  return { 'do', ARGV[2] }
end
if hash ~= ARGV[1] then
  return { 'other', '' }
end
if answer then
  return { 'answer', answer }
end
if working and tonumber(ARGV[3]) - tonumber(working) < tonumber(ARGV[4]) then
  return { 'wait', '' }
end
redis.call('HSET', K.idempotencyKey, 'working', ARGV[3])
return { 'do', token }
