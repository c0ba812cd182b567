-- Assigns the next items of a run to a training step, once; whoever asks again is given the same.
-- KEYS  run (hash)  openPositions (sorted set)  positionStates (hash)  itemBodies (hash)  curriculum (hash)
--       stepItems (hash: position to 'TASK|LABEL', or '-UNTIL:TRIES' while its item is not there)  stepItemBodies (hash)
-- ARGV  1 epoch  2 items wanted  3 now, ms  4 positions to keep open  5 milliseconds that bodies are kept
--       6 revision of the settings that the caller makes items under
-- Gives { 'changed' } if the run is not as the caller thinks, or position, state and body ('' if it is not kept) of each
-- item in order.
-- include parts/sequence
local run = redis.call('HMGET', K.run, 'epoch', 'revision')
if run[1] ~= ARGV[1] or run[2] ~= ARGV[6] then
  return { 'changed' }
end
if redis.call('EXISTS', K.stepItems) == 0 then
  local wanted = tonumber(ARGV[2])
  open_until(K.run, K.openPositions, K.positionStates, math.max(wanted, tonumber(ARGV[4])), ARGV[3])
  for _, position in ipairs(redis.call('ZRANGE', K.openPositions, 0, wanted - 1)) do
    local task, label = placed(head_of(K.positionStates, position), K.curriculum)
    if task then
      redis.call('HSET', K.stepItems, position, task .. '|' .. label)
      redis.call('HSET', K.stepItemBodies, position, redis.call('HGET', K.itemBodies, position))
    else
      redis.call('HSET', K.stepItems, position, '-0:0')
    end
    redis.call('ZREM', K.openPositions, position)
    redis.call('HDEL', K.positionStates, position)
    redis.call('HDEL', K.itemBodies, position)
  end
  redis.call('PEXPIRE', K.stepItemBodies, ARGV[5])
  redis.call('HINCRBY', K.run, 'items', wanted)
  open_until(K.run, K.openPositions, K.positionStates, tonumber(ARGV[4]), ARGV[3])
end
local positions = redis.call('HKEYS', K.stepItems)
table.sort(positions, function(a, b)
  return tonumber(a) < tonumber(b)
end)
local out = {}
for _, position in ipairs(positions) do
  table.insert(out, position)
  table.insert(out, redis.call('HGET', K.stepItems, position))
  table.insert(out, redis.call('HGET', K.stepItemBodies, position) or '')
end
return out
