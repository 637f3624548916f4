-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see clock.lua, state.lua and log.lua, which precede this script.
--
-- Refunds charges as far as they still count, charges more permits with them even if a limit has no room, or removes states. Never changes
-- a foreign value.
-- KEYS        one per policy and caller
-- ARGV[1]     clock (clock.lua); operation B (1 refunds by receipt, 2 refunds a cost, 3 removes the key, 4 charges more by receipt); for each
--             key the cost in permits I7, for 4 the permits that are charged in addition, the number of limits I2 and the limits
--             (state.lua); by receipt after each limit its state right after the charge: I7 I7 I6, of a sliding log only the entry, of a
--             calendar limit only the latest charge. The periods of calendar limits and the delays of buckets have no meaning
-- Reply       one string: outcome B (1 done, 2 a key has a foreign value), now I7
-- Complexity  O(limits of keys), and for a sliding log the number of entries before or after the changed one, whichever are fewer
-- Redis       6.2 or later

local operation
operation, at = parse('B', input, at)
local isByReceipt, isMore = operation == 1 or operation == 4, operation == 4
local outcome, find, logs = 1, newSections(), newLogs()

-- Returns a count with some more, at most a bound unless it is more already, or with less.
local function changed(count, by, bound)
  return isMore and count + math.max(0, math.min(by, bound - count)) or math.max(0, count + by)
end

-- Returns the counts of a window, from the stored state, since the limit of the charge may differ from the current one. A state of an
-- earlier or a later window stays as it is.
local function ofWindow(limit, by, a, b, c)
  local length, slides = limit[2] * 1000, limit[1] == 115
  if limit.a == a and now - a < (slides and 2 or 1) * length then
    return changed(b, by, most(limit)), c
  elseif slides and limit.a + length == a and now - a < length then
    return b, changed(c, by, most(limit))
  end
  return b, c
end

-- Returns by how much the debt of a bucket changes. Permits return in the order in which they were spent: the rest of the debt right after
-- the charge can be refunded, and of more permits those are charged that would not have returned since.
local function ofBucket(limit, by)
  local bound, parts = most(limit), by * limit.units
  local _, left = advance(limit, bound, limit.a, limit.b, limit.c)
  if not isMore then
    return math.max(-left, parts)
  end
  local _, leftOfAll = advance(limit, bound, limit.a, math.min(limit.b + parts, bound), limit.c)
  return leftOfAll - left
end

-- Returns the limit of the latest call of a bucket, with the charge of a receipt as one under that limit from which as much has returned.
-- It is the limit of the receipt unless the end of the bucket is that by another rate, or the bucket has more debt. It is unknown when the
-- limit changed before the latest call, so until then the rate counts that leaves fewer permits to callers. The capacity is not stored,
-- so it is taken to have grown as the rate.
local function ofLatest(limit, stored)
  local a, b, c, unit = stored[1], stored[2], stored[3], 10 ^ stored[3]
  local count = math.max(1, (stored[6] - a) / unit)
  if limit.permits == 0 or c == limit.c and b <= most(limit) and math.ceil(b / limit.permits) == count then
    return limit
  end
  local permits, parts = math.max(1, math.ceil(b / count)), 10 ^ limit.c / unit
  local pace, passed = limit.permits / permits, math.max(0, a - limit.a)
  return {
    limit[1], limit[2], permits = permits, exponent = c, unit = unit, units = limit[2] * 1000 / unit, isOther = true,
    bound = math.max(b, math.ceil(limit.bound * parts * math.max(1, 1 / pace))),
    a = limit.a + passed - math.floor(passed * (isMore and math.min(1, pace) or math.max(1, pace))), b = math.ceil(limit.b * parts), c = c,
  }
end

