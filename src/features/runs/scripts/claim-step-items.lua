-- Claims the items of a step that are to be made.
-- KEYS  stepItems (hash)
-- ARGV  1 now, ms  2 milliseconds to make them
-- Gives the claimed positions.
local claimed = {}
local states = redis.call('HGETALL', K.stepItems)
for k = 1, #states, 2 do
  local till, tries = states[k + 1]:match('^-(%d+):(%d+)$')
  if till and tonumber(till) <= tonumber(ARGV[1]) then
    redis.call('HSET', K.stepItems, states[k], '-' .. (tonumber(ARGV[1]) + tonumber(ARGV[2])) .. ':' .. tries)
    table.insert(claimed, states[k])
  end
end
return claimed
