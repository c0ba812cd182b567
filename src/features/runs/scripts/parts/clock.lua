-- The time of Redis, ms: the same for all processes, whose own clocks differ.
local function clock_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
