-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see state.lua, which is loaded in front of this.
--
-- The sliding log: every admitted call of the latest window.
-- State       one string per limit, big-endian: the running total before the oldest entry I4, then for each entry, oldest first,
--             its time I7 and the running total up to and with it I4, modulo 2^32. Times are all different: what is spent in one
--             microsecond is one entry. As totals run, what counts between two entries is one subtraction
-- Complexity  O(log entries) to look, O(bytes) to read and write

local function newLogs(now)
  local HEAD, ENTRY, TOTALS = 4, 11, 4294967296

  local function timeAt(raw, i)
    return (struct.unpack('>I7', raw, HEAD + ENTRY * (i - 1) + 1))
  end

  -- The running total up to and with an entry; before the first one, 0, it is the head of the string.
  local function totalAt(raw, i)
    return (struct.unpack('>I4', raw, HEAD + ENTRY * i - 3))
  end

  -- The first entry from `low` on for which something holds that holds for all after it; `high` if for none before that.
  local function firstEntry(low, high, holds)
    while low < high do
      local middle = math.floor((low + high) / 2)
      if holds(middle) then
        high = middle
      else
        low = middle + 1
      end
    end
    return low
  end

  local logs = {}

  -- What counts of a log: entries `first` to `last`, which lie before now, and `added` permits of now. Entries of the future, left
  -- by a clock that stepped back, are taken as of now. False if the key holds something else.
  function logs.read(key, window)
    local raw = redis.pcall('GET', key)
    if not raw then
      return {raw = '\0\0\0\0', size = 0, first = 1, last = 0, base = 0, before = 0, added = 0, window = window, ahead = false}
    elseif type(raw) ~= 'string' or #raw < HEAD + ENTRY or (#raw - HEAD) % ENTRY ~= 0 then
      return false
    end
    local size = (#raw - HEAD) / ENTRY
    local newest = timeAt(raw, size)
    if newest > 9007199254740992 or timeAt(raw, 1) > newest then
      return false
    end
    local last = size
    if newest >= now then
      last = firstEntry(1, size, function(i) return timeAt(raw, i) >= now end) - 1
    end
    local first = firstEntry(1, last + 1, function(i) return timeAt(raw, i) + window > now end)
    local base, upToLast, total = totalAt(raw, first - 1), totalAt(raw, last), totalAt(raw, size)
    local before, added = (upToLast - base) % TOTALS, (total - upToLast) % TOTALS
    if before + added > 10000 then
      return false
    end
    return {
      raw = raw, size = size, first = first, last = last, base = base, window = window, ahead = newest > now,
      before = before, added = added,
    }
  end

  -- The time of the entry with whose end so many of the oldest permits have gone; 0 for none.
  function logs.goneWith(log, permits)
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
  function logs.told(log, permits)
    local live = log.before + log.added
    local newest = log.added > 0 and now or log.first <= log.last and timeAt(log.raw, log.last) or 0
    return logs.goneWith(log, live > permits and live + 1 - permits or math.min(live, 1)), newest, live
  end

  local function kept(log, from, to)
    return string.sub(log.raw, HEAD + ENTRY * (from - 1) + 1, HEAD + ENTRY * to)
  end

  -- Writes a log in which so much counts: what it did not before is spent now.
  function logs.write(key, log, live)
    local entries, newest = kept(log, log.first, log.last), now
    if live > log.before then
      entries = entries .. struct.pack('>I7I4', now, (log.base + live) % TOTALS)
    else
      newest = timeAt(log.raw, log.last)
    end
    local life = math.ceil((newest + log.window - now) / 1000)
    redis.call('SET', key, struct.pack('>I4', log.base) .. entries, 'PX', math.max(1, life))
  end

  -- Takes up to a cost out of the entry that was made at an instant. Only differences of totals count, so either those behind the
  -- entry fall or those before it rise: whichever are fewer.
  function logs.giveBackAt(key, log, instant, cost)
    local raw, size = log.raw, log.size

    -- Entries with a number added to each total: four at a time, since calling costs more than what is called does.
    local function shifted(from, to, by)
      local parse, pack, four, parts, at = struct.unpack, struct.pack, '>I7I4I7I4I7I4I7I4', {}, HEAD + ENTRY * (from - 1) + 1
      for entry = from, to - 3, 4 do
        local time1, total1, time2, total2, time3, total3, time4, total4
        time1, total1, time2, total2, time3, total3, time4, total4, at = parse(four, raw, at)
        parts[#parts + 1] = pack(four, time1, (total1 + by) % TOTALS, time2, (total2 + by) % TOTALS,
          time3, (total3 + by) % TOTALS, time4, (total4 + by) % TOTALS)
      end
      for entry = to - (to - from + 1) % 4 + 1, to do
        parts[#parts + 1] = pack('>I7I4', timeAt(raw, entry), (totalAt(raw, entry) + by) % TOTALS)
      end
      return table.concat(parts)
    end

    local i = firstEntry(1, size + 1, function(entry) return timeAt(raw, entry) >= instant end)
    if i > size or timeAt(raw, i) ~= instant then
      return
    end
    local spent = (totalAt(raw, i) - totalAt(raw, i - 1)) % TOTALS
    local given = math.min(cost, spent)
    local rest = given < spent and i or i + 1
    local left
    if i > size / 2 then
      left = string.sub(raw, 1, HEAD + ENTRY * (i - 1)) .. shifted(rest, size, -given)
    else
      left = struct.pack('>I4', (totalAt(raw, 0) + given) % TOTALS) .. shifted(1, i - 1, given) .. kept(log, rest, size)
    end
    if #left == HEAD then
      redis.call('DEL', key)
    else
      redis.call('SET', key, left, 'KEEPTTL')
    end
  end

  -- Takes a cost out of what counts, the latest entries first.
  function logs.giveBackLatest(key, log, cost)
    local left = log.before + log.added - cost
    if left <= 0 then
      redis.call('DEL', key)
    elseif left > log.before then
      logs.write(key, log, left)
    else
      local i = firstEntry(log.first, log.last, function(entry)
        return (totalAt(log.raw, entry) - log.base) % TOTALS >= left
      end)
      local entry = struct.pack('>I7I4', timeAt(log.raw, i), (log.base + left) % TOTALS)
      redis.call('SET', key, struct.pack('>I4', log.base) .. kept(log, log.first, i - 1) .. entry, 'KEEPTTL')
    end
  end

  return logs
end
