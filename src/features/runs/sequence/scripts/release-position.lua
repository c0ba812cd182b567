-- Releases a claimed position that got no item. One that failed too often, or whose every seed gives a held-out question, is
-- skipped, counted and listed; in a step the next open position takes its place.
-- KEYS  as parts/sequence.lua says, and skippedPositions (list of JSON, newest first)
-- ARGV  1 epoch  2 position  3 whose fault: 'ours', 'item' or 'held_out'  4 what to list, as JSON  5 now, ms
--       6 'open' or 'step'
-- Returns 1 if the position is skipped now, else 0.
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
if ARGV[6] == 'step' then
  redis.call('HDEL', K.states, ARGV[2])
  open_positions(1, ARGV[5])
  assign_to_step(redis.call('ZRANGE', K.openPositions, 0, 0)[1], ARGV[5])
else
  close_position(ARGV[2])
end
redis.call('HINCRBY', K.run, RUN.skipped_positions, 1)
if ARGV[3] == 'held_out' then
  redis.call('HINCRBY', K.run, RUN.skipped_eval_items, 1)
end
redis.call('LPUSH', K.skippedPositions, ARGV[4])
redis.call('LTRIM', K.skippedPositions, 0, LIMITS.skipped_positions - 1)
return 1
