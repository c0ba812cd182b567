-- Assigns the next items of a run to a training step, once; every later call returns the same.
-- KEYS  as parts/sequence.lua says; states and bodies are the step's; steps (sorted set: step by its last request)
-- ARGV  1 epoch  2 revision of the settings that the caller makes items with  3 items wanted  4 now, ms
--       5 positions to keep open  6 step  7 what the keys of states, 8 of bodies, of a step begin with
-- Returns { 'run_changed' } if epoch or revision are others, or position, state and body ('' if it has expired) of each
-- item, in order.
-- include parts/sequence
-- include parts/step-positions
local run = redis.call('HMGET', K.run, RUN.epoch, RUN.revision)
if run[1] ~= ARGV[1] or run[2] ~= ARGV[2] then
  return { 'run_changed' }
end
if redis.call('EXISTS', K.states) == 0 then
  local wanted, now, target = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
  open_positions(math.max(wanted, target), now)
  for _, position in ipairs(redis.call('ZRANGE', K.openPositions, 0, wanted - 1)) do
    assign_to_step(position, now)
  end
  redis.call('HINCRBY', K.run, RUN.items, wanted)
  open_positions(target, now)
end
-- Listed with its keys in one script: what is not listed would stay when the run is deleted.
redis.call('ZADD', K.steps, ARGV[4], ARGV[6])
local excess = redis.call('ZCARD', K.steps) - LIMITS.steps
if excess > 0 then
  local evicted = redis.call('ZPOPMIN', K.steps, excess)
  for k = 1, #evicted, 2 do
    redis.call('UNLINK', ARGV[7] .. evicted[k], ARGV[8] .. evicted[k])
  end
end
local reply = {}
for _, position in ipairs(step_positions(K.states)) do
  table.insert(reply, position)
  table.insert(reply, redis.call('HGET', K.states, position))
  table.insert(reply, redis.call('HGET', K.bodies, position) or '')
end
return reply
