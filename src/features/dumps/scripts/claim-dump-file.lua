-- Claims an unwritten file for a folder, so that two machines without a shared folder do not both write it.
-- KEYS  unwrittenFiles (hash: kind/number to JSON)
-- ARGV  1 kind/number  2 ID of the folder  3 now, ms  4 ms after which a claim that was not renewed can be taken over
-- Returns 'ours', 'theirs', or 'gone' (the file is written).
-- include ../../../platform/redis/scripts/parts/unreadable
local text = redis.call('HGET', K.unwrittenFiles, ARGV[1])
if not text then
  return 'gone'
end
local file = read_object(text)
local now = tonumber(ARGV[3])
if not file then -- the records are in a list of their own
  set_aside(K.unwrittenFiles, ARGV[1])
  file = { [UNWRITTEN.groups] = 0, [UNWRITTEN.sealed_at] = now }
end
local folder = file[UNWRITTEN.folder]
if folder and folder ~= ARGV[2] and now - (tonumber(file[UNWRITTEN.claimed_at]) or 0) < tonumber(ARGV[4]) then
  return 'theirs'
end
file[UNWRITTEN.folder] = ARGV[2]
file[UNWRITTEN.claimed_at] = now
redis.call('HSET', K.unwrittenFiles, ARGV[1], cjson.encode(file))
return 'ours'
