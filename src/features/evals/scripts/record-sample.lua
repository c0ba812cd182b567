-- Records the verdict of a sample once and releases its slot. Adds a progress event at most once per interval.
-- KEYS  job (hash)  verdicts (hash: sample to JSON)  claims (hash)  events (stream)
-- ARGV  1 sample  2 verdict as JSON  3 slot, or ''  4 what to add to the sum of scores, or ''  5 now, ms
--       6 interval between progress events, ms  7 limit on stored events  8 number of samples that this record covers
--       9 how many of them failed  10 limit on the reasons that are counted separately  11 JSON [{ code, reason, count, key }]: why
-- Returns { 1 if it was new, samples done, total, samples that failed for the most frequent reason }, or { -1 } if the
-- job is not active.

local function add_failures(stored)
  local places = {}
  for at, failure in ipairs(stored) do
    places[failure.key] = at
  end
  for _, failure in ipairs(cjson.decode(ARGV[11])) do
    if not places[failure.key] and #stored >= tonumber(ARGV[10]) then
      failure.code, failure.reason, failure.key = 'other', '', 'other'
    end
    local at = places[failure.key]
    if at then
      stored[at].count = stored[at].count + failure.count
    else
      table.insert(stored, failure)
      places[failure.key] = #stored
    end
  end
  return stored
end

local status, total, last_event_at = unpack(redis.call('HMGET', K.job, JOB.status, JOB.total, JOB.progress_event_at))
if status == 'queued' then
  redis.call('HSET', K.job, JOB.status, 'running', JOB.started_at, ARGV[5])
elseif status ~= 'running' then
  return { -1 }
end
local new = redis.call('HSETNX', K.verdicts, ARGV[1], ARGV[2])
if ARGV[3] ~= '' then
  redis.call('HDEL', K.claims, ARGV[3])
end
if new == 0 then
  return { 0, tonumber(redis.call('HGET', K.job, JOB.done) or '0'), tonumber(total), 0 }
end
local done = redis.call('HINCRBY', K.job, JOB.done, ARGV[8])
local failed = redis.call('HINCRBY', K.job, JOB.failed, ARGV[9])
local same_failures = 0
if ARGV[9] ~= '0' then
  local failures = add_failures(cjson.decode(redis.call('HGET', K.job, JOB.failures) or '[]'))
  for _, failure in ipairs(failures) do
    same_failures = math.max(same_failures, failure.count)
  end
  if #failures > 0 then
    redis.call('HSET', K.job, JOB.failures, cjson.encode(failures))
  end
end
if ARGV[4] ~= '' then
  redis.call('HINCRBYFLOAT', K.job, JOB.score_sum, ARGV[4])
end
if done >= tonumber(total) or tonumber(ARGV[5]) - tonumber(last_event_at or '0') >= tonumber(ARGV[6]) then
  local sum = redis.call('HGET', K.job, JOB.score_sum) or '0'
  local mean = done > failed and string.format('%.6f', tonumber(sum) / (done - failed)) or 'null'
  local progress = string.format('{"done":%d,"total":%d,"failed":%d,"mean_score":%s}', done, tonumber(total), failed, mean)
  redis.call('HSET', K.job, JOB.progress_event_at, ARGV[5])
  redis.call('XADD', K.events, 'MAXLEN', '~', ARGV[7], '*', 'event', 'progress', 'data', progress)
end
return { 1, done, tonumber(total), same_failures }
