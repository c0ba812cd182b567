-- Deletes a job unless it is active.
-- KEYS  job (hash), modelApiKey, items, outputs, verdicts, claims, retries, events, itemClaimLock
-- Returns 1, or 0 if it is active.
-- include parts/generation-job
if is_active(redis.call('HGET', K.job, JOB.status)) then
  return 0
end
redis.call(
  'UNLINK', K.job, K.modelApiKey, K.items, K.outputs, K.verdicts, K.claims, K.retries, K.events, K.itemClaimLock
)
return 1
