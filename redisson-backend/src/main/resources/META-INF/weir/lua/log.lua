-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see state.lua, which precedes this file.
--
-- The sliding log: every allowed call of the latest window.
-- State       a section of a key, big-endian: letter B, window in ms I5, number of entries I2, the running total before the oldest entry
--             I4; then for each entry, oldest first, its time I7 and the running total up to and including it I4, modulo 2^32. All times
--             differ: charges of one microsecond form one entry. The permits between two entries are the difference of two totals.
-- Complexity  O(log entries) to read, O(bytes) to load and write

local function newLogs()
  local HEAD, ENTRY, TOTALS = 12, 11, 4294967296

  local function timeAt(raw, i)
    return (struct.unpack('>I7', raw, HEAD + ENTRY * (i - 1) + 1))
  end

  -- Returns the running total up to and including an entry. Entry 0 is the head of the string.
  local function totalAt(raw, i)
    return (struct.unpack('>I4', raw, HEAD + ENTRY * i - 3))
  end

  -- Returns the first entry from `low` on for which a condition holds that holds for all later ones; `high` if it holds for none.
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

  local function head(window, entries, total)
    return struct.pack('>BI5I2I4', 103, window / 1000, entries, total)
  end

  -- Returns what counts of a log: entries `first` to `last`, which are before now, and `added` permits of now. Entries of the future, left
  -- by a clock that stepped back, count as of now. Without a section, the log is empty. Returns false for a foreign value.
  function logs.read(raw, window)
    if not raw then
      return {
        raw = head(window, 0, 0), size = 0, first = 1, last = 0, base = 0, before = 0, added = 0, window = window, future = false,
      }
    elseif #raw < HEAD + ENTRY then
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
      raw = raw, size = size, first = first, last = last, base = base, window = window, future = newest > now,
      before = before, added = added,
    }
  end

  -- Returns the time of the entry at whose end as many of the oldest permits have returned; 0 for none.
  function logs.entryBefore(log, permits)
    if permits <= 0 then
      return 0
    elseif permits > log.before then
      return now
    end
    return timeAt(log.raw, firstEntry(log.first, log.last, function(i)
      return (totalAt(log.raw, i) - log.base) % TOTALS >= permits
    end))
  end

  -- Returns three numbers for the reply: the time of the entry at whose end permits return, that of the newest entry, and the permits.
  function logs.summary(log, permits)
    local live = log.before + log.added
    local newest = log.added > 0 and now or log.first <= log.last and timeAt(log.raw, log.last) or 0
    return logs.entryBefore(log, live > permits and live + 1 - permits or math.min(live, 1)), newest, live
  end

  local function slice(log, from, to)
    return string.sub(log.raw, HEAD + ENTRY * (from - 1) + 1, HEAD + ENTRY * to)
  end

  -- Returns the section with a number of live permits, at least 1, and its end. Permits that it did not have before are spent now.
  function logs.encode(log, live)
    local entries, newest = slice(log, log.first, log.last), now
    if live > log.before then
      entries = entries .. struct.pack('>I7I4', now, (log.base + live) % TOTALS)
    else
      newest = timeAt(log.raw, log.last)
    end
    return head(log.window, #entries / ENTRY, log.base) .. entries, newest + log.window
  end

  -- Returns the section without up to a cost of the entry of an instant, or with more if the cost is negative; nil if no entry is left. Only
  -- differences of totals count, so either the later totals decrease or the earlier ones increase, whichever are fewer.
  function logs.refundAt(log, instant, cost)
    local raw, size = log.raw, log.size

    -- Returns entries with a number added to each total. It handles four at a time, since a call costs more than its work.
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
      return raw
    end
    if cost < 0 and log.first > 1 then
      -- After a step back of the clock, entries that have ended would count again, with more permits than a log has.
      i, size = i - log.first + 1, size - log.first + 1
      raw = head(log.window, size, log.base) .. slice(log, log.first, log.size)
      log.raw, log.size = raw, size
    end
    local spent = (totalAt(raw, i) - totalAt(raw, i - 1)) % TOTALS
    local refunded = math.min(cost, spent)
    local rest = refunded < spent and i or i + 1
    local entries = size - rest + i
    if entries == 0 then
      return nil
    elseif i > size / 2 then
      return head(log.window, entries, totalAt(raw, 0)) .. slice(log, 1, i - 1) .. shifted(rest, size, -refunded)
    end
    return head(log.window, entries, (totalAt(raw, 0) + refunded) % TOTALS) .. shifted(1, i - 1, refunded) .. slice(log, rest, size)
  end

  -- Returns the section without a cost of the entries that count, the latest first; nil if no permit is left.
  function logs.refundLatest(log, cost)
    local left = log.before + log.added - cost
    if left <= 0 then
      return nil
    elseif left > log.before then
      return (logs.encode(log, left))
    end
    local i = firstEntry(log.first, log.last, function(entry)
      return (totalAt(log.raw, entry) - log.base) % TOTALS >= left
    end)
    local entry = struct.pack('>I7I4', timeAt(log.raw, i), (log.base + left) % TOTALS)
    return head(log.window, i - log.first + 1, log.base) .. slice(log, log.first, i - 1) .. entry
  end

  return logs
end
