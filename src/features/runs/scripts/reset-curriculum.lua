-- Forgets what a run has learned about its model: levels, frontiers, evidence, and the shares of the sampling. Items that
-- are not issued are made again. The history stays.
-- KEYS  run (hash)  curriculum (hash: task to its JSON)  frontierWeights (hash)  frontierEvidence (list)
--       learnability, recentAccuracies (hashes)  openPositions (sorted set)  positionStates, itemBodies, requestedPositions (hashes)
-- ARGV  1 incarnation of the run  2 its epoch  3 now, ms
-- Returns 1, or 0 if the run was deleted or restored in the meantime.
-- include ../sequence/scripts/parts/position-state
local run = redis.call('HMGET', K.run, RUN.incarnation, RUN.epoch)
if run[1] ~= ARGV[1] or run[2] ~= ARGV[2] then
  return 0
end
-- A process that is folding evidence finds that it has left the list, and stores nothing.
redis.call('HINCRBY', K.run, RUN.folded_evidence, redis.call('LLEN', K.frontierEvidence))
redis.call('UNLINK', K.curriculum, K.frontierWeights, K.frontierEvidence, K.learnability, K.recentAccuracies, K.itemBodies)
for _, position in ipairs(redis.call('ZRANGE', K.openPositions, 0, -1)) do
  set_unmade(K.positionStates, position, ARGV[3])
end
for _, position in ipairs(redis.call('HKEYS', K.requestedPositions)) do
  set_unmade(K.requestedPositions, position, ARGV[3])
end
redis.call('HINCRBY', K.run, RUN.revision, 1) -- rejects items that are being made, and groups graded before
return 1
