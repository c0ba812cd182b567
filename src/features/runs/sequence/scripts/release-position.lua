-- Releases a claimed position that got no item. After too many failures, or if every seed gives a held-out question:
--   an open position, or one of a step, is skipped, counted and listed; the next request for the step replaces it
--   a position requested by number draws another task; after the last draw it has no item, now or later
-- KEYS  see parts/sequence.lua; also skippedPositions (list of JSON, newest first)
-- ARGV  1 JSON:
--         epoch  revision of the settings of the attempt  position (all as text)  fault: 'ours', 'item' or 'held_out'  skipped: what to list, as JSON  task
--         requested_by: 'step' or 'number', absent for an open position  is_last_draw: there is no other task to draw
--         channel of notifications
-- Returns 1 if the position is now skipped or has no item, else 0.
-- include parts/sequence
local released = cjson.decode(ARGV[1])
local state = get_state(K.states, released.position)
local run = redis.call('HMGET', K.run, RUN.epoch, RUN.revision)
if run[1] ~= released.epoch or not state or is_made(state) then
  return 0 -- the sequence was restarted, or another caller made the item
end
announce(released)
state.claimed_until = 0
if run[2] ~= released.revision then
  set_state(K.states, released.position, state) -- the failure says nothing about an item under the settings of now
  return 0
end
state.attempts = state.attempts + (released.fault == 'item' and 1 or 0)
if released.fault ~= 'held_out' and state.attempts < LIMITS.attempts then
  set_state(K.states, released.position, state)
  return 0
end
if released.requested_by == 'number' and not released.is_last_draw then
  state.attempts, state.task, state.share = 0, nil, nil
  state.tried = state.tried and state.tried .. ',' .. released.task or released.task
  set_state(K.states, released.position, state)
  return 0
end
if not released.requested_by then
  close_position(released.position)
else
  redis.call('HDEL', K.states, released.position)
end
if released.requested_by == 'number' then
  put_issued({ { position = released.position, failed = true } })
end
redis.call('HINCRBY', K.run, RUN.skipped_positions, 1)
if released.fault == 'held_out' then
  redis.call('HINCRBY', K.run, RUN.skipped_eval_items, 1)
end
redis.call('LPUSH', K.skippedPositions, released.skipped)
redis.call('LTRIM', K.skippedPositions, 0, LIMITS.skipped_positions - 1)
return 1
