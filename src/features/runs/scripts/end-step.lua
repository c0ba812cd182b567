-- Records the state of a run as that after a step, because its trainer says that the step has ended.
-- KEYS  run (hash)  stepStates (sorted set: number of a state by step)
-- ARGV  1 epoch  2 step  3 now, ms
-- Returns 1, also if the step or a later one has ended before, or 0 if the run was deleted or restored in the meantime.
-- include parts/step-states
if redis.call('HGET', K.run, RUN.epoch) ~= ARGV[1] then
  return 0
end
end_step(K.run, K.stepStates, tonumber(ARGV[2]), ARGV[3])
return 1
