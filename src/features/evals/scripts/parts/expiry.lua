-- What is written after a sampling has ended, by a lane that was at work then, is kept no longer than the rest of it.
-- sampling (hash)  key: what was written  ms: how long that is kept
local function expire_if_late(sampling, key, ms)
  if redis.call('HEXISTS', sampling, 'ended') == 1 and redis.call('PTTL', key) == -1 then
    redis.call('PEXPIRE', key, ms)
  end
end
