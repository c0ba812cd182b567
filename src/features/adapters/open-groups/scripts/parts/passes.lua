-- A trainer passes over its data several times. The samples of one pass make a group, also where the trainer sends another number
-- of them than group_size. Needs K.openGroups, K.groupSizes, params and the part samples.

-- A gap is the number of samples of the run from one sample of a group to the next. It does not depend on how fast they come.

local places

local function read_places()
  local known = redis.call('HMGET', K.groupSizes, SIZES.samples, SIZES.peak, SIZES.usual_gap, SIZES.latest, SIZES.sent_size,
    SIZES.sent_size_for)
  places = { samples = tonumber(known[1] or 0), peak = tonumber(known[2] or 0), usual = tonumber(known[3] or 1),
    latest = tonumber(known[4] or 0), learned = tonumber(known[6] or 0) == params.group_size and tonumber(known[5]) }
end

local function write_places()
  redis.call('HSET', K.groupSizes, SIZES.samples, places.samples, SIZES.peak, places.peak, SIZES.usual_gap,
    string.format('%.4g', places.usual), SIZES.latest, params.now)
end

-- Whether the trainer is done with all groups that were ever open at once: they have as many samples as this one, which were all
-- recorded when the next sample arrived. Samples that come in rounds over all items have equal gaps, and a sample that takes long
-- to score arrived with its siblings.
-- size  number of samples of the group, with those whose response is in flight;  widest: largest gap in the group so far
local function are_all_done(size, gap, widest, arrived)
  local open = redis.call('ZCARD', K.openGroups)
  if size < 2 or gap <= 2 * widest + 2 or open < math.max(8, places.peak) or open > 10000 or open * size < 24
    or arrived + 20 < places.latest then -- ms: the clocks of processes differ
    return false
  end
  for _, item in ipairs(redis.call('ZRANGE', K.openGroups, 0, -1)) do
    local counts = redis.call('HMGET', params.open_group_prefix .. item, OPEN.counted, OPEN.pending)
    if tonumber(counts[1] or 0) + tonumber(counts[2] or 0) ~= size then
      return false
    end
  end
  return true
end

-- Notes a sample that is about to be recorded in `changes` of its group. If it begins another pass, the samples before it are cut off.
-- group  { counted, pending, last?: place of its latest sample, widest: largest gap, is_cut }
local function note_place(changes, sample, group)
  places.samples = places.samples + 1
  local size, place, widest, is_cut = sample.size, places.samples, group.widest, group.is_cut
  if not group.last then
    places.peak = math.max(places.peak, redis.call('ZCARD', K.openGroups) + 1)
  else
    local gap, counted, pending = place - group.last, group.counted, group.pending
    if not size and not places.learned and counted + pending < params.group_size
      and are_all_done(counted + pending, gap, widest, sample.arrived) then
      places.learned = counted + pending
      redis.call('HSET', K.groupSizes, SIZES.sent_size, places.learned, SIZES.sent_size_for, params.group_size)
    end
    if counted > 0 and pending == 0
      and (counted == (size or places.learned or params.group_size) or gap > 8 * math.max(places.peak, 1) * params.group_size) then
      push(changes, OPEN.cut, counted)
      is_cut = true
    end
    if not is_cut then
      widest = math.max(widest, gap)
      places.usual = gap > places.usual and places.usual * 1.05 or math.max(1, places.usual / 1.05) -- tends to the median
    end
  end
  places.latest = params.now
  push(changes, OPEN.last_place, place, OPEN.widest_gap, widest)
  if size then
    push(changes, OPEN.size, size)
  end
end
