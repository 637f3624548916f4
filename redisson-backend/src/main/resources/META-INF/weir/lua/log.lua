-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see state.lua, which is loaded in front of this.
--
-- The sliding log: every admitted call of the latest window.
-- State       one string per limit, big-endian: the running total before the oldest entry I4, then for each entry, oldest first,
--             its time I7 and the running total up to and with it I4, modulo 2^32. Times are all different: what is spent in one
--             microsecond is one entry. As totals run, what counts between two entries is one subtraction
-- Complexity  O(log entries) to look, O(bytes) to read and write

local HEAD, ENTRY = 4, 11
local TOTALS = 4294967296

local function timeAt(raw, i)
  return (parse('>I7', raw, HEAD + ENTRY * (i - 1) + 1))
end

-- The running total up to and with an entry; before the first one, 0, it is the head of the string.
local function totalAt(raw, i)
  return (parse('>I4', raw, HEAD + ENTRY * i - 3))
end

-- The first entry from `low` on for which something holds that holds for all after it; `high` if for none before it.
local function firstEntry(low, high, holds)
  while low < high do
    local middle = floor((low + high) / 2)
    if holds(middle) then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end

-- What counts of a log: entries `first` to `last`, which lie before now, and `added` permits of now. Entries of the future, left by
-- a clock that stepped back, are taken as of now. False if the key holds something else.
local function readLog(key, window)
  local raw = redis.pcall('GET', key)
  if not raw then
    return {raw = '\0\0\0\0', first = 1, last = 0, base = 0, before = 0, added = 0, window = window}
  end
  if type(raw) ~= 'string' or #raw < HEAD + ENTRY or (#raw - HEAD) % ENTRY ~= 0 then
    return false
  end
  local size = (#raw - HEAD) / ENTRY
  local newest = timeAt(raw, size)
  if newest > MOST or timeAt(raw, 1) > newest then
    return false
  end
  local last = size
  if newest >= now then
    last = firstEntry(1, size, function(i) return timeAt(raw, i) >= now end) - 1
  end
  local first = firstEntry(1, last + 1, function(i) return timeAt(raw, i) + window > now end)
  local base = totalAt(raw, first - 1)
  local upToLast = totalAt(raw, last)
  return {
    raw = raw, first = first, last = last, base = base, window = window,
    before = (upToLast - base) % TOTALS,
    added = (totalAt(raw, size) - upToLast) % TOTALS,
    ahead = newest > now,
  }
end

-- The time of the entry with whose end so many of the oldest permits have gone; 0 for none.
local function goneWith(log, permits)
  if permits <= 0 then
    return 0
  elseif permits > log.before then
    return now
  end
  return timeAt(log.raw, firstEntry(log.first, log.last, function(i)
    return (totalAt(log.raw, i) - log.base) % TOTALS >= permits
  end))
end

-- As three numbers for the reply: the entry with whose end more can be spent, the newest entry, and how much counts.
local function toldOf(log, permits)
  local live = log.before + log.added
  local newest = log.added > 0 and now or log.first <= log.last and timeAt(log.raw, log.last) or 0
  return goneWith(log, live > permits and live + 1 - permits or min(live, 1)), newest, live
end

local function writeLog(key, log)
  local kept = string.sub(log.raw, HEAD + ENTRY * (log.first - 1) + 1, HEAD + ENTRY * log.last)
  local newest = log.added > 0 and now or timeAt(log.raw, log.last)
  if log.added > 0 then
    kept = kept .. pack('>I7I4', now, (log.base + log.before + log.added) % TOTALS)
  end
  redis.call('SET', key, pack('>I4', log.base) .. kept, 'PX', max(1, ceil((newest + log.window - now) / 1000)))
end
