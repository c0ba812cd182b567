-- Claims unmade positions: open ones, lowest first, or requested ones. The claim ends when the item is stored, when the
-- position is released, or when its time is up.
-- KEYS  see parts/sequence.lua
-- ARGV  1 epoch  2 limit of positions to claim  3 now, ms  4 'open' or 'requested'  5 positions to keep open
--       6 … the requested positions
-- Returns the claimed positions, each followed by the task that was drawn for it before and by the tasks that have no
-- item for it, comma-separated ('' for none).
-- include parts/sequence
if redis.call('HGET', K.run, RUN.epoch) ~= ARGV[1] then
  return {}
end
local limit, now = tonumber(ARGV[2]), tonumber(ARGV[3])
local positions = {}
if ARGV[4] == 'open' then
  open_positions(tonumber(ARGV[5]), now)
  positions = redis.call('ZRANGE', K.openPositions, 0, -1)
else
  for k = 6, #ARGV do
    table.insert(positions, ARGV[k])
  end
end
local claimed = {}
for _, position in ipairs(positions) do
  if #claimed == 3 * limit then
    break
  end
  local state = get_state(K.states, position)
  if state and not current_difficulty(state) then
    if is_made(state) then -- the curriculum has left its rung
      set_unmade(K.states, position, now, state.task)
      redis.call('HDEL', K.itemBodies, position)
      state = get_state(K.states, position)
    end
    if state.claimed_until <= now then
      state.claimed_until = now + LIMITS.claim_ms
      set_state(K.states, position, state)
      table.insert(claimed, position)
      table.insert(claimed, state.task or '')
      table.insert(claimed, state.tried or '')
    end
  end
end
return claimed
