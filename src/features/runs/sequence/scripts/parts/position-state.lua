-- The stored state of a position, in hashes of position to JSON. position-state.ts is the same codec in TypeScript:
--   unmade  { opened, claimed_until, attempts, task?, share?, tried? }  times in ms; task: drawn for the position before
--           tried: names of tasks, comma-separated, that have no item for the position
--   made    { task, difficulty?, ladder?, retry?, propensity?, share? }  difficulty: as text; none for the library's
--           defaults or own config  retry: which seed of the position the item has, none for the first
--           ladder { low, high, from, to, explored? }: bounds of the curriculum's level, and the levels that select this
--           same item; explored: the item explores 'chosen', the rung of the level, or an 'other' one
--           propensity: with which task and rung were drawn
-- task: a variant, that is a task, followed by the JSON of its config if the run's settings gave it one
-- share: probability with which the task was drawn, as text
-- cjson writes 14 digits, enough for integers and propensities. A difficulty and a share are text, to stay the same
-- doubles. A ladder is only read.
-- include ../../../../../platform/redis/scripts/parts/unreadable

local function is_optional(value, kind)
  return value == nil or type(value) == kind
end

local function is_state(state)
  if state.opened ~= nil then
    return type(state.opened) == 'number' and type(state.claimed_until) == 'number' and type(state.attempts) == 'number'
      and is_optional(state.task, 'string') and is_optional(state.tried, 'string') and is_optional(state.share, 'string')
  end
  local ladder = state.ladder or {}
  return type(state.task) == 'string' and is_optional(state.difficulty, 'string') and is_optional(state.retry, 'number')
    and is_optional(state.propensity, 'number') and is_optional(state.share, 'string')
    and (state.ladder == nil or type(ladder) == 'table' and type(ladder.low) == 'number' and type(ladder.high) == 'number'
      and type(ladder.from) == 'number' and type(ladder.to) == 'number')
end

-- Returns nil if the position has none. One that cannot be read counts as unmade, so that the item is made again.
local function get_state(states, position)
  local json = redis.call('HGET', states, position)
  if not json then
    return nil
  end
  local state = read_object(json)
  if state and is_state(state) then
    return state
  end
  set_aside(states, position)
  return { opened = 0, claimed_until = 0, attempts = 0 }
end

local function set_state(states, position, state)
  redis.call('HSET', states, position, cjson.encode(state))
end

local function is_made(state)
  return state.opened == nil
end

-- Marks the item as to be made, now or again. If sampling follows the model, the position keeps the task that `drawn`, an
-- earlier state of it, has.
local function set_unmade(states, position, now, drawn, tried)
  drawn = drawn or {}
  local state = { opened = tonumber(now), claimed_until = 0, attempts = 0, tried = tried }
  state.task, state.share = drawn.task, drawn.share
  set_state(states, position, state)
end

-- Stores a made item whose task, rung and seed are final.
local function set_made(states, position, item)
  local retry, difficulty = tonumber(item.retry or 0), item.difficulty
  set_state(states, position, {
    task = item.task, difficulty = difficulty ~= '' and difficulty or nil, retry = retry > 0 and retry or nil,
    propensity = item.propensity,
  })
end
