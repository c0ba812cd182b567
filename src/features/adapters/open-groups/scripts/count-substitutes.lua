-- Counts rewards that stood in for verdicts. A script, so that a run that ended in the meantime gets no new keys.
-- KEYS  run (hash)  groupSizes (hash)
-- ARGV  1 epoch  2 count
if redis.call('HGET', K.run, RUN.epoch) == ARGV[1] then
  redis.call('HINCRBY', K.groupSizes, SIZES.substituted, ARGV[2])
end
