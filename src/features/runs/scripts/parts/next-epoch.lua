-- Returns an epoch, as text, that shares no keys with those to be removed. Clocks differ and may go back.
-- least  lower bound: the current time, or more
local function next_epoch(least, discarded_epochs)
  local epoch = tonumber(least)
  for _, discarded in ipairs(redis.call('ZRANGE', discarded_epochs, 0, -1)) do
    epoch = math.max(epoch, tonumber(discarded) + 1)
  end
  return string.format('%.0f', epoch)
end
