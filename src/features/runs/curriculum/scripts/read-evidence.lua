-- Reads a run's oldest evidence and the run's state in one step. A script does this because a full Redis rejects transactions.
-- KEYS  run (hash)  frontierEvidence (list of JSON, oldest first)
-- ARGV  1 limit of pieces
-- Returns { the pieces, { epoch, revision of the settings, evidence that has left the list } }.
return {
  redis.call('LRANGE', K.frontierEvidence, 0, ARGV[1] - 1),
  redis.call('HMGET', K.run, RUN.epoch, RUN.revision, RUN.folded_evidence),
}
