-- Claims open positions whose items are to be made, lowest first; whoever claims them has a while to make them.
-- KEYS  run (hash)  openPositions (sorted set)  positionStates (hash)  itemBodies (hash)  curriculum (hash)
-- ARGV  1 epoch  2 most to claim  3 now, ms  4 milliseconds to make them  5 positions to keep open
-- Gives the claimed positions, and after each the task that was drawn for it before ('' for none).
-- include parts/sequence
if redis.call('HGET', K.run, 'epoch') ~= ARGV[1] then
  return {}
end
open_until(K.run, K.openPositions, K.positionStates, tonumber(ARGV[5]), ARGV[3])
local claimed = {}
for _, position in ipairs(redis.call('ZRANGE', K.openPositions, 0, -1)) do
  if #claimed == 2 * tonumber(ARGV[2]) then
    break
  end
  local head = head_of(K.positionStates, position)
  if not placed(head, K.curriculum) then
    if head:sub(1, 1) ~= '-' then -- the curriculum has moved
      head = anew(ARGV[3], head)
      redis.call('HDEL', K.itemBodies, position)
    end
    local opened, till, rest = head:match('^-(%d+):(%d+):(.*)$')
    if tonumber(till) <= tonumber(ARGV[3]) then
      redis.call('HSET', K.positionStates, position, '-' .. opened .. ':' .. (tonumber(ARGV[3]) + tonumber(ARGV[4])) .. ':' .. rest)
      table.insert(claimed, position)
      table.insert(claimed, rest:match(':(.*)$') or '')
    end
  end
end
return claimed