-- Returns the section of a window or a bucket after a change, and its end; nil for an untouched limit.
local function counter(limit, by, stored)
  local isBucket = limit[1] == 116 or limit[1] == 108
  local a, b, c, debt = now, 0, isBucket and limit.exponent or 0, false
  if stored then
    a, b, c, debt = stored[1], stored[2], stored[3], stored[5]
  end
  local isChanged = true
  if not isByReceipt then
    a, b, c, debt = asOfNow(limit, stored)
    local spent, previous = b, c
    if isBucket then
      b = math.max(0, b + by * limit.units)
    else
      b, c = math.max(0, b + by), math.max(0, c + math.min(0, b + by))
    end
    isChanged = b ~= spent or c ~= previous
  elseif not isBucket then
    b, c = ofWindow(limit, by, a, b, c)
    isChanged = b ~= stored[2] or c ~= stored[3]
  else
    local isFull = not stored or stored[6] <= now
    limit = isFull and limit or ofLatest(limit, stored)
    local due = (isMore or not isFull) and ofBucket(limit, by) or 0
    if due > 0 then
      a, b, c = advance(limit, most(limit), a, isFull and 0 or b, c)
      b, debt = math.min(b + due, most(limit)), limit.isOther
    else
      b = math.max(0, b + due)
    end
    isChanged = due ~= 0
  end
  if b == 0 and (c == 0 or limit[1] ~= 115) then
    return nil
  elseif not isChanged then
    return stored[4], stored[6]
  end
  return encode(limit, a, b, c, debt or isMore and exceeds(limit, b, c))
end

-- Returns the section of a limit after a change, and its end; nil for an untouched limit, false for a foreign value.
local function section(limit, by, stored)
  if limit[1] == 103 and stored then
    local log = logs.read(stored[4], limit[2] * 1000)
    if not log then
      return false
    elseif not isByReceipt then
      return logs.refundLatest(log, -by), stored[6]
    elseif now - limit.a >= limit[2] * 1000 then
      return stored[4], stored[6]
    end
    local live = log.before + log.added
    return logs.refundAt(log, limit.a, live - changed(live, by, math.min(2 * limit.permits, 10000))), stored[6]
  elseif limit[1] == 99 and stored then
    local first, latest, spent, ends, debt = stored[1], stored[2], stored[3], stored[6], stored[5]
    if not isByReceipt then
      first, latest, spent = math.min(first, now), math.min(latest, now), math.min(spent, debt and most(limit) or limit.permits)
    elseif limit.a < first or now >= ends then
      return stored[4], ends -- a charge before the first one that counts was in an earlier period
    end
    spent = changed(spent, by, most(limit))
    if spent == 0 then
      return nil
    end
    return encode(limit, first, latest, spent, debt or isMore and spent > limit.permits, ends)
  elseif stored or isMore and (limit[1] == 116 or limit[1] == 108) then
    return counter(limit, by, stored)
  end
  return nil
end

for k = 1, #keys do
  local limits, cost, count = {}, nil, nil
  cost, count, at = parse('>I7I2', input, at)
  for i = 1, count do
    limits[i], at = readLimit(at)
    if isByReceipt then
      limits[i].a, limits[i].b, limits[i].c, at = parse('>I7I7I6', input, at)
    end
  end
  -- As release.lua does, for a bucket that has ended under an earlier limit.
  local found, others, latest = find(get(keys[k]), limits, true)
  local sections, isChanged = {}, false
  latest = latest or 0
  for i = 1, found == false and 0 or count do
    local stored = found and found[i]
    local text, ends = section(limits[i], isMore and cost or -cost, stored)
    if text == false then
      found = false
      break
    elseif text then
      latest = math.max(latest, ends)
    end
    isChanged = isChanged or text ~= (stored and stored[4] or nil)
    sections[#sections + 1] = text
  end
  if found == false then
    outcome = 2
  elseif operation == 3 and found then
    call('DEL', keys[k])
  elseif isChanged then
    write(keys[k], table.concat(sections) .. (others or ''), latest)
  end
end
return pack('>BI7', outcome, now)
