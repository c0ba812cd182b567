-- Releases a claimed position that got no item. After too many failures, or if every seed gives a held-out question:
--   an open position, or one of a step, is skipped, counted and listed; the next request for the step replaces it
--   a position requested by number draws another task; after the last draw it has no item, now or later
-- KEYS  see parts/sequence.lua; also skippedPositions (list of JSON, newest first)
-- ARGV  1 epoch  2 position  3 whose fault: 'ours', 'item' or 'held_out'  4 what to list, as JSON  5 task
--       6 'open', 'step' or 'number': who requested it  7 '1': there is no other task to draw
-- Returns 1 if the position is now skipped or has no item, else 0.
-- include parts/sequence
local state = get_state(K.states, ARGV[2])
if redis.call('HGET', K.run, RUN.epoch) ~= ARGV[1] or not state or is_made(state) then
  return 0 -- the sequence was restarted, or another caller made the item
end
state.attempts = state.attempts + (ARGV[3] == 'item' and 1 or 0)
state.claimed_until = 0
if ARGV[3] ~= 'held_out' and state.attempts < LIMITS.attempts then
  set_state(K.states, ARGV[2], state)
  return 0
end
if ARGV[6] == 'number' and ARGV[7] ~= '1' then
  state.attempts, state.task = 0, nil
  state.tried = state.tried and state.tried .. ',' .. ARGV[5] or ARGV[5]
  set_state(K.states, ARGV[2], state)
  return 0
end
if ARGV[6] == 'open' then
  close_position(ARGV[2])
else
  redis.call('HDEL', K.states, ARGV[2])
end
if ARGV[6] == 'number' then
  put_issued({ { position = ARGV[2], failed = true } })
end
redis.call('HINCRBY', K.run, RUN.skipped_positions, 1)
if ARGV[3] == 'held_out' then
  redis.call('HINCRBY', K.run, RUN.skipped_eval_items, 1)
end
redis.call('LPUSH', K.skippedPositions, ARGV[4])
redis.call('LTRIM', K.skippedPositions, 0, LIMITS.skipped_positions - 1)
return 1
