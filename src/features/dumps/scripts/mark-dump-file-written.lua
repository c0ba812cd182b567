-- Marks a file as written and deletes its records, once.
-- KEYS  state (hash)  unwrittenFiles (hash)  fileRecords (list)  writtenFiles (hash: name to JSON)
-- ARGV  1 kind/number  2 record of the file as JSON
-- Returns 1, or 0 if another attempt was faster.
if redis.call('HDEL', K.unwrittenFiles, ARGV[1]) == 0 then
  return 0
end
local file = cjson.decode(ARGV[2])
redis.call('HSET', K.writtenFiles, file[WRITTEN.name], ARGV[2])
redis.call('HINCRBY', K.state, DUMPS.bytes, 0 - file[WRITTEN.bytes])
redis.call('HINCRBY', K.state, DUMPS.written_groups .. file[WRITTEN.kind], file[WRITTEN.groups])
redis.call('DEL', K.fileRecords)
return 1
