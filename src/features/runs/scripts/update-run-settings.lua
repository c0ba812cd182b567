-- Sets a run's explicit settings, unless another call has changed them. Creates the run if it does not exist.
-- KEYS  run (hash)  openPositions (sorted set)  positionStates (hash)  itemBodies (hash)  leaseExpiries (sorted set)
--       leasedItems, requestedPositions, issuedItems, stepPositions (hashes)  issuedTasks (list)  questions (sorted set)
--       discardedEpochs (sorted set: epoch by time)  curriculum (hash: task to its JSON)  frontierWeights (hash)
--       mixes (list of JSON, oldest first)  stepStates (sorted set: number of a recorded state by step)
-- ARGV  1 JSON: based_on: revision that the change is based on, 0: a new run  settings: the explicit ones, as JSON  now, ms
--         incarnation: of a new run  restart: restart the sequence
--         remake: make the items again that are not issued  mix: { at, tasks, exclude }, as JSON, of a new run or a new mix
--         epoch: of the keys, the lowest for a new run, as text
--         configures: a call puts the settings; else the first use of a run creates it
--         start: [task, its state, its weights, …], frontiers of tasks that no group has moved; absent to keep those
-- Returns the new revision, 0 if another change came first, or -E if a new run needs the keys of epoch E for its start.
-- include ../sequence/scripts/parts/position-state
-- include parts/next-epoch
-- include parts/step-states

-- Tasks that a group has moved keep their level.
local function start_tasks(start)
  for _, task in ipairs(redis.call('HKEYS', K.curriculum)) do
    local json = redis.call('HGET', K.curriculum, task)
    local scores = (read_object(json) or {}).scores
    if type(scores) ~= 'table' then
      set_aside(K.curriculum, task)
    end
    if type(scores) ~= 'table' or next(scores) == nil then
      redis.call('HDEL', K.curriculum, task)
      redis.call('HDEL', K.frontierWeights, task)
    end
  end
  for k = 1, #start, 3 do
    if redis.call('HSETNX', K.curriculum, start[k], start[k + 1]) == 1 then
      redis.call('HSET', K.frontierWeights, start[k], start[k + 2])
    end
  end
end

local change = cjson.decode(ARGV[1])

-- Makes all items again that are not issued. Returns the first of their positions: a new mix begins there.
local function remake_items()
  local first = tonumber(redis.call('HGET', K.run, RUN.position) or 0)
  redis.call('UNLINK', K.itemBodies)
  for _, position in ipairs(redis.call('ZRANGE', K.openPositions, 0, -1)) do
    set_unmade(K.positionStates, position, change.now)
    first = math.min(first, position)
  end
  for _, position in ipairs(redis.call('HKEYS', K.requestedPositions)) do
    set_unmade(K.requestedPositions, position, change.now)
    first = math.min(first, position)
  end
  return first
end

local function record_mix(number, position)
  local step = tonumber(redis.call('HGET', K.run, RUN.step) or '')
  local entry = string.format('{"number":%d,"position":%.0f,"step":%s,', number, position,
    step and string.format('%.0f', step) or 'null')
  redis.call('RPUSH', K.mixes, entry .. string.sub(change.mix, 2))
  redis.call('LTRIM', K.mixes, -LIMITS.mixes, -1)
  redis.call('HSET', K.run, RUN.mixes, number)
end

local revision = tonumber(redis.call('HGET', K.run, RUN.revision) or '0')
if revision ~= change.based_on or (revision > 0 and redis.call('HGET', K.run, RUN.epoch) ~= change.epoch) then
  return 0
end
if revision == 0 then
  local epoch = next_epoch(change.epoch, K.discardedEpochs)
  if (change.start or change.mix) and epoch ~= change.epoch then
    return -tonumber(epoch)
  end
  redis.call('HSET', K.run, RUN.epoch, epoch, RUN.position, 0, RUN.created_at, change.now, RUN.incarnation, change.incarnation)
elseif change.restart then
  redis.call('HSET', K.run, RUN.position, 0, RUN.requested_end, 0)
  forget_states(K.run, K.stepStates)
  redis.call('UNLINK', K.openPositions, K.positionStates, K.itemBodies, K.leaseExpiries, K.leasedItems,
    K.requestedPositions, K.issuedItems, K.issuedTasks, K.stepPositions, K.questions, K.mixes)
elseif change.remake then
  local first = remake_items()
  if change.mix then
    record_mix(tonumber(redis.call('HGET', K.run, RUN.mixes) or 0) + 1, first)
  end
end
if change.mix and (revision == 0 or change.restart) then
  record_mix(0, 0)
end
if change.start then
  start_tasks(change.start)
end
redis.call('HSET', K.run, RUN.settings, change.settings, RUN.revision, revision + 1)
if change.configures then
  redis.call('HSET', K.run, RUN.configured_at, change.now)
  redis.call('HDEL', K.run, RUN.recreated_at)
end
return revision + 1
