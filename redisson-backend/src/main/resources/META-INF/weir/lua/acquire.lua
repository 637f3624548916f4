-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see state.lua and log.lua, which precede this script.
--
-- Decides on groups of equal requests, in their order and at one instant. A request is spent if all its limits have room, else nothing of
-- it. Of a group the first requests are allowed, as many as have room. A rejection writes nothing, with one exception: a state from the
-- future, left by a clock that stepped back, is written as of now. Otherwise each rejection would report the same retry-after again.
-- A foreign value fails the groups of its key, and no others.
-- KEYS        one per limit, all different
-- ARGV[1]     now I7 (0 for Redis's clock); for each key its limit (state.lua); then for each group:
--             operation B (0 peeks, 1 spends), count of requests I2, number of keys of a request I2, and for each of these keys:
--             index in KEYS I2, cost in permits I6, longest delay I6 (how long a bucket may delay the call for permits it lacks)
-- Reply       one string: now I7; for each key its state before the call: I7 I7 I6; for each group the count of allowed requests I2,
--             or 65535 for a foreign value, after which nothing follows; then for each sliding log of a request the instant of the entry
--             at whose end the cost has room I7
-- Complexity  O(keys + groups), and that of log.lua for sliding logs
-- Errors      all commands that can fail run before the first write
-- Redis       6.2 or later

-- One group with one key, as a single call and a hot key produce it. The code below does the same for all groups; this branch takes a
-- fifth to a quarter less of Redis's time per call.
if #KEYS == 1 and #ARGV[1] == 53 then
  local letter, permits, units, exponent, capacity, maxDebt, operation, count, _, _, cost, delay =
    struct.unpack('>BI6I6BI6I7BI2I2I2I6I6', ARGV[1], at)
  if letter ~= 103 then
    local key, unit = KEYS[1], 10 ^ exponent
    local a, b, c = read(key, letter)
    if a == false then
      return struct.pack('>I7I7I7I6I2', now, 0, 0, 0, 65535)
    end
    local start, spent = a, b
    if a then
      a, b, c = advance(now, letter, permits, units, exponent, maxDebt, a, b, c)
    else
      a, b, c = now, 0, (letter == 115 or letter == 102) and 0 or exponent
    end
    local free, parts = freeParts(now, letter, permits, units, unit, capacity, a, b, c)
    local allowed = 0
    if cost <= capacity then
      if delay > 0 then
        free = free + permits * math.floor((delay + now - a) / unit)
      end
      allowed = free >= cost * parts * count and count or math.max(0, math.floor(free / (cost * parts)))
    end
    if operation == 1 then
      if allowed > 0 then
        write(now, key, letter, permits, units, unit, a, b + allowed * cost * parts, c, start == a and spent > 0)
      elseif start and start > now then
        write(now, key, letter, permits, units, unit, a, b, c, false)
      end
    end
    return struct.pack('>I7I7I7I6I2', now, a, b, c, allowed)
  end
end

local parse, pack, floor = struct.unpack, struct.pack, math.floor
-- Fields of a limit. FREE and SPENT count parts: those that are free, and those that the groups before have spent. A permit has PARTS.
local FREE, PARTS, SPENT, CAPACITY, A, LETTER, PERMITS, UNITS, UNIT, B, C, KEEP, FUTURE, LOG = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14

local input, keys = ARGV[1], KEYS
local limits, reply = {}, {pack('>I7', now)}
local logs
for i = 1, #keys do
  local letter, permits, units, exponent, capacity, maxDebt
  letter, permits, units, exponent, capacity, maxDebt, at = parse('>BI6I6BI6I7', input, at)
  if letter == 103 then
    logs = logs or newLogs(now)
    local log = logs.read(keys[i], units * 10 ^ exponent)
    local a, b, c = 0, 0, 0
    if log then
      a, b, c = logs.summary(log, permits)
      limits[i] = {permits - c, 1, 0, capacity, 0, letter, permits, units, 0, c, 0, false, log.future, log}
    end
    reply[i + 1] = pack('>I7I7I6', a, b, c)
  else
    local unit = 10 ^ exponent
    local a, b, c = read(keys[i], letter)
    local keep, future = false, false
    if a then
      local start, spent = a, b
      future = a > now
      a, b, c = advance(now, letter, permits, units, exponent, maxDebt, a, b, c)
      -- A window with earlier charges keeps its time to live.
      keep = start == a and spent > 0
    elseif a == nil then
      a, b, c = now, 0, (letter == 115 or letter == 102) and 0 or exponent
    end
    if a then
      local free, parts = freeParts(now, letter, permits, units, unit, capacity, a, b, c)
      limits[i] = {free, parts, 0, capacity, a, letter, permits, units, unit, b, c, keep, future}
      reply[i + 1] = pack('>I7I7I6', a, b, c)
    else
      reply[i + 1] = pack('>I7I7I6', 0, 0, 0)
    end
  end
end

local replies, size = #keys + 1, #input
local keysAt, rewrite = 0, {}
while at <= size do
  -- The first key of a group is parsed together with its header.
  local operation, count, keyCount, index, cost, delay
  operation, count, keyCount, index, cost, delay, at = parse('>BI2I2I2I6I6', input, at)
  keysAt = at - 14
  local allowed, hasLog = count, false
  for part = 1, keyCount do
    if part > 1 then
      index, cost, delay, at = parse('>I2I6I6', input, at)
    end
    local limit = limits[index]
    if not limit then
      allowed = nil
    elseif allowed then
      local free, needed = limit[FREE], cost * limit[PARTS]
      if delay > 0 then
        free = cost <= limit[CAPACITY] and free + limit[PERMITS] * floor((delay + now - limit[A]) / limit[UNIT]) or 0
      end
      if free < needed * allowed then
        allowed = free < needed and 0 or floor(free / needed)
      end
      hasLog = hasLog or limit[LETTER] == 103
    end
  end
  replies = replies + 1
  reply[replies] = pack('>I2', allowed or 65535)
  if allowed and (operation == 1 or hasLog) then
    for _ = 1, keyCount do
      if keyCount > 1 then
        index, cost, delay, keysAt = parse('>I2I6I6', input, keysAt)
      end
      local limit = limits[index]
      if operation == 1 then
        local newlySpent = allowed * cost * limit[PARTS]
        limit[FREE] = limit[FREE] - newlySpent
        limit[SPENT] = limit[SPENT] + newlySpent
        rewrite[index] = limit[FUTURE]
      end
      if limit[LETTER] == 103 then
        replies = replies + 1
        reply[replies] = pack('>I7', logs.entryBefore(limit[LOG], math.min(cost, limit[PERMITS]) - limit[FREE]))
      end
    end
  end
end

for i = 1, #keys do
  local limit = limits[i]
  if limit and (limit[SPENT] > 0 or rewrite[i]) then
    local letter, after = limit[LETTER], limit[B] + limit[SPENT]
    if letter == 103 then
      logs.write(keys[i], limit[LOG], after)
    else
      local keep = limit[KEEP] and limit[PARTS] == 1
      write(now, keys[i], letter, limit[PERMITS], limit[UNITS], limit[UNIT], limit[A], after, limit[C], keep)
    end
  end
end
return table.concat(reply)
