-- Records that a process with an engine version is alive, unless a process with another version is.
-- KEYS  engineProcesses (sorted set: `version name` by the time of the last report, in ms of the Redis clock)
-- ARGV  1 version  2 name of the process  3 milliseconds after which a silent process is dead
-- Returns the other process (`version name`), or an empty text.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', K.engineProcesses, '-inf', now - tonumber(ARGV[3]))
local own = ARGV[1] .. ' ' .. ARGV[2]
if not redis.call('ZSCORE', K.engineProcesses, own) then
  for _, member in ipairs(redis.call('ZRANGE', K.engineProcesses, 0, -1)) do
    local version = string.match(member, '^(%S+)')
    if version ~= ARGV[1] then
      return member
    end
  end
end
redis.call('ZADD', K.engineProcesses, now, own)
return ''
