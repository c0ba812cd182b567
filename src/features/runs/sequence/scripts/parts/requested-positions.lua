-- Included after parts/sequence by the scripts that request positions.
-- KEYS  requestedPositions (hash: position to its state): requested positions whose items are not issued yet

-- Requests the item of a position. An open position keeps its item if that is made.
local function request_position(position, now)
  local state = get_state(K.positionStates, position)
  local difficulty = state and current_difficulty(state)
  if difficulty then
    state.difficulty = difficulty
    set_made(K.requestedPositions, position, state)
  else
    set_unmade(K.requestedPositions, position, now, state)
  end
  if state then
    close_position(position)
  end
end

-- Issues the items of requested positions together, once all are made. Until then, none of them is final.
-- Returns { 'unmade', position … }, { 'issued', position, task, difficulty, retry, propensity … } or { 'no_item', position … }.
local function issue_positions(positions)
  local unmade, failed, items, new, reply = { 'unmade' }, { 'no_item' }, {}, {}, { 'issued' }
  for k, position in ipairs(positions) do
    local item = get_issued(position)
    if item and item.failed then
      table.insert(failed, position)
    elseif not item then
      local state = get_state(K.requestedPositions, position)
      if state and is_made(state) then
        item = state
        item.position, item.difficulty = position, state.difficulty or ''
        table.insert(new, item)
      else
        table.insert(unmade, position)
      end
    end
    items[k] = item or false
  end
  if #failed > 1 then
    return failed
  elseif #unmade > 1 then
    return unmade
  end
  put_issued(new)
  for _, item in ipairs(new) do
    redis.call('HDEL', K.requestedPositions, item.position)
  end
  for k, position in ipairs(positions) do
    local item = items[k]
    local propensity = string.format('%.6g', item.propensity or 0)
    for _, value in ipairs({ position, item.task, item.difficulty, item.retry or 0, propensity }) do
      table.insert(reply, value)
    end
  end
  return reply
end
