-- Forgets a sampling, unless it is at work.
-- KEYS  1 sampling (hash)  2… all its other keys
-- Gives 1, or 0 if it is at work.
local status = redis.call('HGET', KEYS[1], 'status')
if status == 'queued' or status == 'running' then
  return 0
end
redis.call('UNLINK', unpack(KEYS))
return 1
