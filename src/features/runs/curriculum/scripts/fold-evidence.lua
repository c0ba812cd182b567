-- Stores the result of folding a run's oldest evidence and removes that evidence from the list. Each piece is folded once.
-- KEYS  run (hash)  curriculum (hash: task to its JSON)  frontierWeights (hash: task to its weights)
--       curriculumHistory (list of JSON points, newest first)  frontierEvidence (list of JSON, oldest first)
-- ARGV  1 JSON: epoch  revision of the settings it was folded under  folded: evidence that had left the list before (all as
--         text)  count: pieces folded  max_points: points to keep
--         tasks: [task, its JSON, its weights, …]  points: [JSON, …], oldest first
-- Returns how many pieces are left, or -1 if the run has changed or another process was faster.
local folded = cjson.decode(ARGV[1])
local run = redis.call('HMGET', K.run, RUN.epoch, RUN.revision, RUN.folded_evidence)
if run[1] ~= folded.epoch or run[2] ~= folded.revision or (run[3] or '0') ~= folded.folded then
  return -1
end
-- Must come first: once a script has written without using memory, a full Redis lets it finish.
redis.call('LTRIM', K.frontierEvidence, folded.count, -1)
for k = 1, #folded.tasks, 3 do
  redis.call('HSET', K.curriculum, folded.tasks[k], folded.tasks[k + 1])
  redis.call('HSET', K.frontierWeights, folded.tasks[k], folded.tasks[k + 2])
end
for _, point in ipairs(folded.points) do
  redis.call('LPUSH', K.curriculumHistory, point)
end
redis.call('LTRIM', K.curriculumHistory, 0, folded.max_points - 1)
redis.call('HINCRBY', K.run, RUN.curriculum_points, #folded.points)
redis.call('HINCRBY', K.run, RUN.folded_evidence, folded.count)
return redis.call('LLEN', K.frontierEvidence)
