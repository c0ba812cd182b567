-- Stores the item that was made for a position, unless the run has moved on. The first item that fits is kept.
-- KEYS  see parts/sequence.lua; also questions (sorted set: hash of a question by the position whose item asks it)
-- ARGV  1 JSON: epoch  revision of the settings it was made with  position (all as text)  state: its made state, as JSON
--         body: of an open position  now, ms  question: its hash if no other position may ask it
--         passed_over_eval_items, passed_over_repeats: seeds whose questions are held out, or were asked
--         passed_over_unanswerable: seeds whose questions have no right answer
--         repeated_items: 1 if its own question was asked, too  channel of notifications
-- Returns 1; -1 if another position asks the question; or 0 if the item is not needed: another came first, the position
-- is gone, or the settings or the task's level have changed, in which case the item is to be made again.
-- include parts/sequence

-- Resets a position to unmade if it is among `states`. Returns false if it is not.
local function unmake(states, position, now)
  local state = get_state(states, position)
  if state and is_made(state) then
    set_unmade(states, position, now, state)
    redis.call('HDEL', K.itemBodies, position)
  end
  return state ~= nil
end

-- Records the question for a position, unless another one asks it. Returns whether the position has it. Among positions
-- whose items are not issued, the lowest gets the question, regardless of whose item was made first, and the item of
-- the other one is made again. A step with an unmade position is not issued. A question counts as asked for
-- LIMITS.remembered_questions positions.
local function take_question(position, hash, now)
  position = tonumber(position)
  redis.call('ZREMRANGEBYSCORE', K.questions, position, position) -- the question of an item that this one replaces
  local asked_at = tonumber(redis.call('ZSCORE', K.questions, hash) or -math.huge)
  if asked_at > position then
    if not unmake(K.positionStates, asked_at, now) and not unmake(K.requestedPositions, asked_at, now) then
      return false
    end
  elseif asked_at > position - LIMITS.remembered_questions then
    return false
  end
  redis.call('ZADD', K.questions, position, hash)
  -- The excess is not counted by position: a position requested by number may lie far ahead of those that the queue
  -- hands out.
  local excess = redis.call('ZCARD', K.questions) - LIMITS.remembered_questions - LIMITS.open_positions
  if excess > 0 then
    redis.call('ZREMRANGEBYRANK', K.questions, 0, excess - 1)
  end
  return true
end

local run = redis.call('HMGET', K.run, RUN.epoch, RUN.revision)
local made = cjson.decode(ARGV[1])
announce(made) -- whatever becomes of the item
local stored = get_state(K.states, made.position)
if run[1] ~= made.epoch or not stored or current_difficulty(stored) then
  return 0
end
local item, same_settings = cjson.decode(made.state), run[2] == made.revision
if not same_settings or not current_difficulty(item) then
  -- A change of settings has cleared what was drawn. Another change of revision, such as a rewind, keeps it.
  set_unmade(K.states, made.position, made.now, same_settings and item or stored, stored.tried)
  redis.call('HDEL', K.itemBodies, made.position)
  return 0
end
if made.question and not take_question(made.position, made.question, made.now) then
  return -1
end
local counts = {
  [RUN.passed_over_eval_items] = made.passed_over_eval_items,
  [RUN.passed_over_repeats] = made.passed_over_repeats,
  [RUN.passed_over_unanswerable] = made.passed_over_unanswerable,
  [RUN.repeated_items] = made.repeated_items,
}
for field, count in pairs(counts) do
  if count ~= 0 then
    redis.call('HINCRBY', K.run, field, count)
  end
end
redis.call('HSET', K.states, made.position, made.state)
if made.body then
  redis.call('HSET', K.itemBodies, made.position, made.body)
end
return 1
