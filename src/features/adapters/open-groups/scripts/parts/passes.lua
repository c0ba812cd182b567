-- A trainer passes over its data several times. The samples of one pass make a group, also where the trainer sends another number
-- of them than group_size. Needs K.openGroups, K.openGroup and K.groupSizes.

-- A gap is the number of samples of the run from one sample of a group to the next. It does not depend on how fast they come.

-- Whether the trainer is done with all groups that were ever open at once: they have as many samples as this one, which were all
-- recorded when the next sample arrived. Samples that come in rounds over all items have equal gaps, and a sample that takes long
-- to score arrived with its siblings.
-- size  number of samples of the group, with those whose response is in flight;  widest: largest gap in the group so far
local function are_all_done(size, gap, widest, peak)
  local open = redis.call('ZCARD', K.openGroups)
  local latest = tonumber(redis.call('HGET', K.groupSizes, SIZES.latest) or 0)
  if size < 2 or gap <= 2 * widest + 2 or open < math.max(4, peak) or open > 10000 or open * size < 24
    or params.arrived + 20 < latest then -- ms: the clocks of processes differ
    return false
  end
  local prefix = string.match(K.openGroup, '^(.*:)[^:]+$')
  for _, item in ipairs(redis.call('ZRANGE', K.openGroups, 0, -1)) do
    local counts = redis.call('HMGET', prefix .. item, OPEN.counted, OPEN.pending)
    if tonumber(counts[1] or 0) + tonumber(counts[2] or 0) ~= size then
      return false
    end
  end
  return true
end

-- Notes a sample that is about to be recorded. If it begins another pass, the samples before it are cut off from its group.
local function note_place()
  local size, group_size = params.size, params.group_size
  local place = redis.call('HINCRBY', K.groupSizes, SIZES.samples, 1)
  local group = redis.call('HMGET', K.openGroup, OPEN.counted, OPEN.pending, OPEN.last_place, OPEN.widest_gap, OPEN.cut)
  local sizes = redis.call('HMGET', K.groupSizes, SIZES.peak, SIZES.usual_gap, SIZES.sent_size, SIZES.sent_size_for)
  local counted, last, widest = tonumber(group[1] or 0), tonumber(group[3] or place), tonumber(group[4] or 0)
  local is_first, is_cut = not group[3], group[5]
  local peak, usual = tonumber(sizes[1] or 0), tonumber(sizes[2] or 1)
  if is_first then
    local open = redis.call('ZCARD', K.openGroups) + 1
    if open > peak then
      redis.call('HSET', K.groupSizes, SIZES.peak, open)
    end
  else
    local gap, pending = place - last, tonumber(group[2] or 0)
    local learned = tonumber(sizes[4] or 0) == group_size and tonumber(sizes[3])
    if not size and not learned and counted + pending < group_size and are_all_done(counted + pending, gap, widest, peak) then
      learned = counted + pending
      redis.call('HSET', K.groupSizes, SIZES.sent_size, learned, SIZES.sent_size_for, group_size)
    end
    if counted > 0 and pending == 0 and (counted == (size or learned or group_size) or gap > 8 * math.max(peak, 1) * group_size) then
      redis.call('HSET', K.openGroup, OPEN.cut, counted)
      is_cut = true
    end
  end
  if not is_first and not is_cut then
    widest = math.max(widest, place - last)
    usual = place - last > usual and usual * 1.05 or math.max(1, usual / 1.05) -- tends to the median
  end
  redis.call('HSET', K.groupSizes, SIZES.usual_gap, string.format('%.4g', usual), SIZES.latest, params.now)
  redis.call('HSET', K.openGroup, OPEN.last_place, place, OPEN.widest_gap, widest)
  if size then
    redis.call('HSET', K.openGroup, OPEN.size, size)
  end
end
