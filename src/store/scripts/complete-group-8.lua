-- Completes a group: verdicts, buffer, counters, curriculum and notice in one step, once; a second delivery finds it done.
-- KEYS  1 run (hash)  2 group (hash)  3 pending (sorted set)  4 buffer (sorted set: group id by order of completion)
--       5 recent (list of group ids, newest first)  6 tasks (hash of sums per task)
--       7 curriculum (hash: task to its JSON)  8 history (list of JSON points, newest first)
-- ARGV  1 group id  2 result as JSON  3 status  4 destination or ''  5 milliseconds that a done group is remembered
--       6 most groups that are kept  7 channel  8 message  9 prefix of group keys
--       10 task  11 its mean score, or '' if the group does not feed the curriculum  12 difficulty of the item
--       13 accuracy that the curriculum aims at  14 lowest level  15 highest level  16 time, ISO 8601  17 most points kept
--       18 number of run counters, then name and amount of each; after these, fields and amounts of the task's sums
-- Gives 1, or 0 if the group was done already or is gone.
if redis.call('HGET', KEYS[2], 'status') ~= 'queued' then
  return 0
end
redis.call('HSET', KEYS[2], 'status', ARGV[3], 'result', ARGV[2])
redis.call('ZREM', KEYS[3], ARGV[1])
if ARGV[4] == 'buffered' then
  redis.call('ZADD', KEYS[4], redis.call('HINCRBY', KEYS[1], 'completed', 1), ARGV[1])
else
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
end
local at = 19
for _ = 1, tonumber(ARGV[18]) do
  redis.call('HINCRBY', KEYS[1], ARGV[at], ARGV[at + 1])
  at = at + 2
end
while ARGV[at] do
  redis.call('HINCRBYFLOAT', KEYS[6], ARGV[at], ARGV[at + 1])
  at = at + 2
end
-- What is no longer kept is forgotten but for its content's hash, which tells a repeated post from a new one.
redis.call('LPUSH', KEYS[5], ARGV[1])
if redis.call('LLEN', KEYS[5]) > tonumber(ARGV[6]) then
  local old = redis.call('RPOP', KEYS[5])
  if not redis.call('ZSCORE', KEYS[4], old) then
    redis.call('HDEL', ARGV[9] .. old, 'input', 'result')
  end
end

-- The curriculum, by the rule and the constants of the original environment: of the last 10 scores the last 5 count, from
-- 3 on; the step is 0.05 times the stability, 0.1 times where a steady model is far off. Numbers are kept as text of 17
-- digits, so that a level is the same double after its way through JSON.
local function feed(score, difficulty, target, low, high)
  local text = redis.call('HGET', KEYS[7], ARGV[10])
  local state = text and cjson.decode(text) or { level = '0.3', scores = {} }
  local level = math.min(math.max(tonumber(state.level), low), high)
  if math.abs(difficulty - level) > 0.05 + 1e-9 then
    return -- a late group of another difficulty would mislead it
  end
  local scores = state.scores
  table.insert(scores, string.format('%.17g', score))
  if #scores > 10 then
    table.remove(scores, 1)
  end
  local first = math.max(1, #scores - 4)
  local n, sum, squares = #scores - first + 1, 0, 0
  for k = first, #scores do
    sum = sum + tonumber(scores[k])
  end
  local accuracy = sum / n
  for k = first, #scores do
    squares = squares + (tonumber(scores[k]) - accuracy) ^ 2
  end
  if #scores >= 3 then
    local stability = math.max(0.5, 1 - math.sqrt(squares / n))
    local step = 0
    if accuracy > target + 0.05 then
      step = 0.05 * stability
    elseif accuracy < target - 0.05 then
      step = -0.05 * stability
    end
    if stability > 0.8 and accuracy > 0.9 and level < 0.5 then
      step = 0.1 * stability
    elseif stability > 0.8 and accuracy < 0.3 and level > 0.5 then
      step = -0.1 * stability
    end
    level = math.min(math.max(level + step, low), high)
  end
  state.level = string.format('%.17g', level)
  state.accuracy = string.format('%.17g', accuracy)
  redis.call('HSET', KEYS[7], ARGV[10], cjson.encode(state))
  local point = string.format(
    '{"time":"%s","task":"%s","score":%.17g,"difficulty":%.17g,"accuracy":%.17g}',
    ARGV[16], ARGV[10], score, level, accuracy
  )
  redis.call('LPUSH', KEYS[8], point)
  redis.call('LTRIM', KEYS[8], 0, tonumber(ARGV[17]) - 1)
end
if ARGV[11] ~= '' then
  feed(tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14]), tonumber(ARGV[15]))
end
redis.call('PUBLISH', ARGV[7], ARGV[8])
return 1
