-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see state.lua and log.lua, which precede this script.
--
-- Decides on groups of equal requests, in their order and at one instant. A request is spent if all its limits have room, else nothing of
-- it. Of a group the first requests are allowed, as many as have room. A rejection writes nothing, with one exception: a state from the
-- future, left by a clock that stepped back, is written as of now. Otherwise each rejection would report the same retry-after again.
-- A foreign value fails the groups of its key, and no others.
-- KEYS        one per policy and caller, all different
-- ARGV[1]     clock (state.lua); for each key its limits: 0 B if they are those of the key before, else one limit, or 1 B, the number of
--             limits I2 and the limits. A limit has one of two forms:
--             letter B, permits I4, window in units I6, exponent of the unit B
--                             short: the capacity is the permits, and there is no delay
--             letter + 128 B, then the other fields of a limit (state.lua)
--             then the groups, each in one of four forms:
--             1 B             short: spends a cost of 1 without delay, count 1, one key: the first one that no group before it has
--             2 B, count of requests I2, number of keys of a request I2
--                             short: as 1, for the first keys that no group before it has
--             3 B or 4 B      spends (3) or peeks (4): count of requests I2, number of keys of a request I2, and for each of these keys:
--                             index in KEYS I2, cost in permits I6, and for each limit of the key the longest delay I6 (how long a bucket
--                             may delay the call for permits it lacks)
-- Reply       one string: now I7; for each limit of each key its state before the call, as of now: of a limit in short form the time since
--             its start I6, permits I4, permits of the previous window I4 (s), the same without the last one (f), or the time since its
--             anchor I3 and debt I7 (t, l); of other limits and of logs I7 I7 I6; for each group the count of allowed requests I2, or
--             65535 for a foreign value, after which nothing follows; then for each sliding log of a request the instant of the entry at
--             whose end the cost has room I7
-- Complexity  O(limits of keys + groups), and that of log.lua for sliding logs
-- Errors      all commands that can fail run before the first write
-- Redis       6.2 or later

local input, keys = ARGV[1], KEYS
local parse, pack, byte, floor = struct.unpack, struct.pack, string.byte, math.floor

-- One group on one key with one limit, as a single call and a hot key produce it. The code below does the same for all groups; this branch
-- takes a fifth to a quarter less of Redis's time per call.
if #keys == 1 and byte(input, at) > 1 then
  local letter, permits, units, exponent, capacity, maxDebt, form, nextAt
  local count, keyCount, cost, delay = 1, 1, 1, 0
  letter = byte(input, at)
  local isShort = letter < 128
  if isShort then
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
    local a, b, c = read(key, letter, units * unit / 1000)
    if a ~= false then
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
          free = free + permits * floor((delay + now - a) / unit)
        end
        allowed = free >= cost * parts * count and count or math.max(0, floor(free / (cost * parts)))
      end
      if form ~= 4 then
        if allowed > 0 then
          local section, life = encode(now, letter, permits, units, unit, a, b + allowed * cost * parts, c)
          write(key, section, life, start == a and spent > 0 and (letter == 115 or letter == 102))
        elseif start and start > now then
          local section, life = encode(now, letter, permits, units, unit, a, b, c)
          write(key, section, life, false)
        end
      end
      if not isShort then
        return pack('>I7I7I7I6I2', now, a, b, c, allowed)
      elseif letter == 115 then
        return pack('>I7I6I4I4I2', now, now - a, b, c, allowed)
      elseif letter == 102 then
        return pack('>I7I6I4I2', now, now - a, b, allowed)
      end
      return pack('>I7I3I7I2', now, now - a, b, allowed)
    end
  end
end

-- Fields of a limit as it is configured.
local LETTER, WINDOW, PERMITS, UNITS, EXPONENT, UNIT, CAPACITY, MAX_DEBT, SHORT = 1, 2, 3, 4, 5, 6, 7, 8, 9

-- Fields of a limit of a key. FREE and SPENT count parts: those that are free, and those that the groups before have spent. A permit has
-- PARTS.
local FREE, PARTS, SPENT, A, B, C, KEEP, FUTURE, CONFIG, LOG = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10

-- Returns a limit and the position behind it.
local function limitAt(from)
  local letter = byte(input, from)
  if letter < 128 then
    local permits, units, exponent, after = parse('>I4I6B', input, from + 1)
    local unit = 10 ^ exponent
    return {letter, units * unit / 1000, permits, units, exponent, unit, permits, permits * units, true}, after
  end
  local permits, units, exponent, capacity, maxDebt, after = parse('>I6I6BI6I7', input, from + 1)
  local unit = 10 ^ exponent
  return {letter - 128, units * unit / 1000, permits, units, exponent, unit, capacity, maxDebt, false}, after
end

-- Returns the state of a limit of a key, and its part of the reply.
local function bucketOrWindow(config, a, b, c)
  local letter, permits, units, unit = config[LETTER], config[PERMITS], config[UNITS], config[UNIT]
  local keep, future = false, false
  if a then
    local start, spent = a, b
    future = a > now
    a, b, c = advance(now, letter, permits, units, config[EXPONENT], config[MAX_DEBT], a, b, c)
    -- A window with earlier charges keeps its time to live.
    keep = start == a and spent > 0
  else
    a, b, c = now, 0, (letter == 115 or letter == 102) and 0 or config[EXPONENT]
  end
  local free, parts = freeParts(now, letter, permits, units, unit, config[CAPACITY], a, b, c)
  local limit = {free, parts, 0, a, b, c, keep and (letter == 115 or letter == 102), future, config}
  if not config[SHORT] then
    return limit, pack('>I7I7I6', a, b, c)
  elseif letter == 115 then
    return limit, pack('>I6I4I4', now - a, b, c)
  elseif letter == 102 then
    return limit, pack('>I6I4', now - a, b)
  end
  return limit, pack('>I3I7', now - a, b)
