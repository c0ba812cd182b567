-- Says that a process with an engine version lives, unless one with another version does.
-- KEYS  1 processes (sorted set: `version name` by the time last heard of, in ms of Redis' own clock)
-- ARGV  1 version  2 name of the process  3 milliseconds after which a silent process is dead
-- Returns the other version, or an empty text.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[3]))
local own = ARGV[1] .. ' ' .. ARGV[2]
if not redis.call('ZSCORE', KEYS[1], own) then
  for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    local version = string.match(member, '^(%S+)')
    if version ~= ARGV[1] then
      return version
    end
  end
end
redis.call('ZADD', KEYS[1], now, own)
return ''
