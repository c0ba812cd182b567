-- Sets the total size of all dumps to the counted one, unless it has changed since the count began.
-- KEYS  dumpSpace (hash)
-- ARGV  1 bytes  2 time of the last change before the count, ms
if tonumber(redis.call('HGET', K.dumpSpace, SPACE.changed_at) or 0) == tonumber(ARGV[2]) then
  redis.call('HSET', K.dumpSpace, SPACE.bytes, ARGV[1])
end
