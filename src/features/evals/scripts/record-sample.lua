-- Records the verdict of a sample once and releases its slot. Adds a progress event at most once per interval.
-- KEYS  job (hash)  verdicts (hash: sample to JSON)  claims (hash)  events (stream)
-- ARGV  1 JSON: sample; verdict (JSON text); slot, released if it has the sample claimed (text); score (text), if there is one to add to the
--         sum; now, ms; samples that this record covers; failed, how many of them; failures [{ code, reason, count, key }]
--         channel of notifications
-- Returns { 1 if it was new, samples done, total, samples that failed for the most frequent reason }, or { -1 } if the
-- job is not active.
local record = cjson.decode(ARGV[1])

-- include ../../../platform/redis/scripts/parts/unreadable

local function read_failures(json)
  local failures = read_object(json)
  for _, failure in ipairs(failures or {}) do
    if type(failure) ~= 'table' or type(failure.key) ~= 'string' or type(failure.count) ~= 'number' then
      failures = nil
      break
    end
  end
  if not failures then
    set_aside(K.job, JOB.failures)
  end
  return failures or {}
end

local function add_failures(stored)
  local places = {}
  for at, failure in ipairs(stored) do
    places[failure.key] = at
  end
  for _, failure in ipairs(record.failures) do
    if not places[failure.key] and #stored >= LIMIT.reasons then
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
  redis.call('HSET', K.job, JOB.status, 'running', JOB.started_at, record.now)
elseif status ~= 'running' then
  return { -1 }
end
local new = redis.call('HSETNX', K.verdicts, record.sample, record.verdict)
if record.slot and redis.call('HGET', K.claims, record.slot) == record.claimed then
  redis.call('HDEL', K.claims, record.slot)
end
if new == 0 then
  return { 0, tonumber(redis.call('HGET', K.job, JOB.done) or '0'), tonumber(total), 0 }
end
local done = redis.call('HINCRBY', K.job, JOB.done, record.samples)
local failed = redis.call('HINCRBY', K.job, JOB.failed, record.failed)
local same_failures = 0
if record.failed > 0 then
  local stored = redis.call('HGET', K.job, JOB.failures) or '[]'
  local failures = add_failures(read_failures(stored))
  for _, failure in ipairs(failures) do
    same_failures = math.max(same_failures, failure.count)
  end
  if #failures > 0 then
    redis.call('HSET', K.job, JOB.failures, cjson.encode(failures))
  end
end
if record.score then
  redis.call('HINCRBYFLOAT', K.job, JOB.score_sum, record.score)
end
if done >= tonumber(total) or record.now - tonumber(last_event_at or '0') >= LIMIT.event_interval_ms then
  local sum = redis.call('HGET', K.job, JOB.score_sum) or '0'
  local mean = done > failed and string.format('%.6f', tonumber(sum) / (done - failed)) or 'null'
  local progress = string.format('{"done":%d,"total":%d,"failed":%d,"mean_score":%s}', done, tonumber(total), failed, mean)
  redis.call('HSET', K.job, JOB.progress_event_at, record.now)
  redis.call('XADD', K.events, 'MAXLEN', '~', LIMIT.events, '*', 'event', 'progress', 'data', progress)
  redis.call('PUBLISH', record.channel, K.events)
end
return { 1, done, tonumber(total), same_failures }
