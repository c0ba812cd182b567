-- Notes that a file is on disk and lets its records go, once.
-- KEYS  1 state (hash)  2 unwritten files (hash)  3 the file's records (list)  4 files on disk (hash: name to JSON)
-- ARGV  1 kind/number  2 name  3 what is known of the file as JSON  4 its bytes  5 kind  6 its groups
-- Gives 1, or 0 if another attempt was faster.
if redis.call('HDEL', KEYS[2], ARGV[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[4], ARGV[2], ARGV[3])
redis.call('HINCRBY', KEYS[1], 'bytes', -tonumber(ARGV[4]))
redis.call('HINCRBY', KEYS[1], ARGV[5] .. ':written', ARGV[6])
redis.call('DEL', KEYS[3])
return 1
