-- Reads the oldest evidence of a run and the state of the run atomically. A script, because a full Redis rejects transactions.
-- KEYS  run (hash)  frontierEvidence (list of JSON, oldest first)
-- ARGV  1 pieces wanted
-- Returns { the pieces, { epoch, revision of the settings, evidence that has left the list } }.
return {
  redis.call('LRANGE', K.frontierEvidence, 0, ARGV[1] - 1),
  redis.call('HMGET', K.run, RUN.epoch, RUN.revision, RUN.folded_evidence),
}
