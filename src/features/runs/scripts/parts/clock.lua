-- Returns the time of Redis in ms, which is the same for all processes. Their own clocks differ.
local function clock_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
