-- Claims an unwritten file for a folder, so that two machines that share none do not both write it.
-- KEYS  unwrittenFiles (hash: kind/number to JSON)
-- ARGV  1 kind/number  2 id of the folder  3 now, ms  4 milliseconds after which a silent claim can be taken over
-- Gives 'ours', 'theirs', or 'gone' (it is written).
local text = redis.call('HGET', K.unwrittenFiles, ARGV[1])
if not text then
  return 'gone'
end
local file = cjson.decode(text)
local now = tonumber(ARGV[3])
if file.folder and file.folder ~= ARGV[2] and now - file.claimed < tonumber(ARGV[4]) then
  return 'theirs'
end
file.folder = ARGV[2]
file.claimed = now
redis.call('HSET', K.unwrittenFiles, ARGV[1], cjson.encode(file))
return 'ours'
