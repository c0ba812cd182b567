-- Claims the code of this process's custom tasks, unless live processes use other code of a task. Reports those tasks, and tasks that
-- live processes have and this one lacks.
-- KEYS  taskCode (hash: task to the hash of the code in use)
--       taskCodeClaims (sorted set: `task hash process` by the time of the last report, in ms of the Redis clock)
-- ARGV  1 name of the process  2 milliseconds after which a silent process is dead  3… task, hash of its code
-- Returns for each conflict: task, hash of the other code, a process that has it.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local process = ARGV[1]
local codes = {}
for k = 3, #ARGV, 2 do
  codes[ARGV[k]] = ARGV[k + 1]
end
redis.call('ZREMRANGEBYSCORE', K.taskCodeClaims, '-inf', now - tonumber(ARGV[2]))

local function findOtherProcess(claim)
  for _, member in ipairs(redis.call('ZRANGE', K.taskCodeClaims, 0, -1)) do
    if string.sub(member, 1, #claim) == claim and string.sub(member, #claim + 1) ~= process then
      return string.sub(member, #claim + 1)
    end
  end
end

local conflicts = {}
local inUse = redis.call('HGETALL', K.taskCode)
for k = 1, #inUse, 2 do
  local task, hash = inUse[k], inUse[k + 1]
  if codes[task] ~= hash then
    local claim = task .. ' ' .. hash .. ' '
    redis.call('ZREM', K.taskCodeClaims, claim .. process) -- of code that this process had before
    local other = findOtherProcess(claim)
    if other then
      table.insert(conflicts, { task, hash, other })
      codes[task] = nil
    else
      redis.call('HDEL', K.taskCode, task)
    end
  end
end
for task, hash in pairs(codes) do
  redis.call('HSET', K.taskCode, task, hash)
  redis.call('ZADD', K.taskCodeClaims, now, task .. ' ' .. hash .. ' ' .. process)
end
return conflicts
