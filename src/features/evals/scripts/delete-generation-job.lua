-- Forgets a sampling, unless it is at work.
-- KEYS  job (hash)  modelApiKey, items, completions, verdicts, claims, retries, events, itemLock
-- Gives 1, or 0 if it is at work.
local status = redis.call('HGET', K.job, 'status')
if status == 'queued' or status == 'running' then
  return 0
end
redis.call('UNLINK', unpack(KEYS))
return 1
