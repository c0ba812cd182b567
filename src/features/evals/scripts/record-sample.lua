-- Records what became of a sample, once, and lets its lane go; tells the progress, but not more often than asked.
-- KEYS  job (hash)  verdicts (hash: sample to JSON)  claims (hash)  events (stream)
-- ARGV  1 sample  2 verdict as JSON  3 lane, or ''  4 what to add to the sum of scores, or ''  5 now, ms
--       6 milliseconds between two events  7 most events kept  8 number of samples that this record stands for
--       9 how many of them failed
-- Gives { 1 if it was new, samples done, total }, or { -1 } if the sampling is not running.
local status, total, noted = unpack(redis.call('HMGET', K.job, 'status', 'total', 'noted'))
if status == 'queued' then
  redis.call('HSET', K.job, 'status', 'running', 'started', ARGV[5])
elseif status ~= 'running' then
  return { -1 }
end
local new = redis.call('HSETNX', K.verdicts, ARGV[1], ARGV[2])
if ARGV[3] ~= '' then
  redis.call('HDEL', K.claims, ARGV[3])
end
if new == 0 then
  return { 0, tonumber(redis.call('HGET', K.job, 'done') or '0'), tonumber(total) }
end
local done = redis.call('HINCRBY', K.job, 'done', ARGV[8])
redis.call('HINCRBY', K.job, 'failed', ARGV[9])
if ARGV[4] ~= '' then
  redis.call('HINCRBYFLOAT', K.job, 'score', ARGV[4])
end
if done >= tonumber(total) or tonumber(ARGV[5]) - tonumber(noted or '0') >= tonumber(ARGV[6]) then
  local failed = tonumber(redis.call('HGET', K.job, 'failed') or '0')
  local score = redis.call('HGET', K.job, 'score') or '0'
  local mean = done > failed and string.format('%.6f', tonumber(score) / (done - failed)) or 'null'
  local progress = string.format('{"done":%d,"total":%d,"failed":%d,"mean_score":%s}', done, tonumber(total), failed, mean)
  redis.call('HSET', K.job, 'noted', ARGV[5])
  redis.call('XADD', K.events, 'MAXLEN', '~', ARGV[7], '*', 'event', 'progress', 'data', progress)
end
return { 1, done, tonumber(total) }
