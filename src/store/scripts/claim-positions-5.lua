-- Claims open positions whose items are to be made, lowest first; whoever claims them has a while to make them.
-- KEYS  1 run (hash)  2 open (sorted set)  3 heads (hash)  4 bodies (hash)  5 curriculum (hash)
-- ARGV  1 epoch  2 most to claim  3 now, ms  4 milliseconds to make them  5 positions to keep open
-- Gives the claimed positions.
-- include plan
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then
  return {}
end
open_until(KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[5]), ARGV[3])
local claimed = {}
for _, position in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  if #claimed == tonumber(ARGV[2]) then
    break
  end
  local head = head_of(KEYS[3], position)
  if not placed(head, KEYS[5]) then
    local opened, till, tries = head:match('^-(%d+):(%d+):(%d+)$')
    if not opened then -- the curriculum has moved
      opened, till, tries = ARGV[3], '0', '0'
      redis.call('HDEL', KEYS[4], position)
    end
    if tonumber(till) <= tonumber(ARGV[3]) then
      redis.call('HSET', KEYS[3], position, '-' .. opened .. ':' .. (tonumber(ARGV[3]) + tonumber(ARGV[4])) .. ':' .. tries)
      table.insert(claimed, position)
    end
  end
end
return claimed
