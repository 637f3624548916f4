-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see state.lua and log.lua, which precede this script.
--
-- Decides on groups of equal requests, in their order and at one instant. A request is spent if all its limits have room, else nothing of
-- it. Of a group the first requests are allowed, as many as have room. A rejection writes nothing, with one exception: a state from the
-- future, left by a clock that stepped back, is written as of now. Otherwise each rejection would report the same retry-after again.
-- A foreign value fails the groups of its key, and no others.
-- KEYS        one per limit, all different
-- ARGV[1]     clock (state.lua); for each key its limit in one of three forms:
--             0 B             the limit of the key before
--             letter B, permits I4, window in units I6, exponent of the unit B
--                             short: the capacity is the permits, and there is no delay
--             letter + 128 B, then the other fields of a limit (state.lua)
--             then the groups, each in one of four forms:
--             1 B             short: spends a cost of 1 without delay, count 1, one key: the first one that no group before it has
--             2 B, count of requests I2, number of keys of a request I2
--                             short: as 1, for the first keys that no group before it has
--             3 B or 4 B      spends (3) or peeks (4): count of requests I2, number of keys of a request I2, and for each of these keys:
--                             index in KEYS I2, cost in permits I6, longest delay I6 (how long a bucket may delay the call for permits
--                             it lacks)
-- Reply       one string: now I7; for each key its state before the call, as of now: of a limit in short form the time since its start
--             I6, permits I4, permits of the previous window I4 (s), the same without the last one (f), or the time since its anchor I3
--             and debt I7 (t, l); of other limits and of logs I7 I7 I6; for each group the count of allowed requests I2, or 65535 for a
--             foreign value, after which nothing follows; then for each sliding log of a request the instant of the entry at whose end
--             the cost has room I7
-- Complexity  O(keys + groups), and that of log.lua for sliding logs
-- Errors      all commands that can fail run before the first write
-- Redis       6.2 or later

local input, keys = ARGV[1], KEYS
local parse, pack, byte, floor = struct.unpack, struct.pack, string.byte, math.floor

-- One group with one key, as a single call and a hot key produce it. The code below does the same for all groups; this branch takes a
-- fifth to a quarter less of Redis's time per call.
if #keys == 1 then
  local letter, permits, units, exponent, capacity, maxDebt, form, nextAt
  local count, keyCount, cost, delay = 1, 1, 1, 0
  letter = byte(input, at)
  local short = letter < 128
  if short then
    permits, units, exponent, form, nextAt = parse('>I4I6BB', input, at + 1)
    capacity, maxDebt = permits, permits * units
  else
    letter = letter - 128
    permits, units, exponent, capacity, maxDebt, form, nextAt = parse('>I6I6BI6I7B', input, at + 1)
  end
  if form == 2 then
    count, keyCount, nextAt = parse('>I2I2', input, nextAt)
  elseif form > 2 then
    local _
    count, keyCount, _, cost, delay, nextAt = parse('>I2I2I2I6I6', input, nextAt)
  end
  if letter ~= 103 and keyCount == 1 and nextAt > #input then
    local key, unit = keys[1], 10 ^ exponent
    local a, b, c = read(key, letter)
    local allowed = 65535
    if a == false then
      a, b, c = now, 0, 0
    else
      local start, spent = a, b
      if a then
        a, b, c = advance(now, letter, permits, units, exponent, maxDebt, a, b, c)
      else
        a, b, c = now, 0, (letter == 115 or letter == 102) and 0 or exponent
      end
      local free, parts = freeParts(now, letter, permits, units, unit, capacity, a, b, c)
      allowed = 0
      if cost <= capacity then
        if delay > 0 then
          free = free + permits * floor((delay + now - a) / unit)
        end
        allowed = free >= cost * parts * count and count or math.max(0, floor(free / (cost * parts)))
      end
      if form ~= 4 then
        if allowed > 0 then
          write(now, key, letter, permits, units, unit, a, b + allowed * cost * parts, c, start == a and spent > 0)
        elseif start and start > now then
          write(now, key, letter, permits, units, unit, a, b, c, false)
        end
      end
    end
    if not short then
      return pack('>I7I7I7I6I2', now, a, b, c, allowed)
    elseif letter == 115 then
      return pack('>I7I6I4I4I2', now, now - a, b, c, allowed)
    elseif letter == 102 then
      return pack('>I7I6I4I2', now, now - a, b, allowed)
    end
    return pack('>I7I3I7I2', now, now - a, b, allowed)
  end
end

-- Fields of a limit. FREE and SPENT count parts: those that are free, and those that the groups before have spent. A permit has PARTS.
local FREE, PARTS, SPENT, CAPACITY, A, LETTER, PERMITS, UNITS, UNIT, B, C, KEEP, FUTURE, LOG = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14

-- Returns a state as a part of the reply.
local function packed(short, letter, now, a, b, c)
  if not short then
    return struct.pack('>I7I7I6', a, b, c)
  elseif letter == 115 then
    return struct.pack('>I6I4I4', now - a, b, c)
  elseif letter == 102 then
    return struct.pack('>I6I4', now - a, b)
  end
  return struct.pack('>I3I7', now - a, b)
end

local limits, reply = {}, {pack('>I7', now)}
local logs
local letter, permits, units, exponent, capacity, maxDebt, short
for i = 1, #keys do
  local form = byte(input, at)
  if form == 0 then
    at = at + 1
  elseif form < 128 then
    letter, short = form, true
    permits, units, exponent, at = parse('>I4I6B', input, at + 1)
    capacity, maxDebt = permits, permits * units
  else
    letter, short = form - 128, false
    permits, units, exponent, capacity, maxDebt, at = parse('>I6I6BI6I7', input, at + 1)
  end
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
      reply[i + 1] = packed(short, letter, now, a, b, c)
    else
      reply[i + 1] = packed(short, letter, now, now, 0, 0)
    end
  end
end

local replies, size = #keys + 1, #input
local known, rewrite = 0, {}
while at <= size do
  local form = byte(input, at)
  local short = form < 3
  local before, keysAt = known, 0
  local count, keyCount, index, cost, delay = 1, 1, 0, 1, 0
  if form == 1 then
    at = at + 1
  elseif short then
    count, keyCount, at = parse('>I2I2', input, at + 1)
  else
    -- The first key of a group is parsed together with its header.
    count, keyCount, index, cost, delay, at = parse('>I2I2I2I6I6', input, at + 1)
    keysAt = at - 14
  end
  local allowed, hasLog = count, false
  for part = 1, keyCount do
    if short then
      index = before + part
    elseif part > 1 then
      index, cost, delay, at = parse('>I2I6I6', input, at)
    end
    if index > known then
      known = index
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
  if allowed and (form ~= 4 or hasLog) then
    for part = 1, keyCount do
      if short then
        index = before + part
      elseif keyCount > 1 then
        index, cost, delay, keysAt = parse('>I2I6I6', input, keysAt)
      end
      local limit = limits[index]
      if form ~= 4 then
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
