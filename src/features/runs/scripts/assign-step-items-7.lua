-- Assigns the next items of a run to a training step, once; whoever asks again is given the same.
-- KEYS  1 run (hash)  2 open (sorted set)  3 heads (hash)  4 bodies (hash)  5 curriculum (hash)
--       6 step (hash: position to 'TASK|LABEL', or '-UNTIL:TRIES' while its item is not there)  7 bodies of the step (hash)
-- ARGV  1 epoch  2 items wanted  3 now, ms  4 positions to keep open  5 milliseconds that bodies are kept
--       6 revision of the settings that the caller makes items under
-- Gives { 'changed' } if the run is not as the caller thinks, or position, state and body ('' if it is not kept) of each
-- item in order.
-- include parts/sequence
local run = redis.call('HMGET', KEYS[1], 'epoch', 'revision')
if run[1] ~= ARGV[1] or run[2] ~= ARGV[6] then
  return { 'changed' }
end
if redis.call('EXISTS', KEYS[6]) == 0 then
  local wanted = tonumber(ARGV[2])
  open_until(KEYS[1], KEYS[2], KEYS[3], math.max(wanted, tonumber(ARGV[4])), ARGV[3])
  for _, position in ipairs(redis.call('ZRANGE', KEYS[2], 0, wanted - 1)) do
    local task, label = placed(head_of(KEYS[3], position), KEYS[5])
    if task then
      redis.call('HSET', KEYS[6], position, task .. '|' .. label)
      redis.call('HSET', KEYS[7], position, redis.call('HGET', KEYS[4], position))
    else
      redis.call('HSET', KEYS[6], position, '-0:0')
    end
    redis.call('ZREM', KEYS[2], position)
    redis.call('HDEL', KEYS[3], position)
    redis.call('HDEL', KEYS[4], position)
  end
  redis.call('PEXPIRE', KEYS[7], ARGV[5])
  redis.call('HINCRBY', KEYS[1], 'items', wanted)
  open_until(KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[4]), ARGV[3])
end
local positions = redis.call('HKEYS', KEYS[6])
table.sort(positions, function(a, b)
  return tonumber(a) < tonumber(b)
end)
local out = {}
for _, position in ipairs(positions) do
  table.insert(out, position)
  table.insert(out, redis.call('HGET', KEYS[6], position))
  table.insert(out, redis.call('HGET', KEYS[7], position) or '')
end
return out
