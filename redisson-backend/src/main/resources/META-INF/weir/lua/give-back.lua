-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see state.lua and log.lua, which are loaded in front of this.
--
-- Gives back what was spent, as far as it still counts, or drops a state. Never touches a key that holds something else.
-- KEYS        one per limit
-- ARGV[1]     now I7 (0: Redis's clock), operation B (1 gives back by receipt, 2 without one, 3 drops), and for each key a limit
--             (state.lua) and the cost I6; operation 1: also the state right after the charge: I7 I7 I6, of a log only its entry
-- Reply       one string: outcome B (1 done, 2 a key holds something else), now I7
-- Complexity  O(keys), and the entries of a log from the one given back on

local DONE, FOREIGN = 1, 2

-- By receipt: from the state as it is stored, since the limit of the charge need not be the one that applies now. A state from
-- before the charge's window, or from after it, is left alone.
local function byReceipt(letter, permits, units, exponent, most, cost, a, b, c, thenA, thenB, thenC)
  if letter == SLIDING then
    if thenA == a then
      return max(0, b - cost), c
    elseif thenA + units * 10 ^ exponent == a then
      return b, max(0, c - cost)
    end
  elseif letter == FIXED then
    if thenA == a then
      return max(0, b - cost), c
    end
  elseif thenC == c then
    -- Permits return in the order they were spent: what of the debt right after the charge is left is what can be given back.
    local _, left = advance(letter, permits, units, exponent, most, thenA, thenB, thenC)
    return max(0, b - min(left, cost * units)), c
  end
  return b, c
end

local function byCost(letter, units, cost, b, c)
  if letter == SLIDING then
    local fromCurrent = min(b, cost)
    return b - fromCurrent, max(0, c - (cost - fromCurrent))
  elseif letter == FIXED then
    return max(0, b - cost), c
  end
  return max(0, b - cost * units), c
end

-- Takes up to a cost out of the entry of a log that was made at an instant.
local function byEntry(key, log, instant, cost)
  local raw = log.raw
  local size = (#raw - HEAD) / ENTRY
  local i = firstEntry(1, size + 1, function(entry) return timeAt(raw, entry) >= instant end)
  if i > size or timeAt(raw, i) ~= instant then
    return
  end
  local before = totalAt(raw, i - 1)
  local given = min(cost, (totalAt(raw, i) - before) % TOTALS)
  local parts = {string.sub(raw, 1, HEAD + ENTRY * (i - 1))}
  for entry = i, size do
    local total = (totalAt(raw, entry) - given) % TOTALS
    if entry > i or total ~= before then
      parts[#parts + 1] = pack('>I7I4', timeAt(raw, entry), total)
    end
  end
  local left = table.concat(parts)
  if #left == HEAD then
    redis.call('DEL', key)
  else
    redis.call('SET', key, left, 'KEEPTTL')
  end
end

-- Takes a cost out of a log, the latest entries first.
local function fromLatest(key, log, cost)
  local left = log.before + log.added - cost
  if left <= 0 then
    redis.call('DEL', key)
  elseif left > log.before then
    log.added = left - log.before
    writeLog(key, log)
  else
    local i = firstEntry(log.first, log.last, function(entry)
      return (totalAt(log.raw, entry) - log.base) % TOTALS >= left
    end)
    local kept = string.sub(log.raw, HEAD + ENTRY * (log.first - 1) + 1, HEAD + ENTRY * (i - 1))
    local entry = pack('>I7I4', timeAt(log.raw, i), (log.base + left) % TOTALS)
    redis.call('SET', key, pack('>I4', log.base) .. kept .. entry, 'KEEPTTL')
  end
end

local outcome = DONE
local operation
operation, at = parse('B', input, at)
for i = 1, #KEYS do
  local key = KEYS[i]
  local letter, permits, units, exponent, capacity, most, cost, thenA, thenB, thenC
  letter, permits, units, exponent, capacity, most, at = parse(LIMIT, input, at)
  cost, at = parse('>I6', input, at)
  if operation == 1 then
    thenA, thenB, thenC, at = parse('>I7I7I6', input, at)
  end
  local a, b, c
  if letter == LOG then
    a = readLog(key, units * 10 ^ exponent)
  else
    a, b, c = read(key, letter)
  end
  if a == false then
    outcome = FOREIGN
  elseif a == nil then
    -- there is nothing to give back to
  elseif operation == 3 then
    redis.call('DEL', key)
  elseif letter == LOG then
    if operation == 1 then
      byEntry(key, a, thenA, cost)
    else
      fromLatest(key, a, cost)
    end
  else
    local newB, newC
    if operation == 1 then
      newB, newC = byReceipt(letter, permits, units, exponent, most, cost, a, b, c, thenA, thenB, thenC)
    else
      a, b, c = advance(letter, permits, units, exponent, most, a, b, c)
      newB, newC = byCost(letter, units, cost, b, c)
    end
    if newB == 0 and (newC == 0 or letter ~= SLIDING) then
      redis.call('DEL', key)
    elseif newB ~= b or newC ~= c then
      -- Less is left than before, so the life that the key has is enough.
      local format = letter == SLIDING and TWO_WINDOWS or letter == FIXED and ONE_WINDOW or BUCKET
      redis.call('SET', key, pack(format, a, newB, newC), 'KEEPTTL')
    end
  end
end
return pack('>BI7', outcome, now)
