-- Claims unmade positions: open ones, lowest first, or requested ones. The claim ends when the item is stored, when the
-- position is released, or when its time is up.
-- KEYS  see parts/sequence.lua
-- ARGV  1 JSON: epoch (as text)  count: limit of positions to claim  now, ms  to_open: positions to keep open
--         requested: the requested positions, absent for open ones
-- Returns the claimed positions, each followed by the task that was drawn for it before, its share, and the tasks that
-- have no item for it, comma-separated ('' for none).
-- include parts/sequence
local call = cjson.decode(ARGV[1])
if redis.call('HGET', K.run, RUN.epoch) ~= call.epoch then
  return {}
end
local now, positions = call.now, {}
if call.requested then
  for k, position in ipairs(call.requested) do
    positions[k] = string.format('%.0f', position)
  end
else
  open_positions(call.to_open, now)
  positions = redis.call('ZRANGE', K.openPositions, 0, -1)
end
local claimed = {}
for _, position in ipairs(positions) do
  if #claimed == 4 * call.count then
    break
  end
  local state = get_state(K.states, position)
  if not state and not call.requested then
    set_aside(K.states, position)
    state = { opened = now, claimed_until = 0, attempts = 0 }
  end
  if state and not current_difficulty(state) then
    if is_made(state) then -- the curriculum has left its rung
      set_unmade(K.states, position, now, state)
      redis.call('HDEL', K.itemBodies, position)
      state = get_state(K.states, position)
    end
    if state.claimed_until <= now then
      state.claimed_until = now + LIMITS.claim_ms
      set_state(K.states, position, state)
      table.insert(claimed, position)
      table.insert(claimed, state.task or '')
      table.insert(claimed, state.share or '')
      table.insert(claimed, state.tried or '')
    end
  end
end
return claimed
