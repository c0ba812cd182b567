-- Marks a file as written and deletes its records, once.
-- KEYS  state (hash)  unwrittenFiles (hash)  fileRecords (list)  writtenFiles (hash: name to JSON)
-- ARGV  1 kind/number  2 name  3 record of the file as JSON  4 its bytes  5 kind  6 its groups
-- Returns 1, or 0 if another attempt was faster.
if redis.call('HDEL', K.unwrittenFiles, ARGV[1]) == 0 then
  return 0
end
redis.call('HSET', K.writtenFiles, ARGV[2], ARGV[3])
redis.call('HINCRBY', K.state, DUMPS.bytes, -tonumber(ARGV[4]))
redis.call('HINCRBY', K.state, DUMPS.written_groups .. ARGV[5], ARGV[6])
redis.call('DEL', K.fileRecords)
return 1