end

-- The limits of all keys, one after the other: those of key k begin at first[k]. A key with a foreign value has false for each limit.
-- Sections of limits that the policy does not have are in `others`, their latest end in `ends`.
local limits, first, others, ends, reply = {}, {}, {}, {}, {pack('>I7', now)}
local logs, find
local configs
for k = 1, #keys do
  local form = byte(input, at)
  if form == 0 then
    at = at + 1
  elseif form == 1 then
    local count
    count, at = parse('>I2', input, at + 1)
    configs = {}
    for i = 1, count do
      configs[i], at = limitAt(at)
    end
  else
    local config
    config, at = limitAt(at)
    configs = {config}
  end
  first[k] = #limits + 1
  local a, b, c, found = false, nil, nil, nil
  if #configs == 1 and configs[1][LETTER] ~= 103 then
    a, b, c = read(keys[k], configs[1][LETTER], configs[1][WINDOW])
  end
  if a ~= false then
    limits[#limits + 1], reply[#reply + 1] = bucketOrWindow(configs[1], a, b, c)
  else
    find = find or newSections()
    found, others[k], ends[k] = find(keys[k], configs, now)
    local states = {}
    for i = 1, #configs do
      local config, stored = configs[i], found and found[i]
      if found == false then
        break
      elseif config[LETTER] == 103 then
        logs = logs or newLogs(now)
        states[i] = logs.read(stored and stored[4], config[UNITS] * config[UNIT])
        found = states[i] and found
      end
    end
    for i = 1, #configs do
      local config, log, stored = configs[i], states[i], found and found[i]
      if found == false then
        limits[#limits + 1] = false
        if config[LETTER] == 103 then
          reply[#reply + 1] = pack('>I7I7I6', 0, 0, 0)
        else
          local _
          _, reply[#reply + 1] = bucketOrWindow(config, nil, nil, nil)
        end
      elseif log then
        a, b, c = logs.summary(log, config[PERMITS])
        limits[#limits + 1] = {config[PERMITS] - c, 1, 0, 0, c, 0, false, log.future, config, log}
        reply[#reply + 1] = pack('>I7I7I6', a, b, c)
      elseif stored then
        limits[#limits + 1], reply[#reply + 1] = bucketOrWindow(config, stored[1], stored[2], stored[3])
      else
        limits[#limits + 1], reply[#reply + 1] = bucketOrWindow(config, nil, nil, nil)
      end
    end
  end
end
first[#keys + 1] = #limits + 1

local replies, size = #reply, #input
local known, rewrite = 0, {}
while at <= size do
  local form = byte(input, at)
  local isShort = form < 3
  local before, keysAt = known, 0
  local count, keyCount, index, cost = 1, 1, 0, 1
  if form == 1 then
    at = at + 1
  else
    count, keyCount, at = parse('>I2I2', input, at + 1)
    keysAt = at
  end
  local allowed = count
  for part = 1, keyCount do
    if isShort then
      index = before + part
    else
      index, cost, at = parse('>I2I6', input, at)
    end
    if index > known then
      known = index
    end
    for i = first[index], first[index + 1] - 1 do
      local limit, delay = limits[i], 0
      if not isShort then
        delay, at = parse('>I6', input, at)
      end
      if not limit then
        allowed = nil
      elseif allowed then
        local free, needed = limit[FREE], cost * limit[PARTS]
        if delay > 0 then
          local config = limit[CONFIG]
          free = cost <= config[CAPACITY] and free + config[PERMITS] * floor((delay + now - limit[A]) / config[UNIT]) or 0
        end
        if free < needed * allowed then
          allowed = free < needed and 0 or floor(free / needed)
        end
      end
    end
  end
  replies = replies + 1
  reply[replies] = pack('>I2', allowed or 65535)
  if allowed and (form ~= 4 or logs) then
    for part = 1, keyCount do
      if isShort then
        index = before + part
      else
        index, cost, keysAt = parse('>I2I6', input, keysAt)
        keysAt = keysAt + 6 * (first[index + 1] - first[index])
      end
      for i = first[index], first[index + 1] - 1 do
        local limit = limits[i]
        if form ~= 4 then
          local newlySpent = allowed * cost * limit[PARTS]
          limit[FREE] = limit[FREE] - newlySpent
          limit[SPENT] = limit[SPENT] + newlySpent
          rewrite[index] = rewrite[index] or newlySpent > 0 or limit[FUTURE]
        end
        if limit[LOG] then
          replies = replies + 1
          reply[replies] = pack('>I7', logs.entryBefore(limit[LOG], math.min(cost, limit[CONFIG][PERMITS]) - limit[FREE]))
        end
      end
    end
  end
end

for k = 1, #keys do
  if rewrite[k] then
    local sections, longest, keep = '', others[k] and ends[k] - now or 0, false
    for i = first[k], first[k + 1] - 1 do
      local limit = limits[i]
      local config, after, log = limit[CONFIG], limit[B] + limit[SPENT], limit[LOG]
      local section, life
      if log then
        if after > 0 then
          section, life = logs.encode(log, after)
        end
      else
        local letter = config[LETTER]
        if after > 0 or letter == 115 and limit[C] > 0 then
          section, life = encode(now, letter, config[PERMITS], config[UNITS], config[UNIT], limit[A], after, limit[C])
        end
      end
      if section then
        sections = sections .. section
        if life > longest then
          longest, keep = life, limit[KEEP]
        end
      end
    end
    sections = sections .. (others[k] or '')
    if sections ~= '' then
      write(keys[k], sections, longest, keep)
    else
      redis.call('DEL', keys[k])
    end
  end
end
return table.concat(reply)
