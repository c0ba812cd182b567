-- Included after parts/sequence by the script that stores items.
-- KEYS  questions (sorted set: hash of a question by the position whose item asks it)

-- Resets a position to unmade if it is among `states`. Returns false if it is not.
local function unmake(states, position, now)
  local state = get_state(states, position)
  if state and is_made(state) then
    set_unmade(states, position, now, state.task)
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
