-- Completes a group: verdicts, buffer, counters, curriculum and notice in one step, once; a second delivery finds it done.
-- KEYS  1 run (hash)  2 group (hash)  3 pending (sorted set)  4 buffer (sorted set: group id by order of completion)
--       5 recent (sorted set: group id by order of completion)  6 tasks (hash of sums per task)
--       7 curriculum (hash: task to its JSON)  8 history (list of JSON points, newest first)
--       9 stock (hash)  10 facts (hash: id of a buffered group to its JSON)  11 texts (list)
--       12 failed (sorted set: id of a group that can be tried again, by time in ms)
--       13 dumps (hash)  14, 15 records that wait for a file of rollouts, of failed groups (lists)
--       16 outcomes (hash)  17 metrics (sorted set of steps)
-- ARGV  1 group id  2 result as JSON  3 facts as JSON, for the buffer
--       4 JSON: { epoch, revision: of the settings it was judged by, status, destination?, retriable, signal, task, now (ms), time (ISO 8601),
--                 counters: { name: amount } of the run, sums: { field: amount } of the task,
--                 step_sums: { field: amount } of the step, version?: its oldest policy version,
--                 share?: of its counted rollouts that are right, history_max,
--                 feed?: what the curriculum learns, and the position in the run's sequence that it learns it from,
--                 rollouts, scored: how many it has, and how many of them have a score,
--                 dump?: what parts/dump.lua is asked,
--                 failed_max, keep, keep_bytes, remembered, group_prefix, metrics_prefix }
--       5 channel  6 message  7 the group's record for the dumps
-- Gives nil if the group was done already, is gone, or belongs to an epoch that is over; 'changed' if the settings are not
-- those any more; else what became of its record, and the level of its task before and after if it moved the curriculum.
-- include ../../runs/scripts/parts/curriculum
-- include parts/queue-dump-record
-- include parts/statistics
-- include parts/retire-group
local ask = cjson.decode(ARGV[4])
local keys = {
  run = KEYS[1], stock = KEYS[9], texts = KEYS[11], curriculum = KEYS[7], history = KEYS[8],
  outcomes = KEYS[16], metrics = KEYS[17], metrics_prefix = ask.metrics_prefix,
}
local id = ARGV[1]
local run = redis.call('HMGET', KEYS[1], 'epoch', 'step', 'revision', 'position')
if tonumber(run[1]) ~= ask.epoch then
  return nil
end
local group = redis.call('HMGET', KEYS[2], 'status', 'wants', 'rollouts')
if group[1] ~= 'queued' then
  return nil
end
if tonumber(run[3]) ~= ask.revision then
  return 'changed'
end
local seq = redis.call('HINCRBY', KEYS[1], 'completed', 1)
redis.call('HSET', KEYS[2], 'status', ask.status, 'result', ARGV[2], 'destination', ask.destination or '', 'seq', seq)
redis.call('ZREM', KEYS[3], id)
if group[2] == '1' then
  redis.call('HINCRBY', KEYS[9], 'queued_groups', -1)
  redis.call('HINCRBY', KEYS[9], 'queued_rollouts', -tonumber(group[3]))
end
redis.call('ZADD', KEYS[5], seq, id)

-- Where the group goes: to the trainer, to those who may try again, or out of the way.
if ask.destination == 'buffered' then
  redis.call('ZADD', KEYS[4], seq, id)
  redis.call('HSET', KEYS[10], id, ARGV[3])
  redis.call('HINCRBY', KEYS[9], 'rollouts', ask.rollouts)
  redis.call('HINCRBY', KEYS[9], 'scored_rollouts', ask.scored)
elseif ask.retriable then
  redis.call('ZADD', KEYS[12], ask.now, id)
  local over = redis.call('ZCARD', KEYS[12]) - ask.failed_max
  local given_up = over > 0 and redis.call('ZRANGE', KEYS[12], 0, over - 1)
    or redis.call('ZRANGEBYSCORE', KEYS[12], 0, ask.now - ask.remembered, 'LIMIT', 0, 100)
  for _, old in ipairs(given_up) do
    redis.call('ZREM', KEYS[12], old)
    settle(keys, ask, old)
  end
else
  settle(keys, ask, id)
end

for name, amount in pairs(ask.counters) do
  redis.call('HINCRBY', KEYS[1], name, amount)
end
for field, amount in pairs(ask.sums) do
  redis.call('HINCRBYFLOAT', KEYS[6], field, amount)
end
local step = step_after(run[2], ask.version)
if ask.status == 'scored' then
  redis.call('HSET', KEYS[6], ask.task .. ':last_at', ask.now)
  if ask.signal then
    redis.call('HSET', KEYS[1], 'last_scored_at', ask.now, 'last_signal_at', ask.now, 'groups_since_signal', 0)
  else
    redis.call('HSET', KEYS[1], 'last_scored_at', ask.now)
    redis.call('HINCRBY', KEYS[1], 'groups_since_signal', 1)
  end
  redis.call('HSET', KEYS[1], 'groups_since_scored', 0)
  add_to_step(keys, step, ask.version, ask.step_sums)
else
  redis.call('HINCRBY', KEYS[1], 'groups_since_scored', 1)
end
if ask.share then
  add_outcome(keys, ask.task, ask.share)
end

-- What is no longer kept is forgotten but for its content's hash, which tells a repeated post from a new one.
local over = math.min(redis.call('ZCARD', KEYS[5]) - ask.keep, 100)
if over > 0 then
  for _, old in ipairs(redis.call('ZRANGE', KEYS[5], 0, over - 1)) do
    redis.call('ZREM', KEYS[5], old)
    if not redis.call('HGET', ask.group_prefix .. old, 'waits') then
      redis.call('HDEL', ask.group_prefix .. old, unpack(KEPT))
    end
  end
end

local before, after
if ask.feed and ask.feed.position < tonumber(run[4] or 0) then -- an item that was handed out
  before, after = feed(keys, ask.task, ask.feed, step, ask.time, ask.history_max)
end
local kept = {}
if ask.dump then
  kept = dump({ dumps = KEYS[13], waiting = { rollouts = KEYS[14], failed = KEYS[15] } }, ask.dump, ARGV[7])
end
redis.call('PUBLISH', ARGV[5], ARGV[6])
return { kept, before or '', after or '' }
