-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see clock.lua, plain.lua, state.lua, log.lua and calendar.lua, which precede this script.
--
-- Decides on groups of equal requests, in their order and at one instant. A request is spent if all its limits have room, else nothing of
-- it. Of a group the first requests are allowed, as many as have room. A rejection writes nothing, with one exception: a state from the
-- future, left by a clock that stepped back, is written as of now. Otherwise each rejection would report the same retry-after again.
-- A foreign value fails the groups of its key, and no others.
-- A batch is plain if the keys of each group are those that follow the keys of the groups before, and no limit is a sliding log or a
-- calendar limit. plain.lua decides on such a batch, up to the first group that it does not handle.
-- KEYS        one per policy and caller, all different
-- ARGV[1]     form and clock (clock.lua): 0 or 1 for a plain batch, 2 or 3 for others; then limits and groups
--             Limits: 0 B if they are those of the limits before, else one limit, or 1 B, the number of limits I2, their bytes I2 and the
--             limits. A limit has one of two forms:
--             letter B, permits I4, window in units I6, exponent of the unit B
--                             short: the capacity is the permits, and there is no delay
--             letter + 128 B, then the other fields of a limit (state.lua)
--             A calendar limit has neither: letter c B, nominal window in ms I5, permits I6, start and end of a period and end of the next
--             one, I7 each
--             Plain batch: for each run of groups the limits of a group, then one of the following; nothing if each group that is left has
--             one request that spends a cost of 1 of each key without delay. The limits of a group of several keys are 0 B if they are
--             those of the group before, else 2 B, the number of keys I2, the bytes of the limits I2 and the limits of each key
--             1 B, number of groups I2
--                             each of these groups has such a request
--             2 B, count of requests I2
--                             one group has as many of them
--             3 B or 4 B      one group; its requests spend (3) or peek (4): count of requests I2, and for each key the cost in permits I6
--                             and for each of its limits the longest delay I6 (how long a bucket may delay the call for permits it lacks)
--             Other batches: for each key its limits, then the groups, each in one of four forms:
--             1 B             short: spends a cost of 1 without delay, count 1, one key: the first one that no group before it has
--             2 B, count of requests I2, number of keys of a request I2
--                             short: as 1, for the first keys that no group before it has
--             3 B or 4 B      spends (3) or peeks (4): count of requests I2, number of keys of a request I2, and for each of these keys:
--                             index in KEYS I2, cost in permits I6, and for each limit of the key the longest delay I6
-- Reply       one string: now I7, and nothing else if now is in neither of the two periods of a calendar limit; nothing is written then.
--             Otherwise states and groups: for a plain batch each group with the states of its keys, for others the states of all keys and
--             then all groups
--             States: for each limit its state before the call, as of now. Of a limit in short form, except for a log, 0 B if the limit is
--             untouched; else with the time since its start and the permits of this window and the previous one (0 for f) 1 B I5 I2,
--             2 B I5 I2 I2 or 3 B I6 I4 I4 (s, f), or 1 B and the time since its anchor I3 and debt I7 (t, l). Of others I7 I7 I6, and
--             of a calendar limit the first charge that counts I7, spent permits I6, latest charge I7, end I7
--             Group: count of allowed requests, or the largest number for a foreign value, or one less if a key is blocked: B if the group
--             has one request, else I2. Then, unless the value is foreign, for each key of a request the end of its block, 0 if there is
--             none, if a key is blocked I7, and for each sliding log the instant of the entry at whose end the cost has room I7
-- Complexity  O(limits of keys + groups), and that of log.lua for sliding logs
-- Errors      all commands that can fail run before the first write
-- Redis       6.2 or later

-- Fields of a limit as it is configured.
local floor = math.floor
local LETTER, WINDOW, PERMITS, UNITS, EXPONENT, UNIT, CAPACITY, MAX_DEBT, SHORT = 1, 2, 3, 4, 5, 6, 7, 8, 9
local PERIOD_START, PERIOD_END = 10, 11

-- Fields of a limit of a key. FREE and SPENT count parts: those that are free, and those that the groups before have spent. A permit has
-- PARTS.
local FREE, PARTS, SPENT, A, B, C, KEEP, FUTURE, CONFIG, LOG, DEBT = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
local LATEST, END = 12, 13

local calendars, isOutside

-- Returns a limit and the position behind it.
local function limitAt(from)
  local letter = byte(input, from)
  if letter == 99 then
    local window, permits, start, ends, nextEnd, after = parse('>I5I6I7I7I7', input, from + 1)
    calendars = calendars or newCalendars(now)
    start, ends = calendars.period(start, ends, nextEnd)
    isOutside = isOutside or not start
    return {letter, window, permits, 0, 0, 1, permits, 0, false, start, ends}, after
  elseif letter < 128 then
    local permits, units, exponent, after = parse('>I4I6B', input, from + 1)
    local unit = 10 ^ exponent
    return {letter, units * unit / 1000, permits, units, exponent, unit, permits, permits * units, true}, after
  end
  local permits, units, exponent, capacity, maxDebt, after = parse('>I6I6BI6I7', input, from + 1)
  local unit = 10 ^ exponent
  return {letter - 128, units * unit / 1000, permits, units, exponent, unit, capacity, maxDebt, false}, after
end

-- Returns a state as the reply has it.
local function stateText(isWindow, isShort, a, b, c)
  if not isShort then
    return pack('>I7I7I6', a, b, c)
  elseif b == 0 and (c == 0 or not isWindow) then
    return '\0'
  elseif not isWindow then
    return pack('>BI3I7', 1, now - a, b)
  elseif b > 65535 or c > 65535 or now - a > 1099511627775 then
    return pack('>BI6I4I4', 3, now - a, b, c)
  elseif c > 0 then
    return pack('>BI5I2I2', 2, now - a, b, c)
  end
  return pack('>BI5I2', 1, now - a, b)
end

-- Returns the state of a limit of a key, and its part of the reply.
local function bucketOrWindow(config, a, b, c, debt)
  local letter, permits, units, unit = config[LETTER], config[PERMITS], config[UNITS], config[UNIT]
  local keep, future = false, false
  if a then
    local start, spent = a, b
    future = a > now
    if debt then
      a, b, c, debt = advanceDebt(now, letter, permits, units, config[EXPONENT], config[MAX_DEBT], a, b, c)
    else
      a, b, c = advance(now, letter, permits, units, config[EXPONENT], config[MAX_DEBT], a, b, c)
    end
    -- A window with earlier charges keeps its time to live.
    keep = start == a and spent > 0
  else
    a, b, c = now, 0, (letter == 115 or letter == 102) and 0 or config[EXPONENT]
  end
  local free, parts = freeParts(now, letter, permits, units, unit, config[CAPACITY], a, b, c)
  local isWindow = letter == 115 or letter == 102
  return {free, parts, 0, a, b, c, keep and isWindow, future, config, nil, debt}, stateText(isWindow, config[SHORT], a, b, c)
end

-- Returns the state of a calendar limit of a key, and its part of the reply.
local function ofCalendar(config, first, spent, latest, ends, debt)
  local isFuture = first and latest > now
  first, spent, latest, ends, debt =
    calendars.advance(config[PERMITS], config[PERIOD_START], config[PERIOD_END], first, spent, latest, ends, debt)
  return {config[PERMITS] - spent, 1, 0, first, spent, 0, false, isFuture, config, nil, debt, latest, ends},
    pack('>I7I6I7I7', first, spent, latest, ends)
end

-- The rest of a plain batch becomes a batch of the other kind, from the group on at which plain.lua ended.
if form < 2 then
  local texts, groups, rest = {}, {}, {}
  at = runAt
  while runFirst <= #keys do
    local isSame = byte(input, at) == 0
    if not isSame then
      limitsFrom = at
    end
    local groupKeys, from = 1, limitsFrom
    if byte(input, from) == 2 then
      groupKeys, from = parse('>I2', input, from + 1)
      from = from + 2
    end
    local limitTexts, delays = {}, {}
    for part = 1, groupKeys do
      local limitForm, limitCount, to = byte(input, from), 1, nil
      if limitForm == 1 then
        local length
        limitCount, length, to = parse('>I2I2', input, from + 1)
        to = to + length
      else
        to = from + (limitForm < 128 and 12 or 27)
      end
      limitTexts[part], delays[part] = string.sub(input, from, to - 1), 6 * limitCount
      from = to
    end
    at = isSame and at + 1 or from

    local kind, count, last = 1, 1, #keys
    if at <= #input then
      local number
      kind, number, at = parse('>BI2', input, at)
      if kind == 1 then
        last = runFirst + number * groupKeys - 1
      else
        count, last = number, runFirst + groupKeys - 1
      end
    end
    local costs = {}
    for part = 1, groupKeys do
      if kind > 2 then
        costs[part] = string.sub(input, at, at + 5 + delays[part])
        at = at + 6 + delays[part]
      else
        costs[part] = '\0\0\0\0\0\1' .. string.rep('\0', delays[part])
      end
    end
    for k = math.max(first, runFirst), last, groupKeys do
      groups[#groups + 1] = pack('>BI2I2', math.max(3, kind), count, groupKeys)
      for part = 1, groupKeys do
        rest[#rest + 1] = keys[k + part - 1]
        texts[#rest] = limitTexts[part]
        groups[#groups + 1] = pack('>I2', #rest) .. costs[part]
      end
    end
    runFirst = last + 1
  end
  input, keys, at = table.concat(texts) .. table.concat(groups), rest, 1
end

-- The limits of all keys, one after the other: those of key k begin at limitIndex[k]. A key with a foreign value has false for each limit.
-- Sections of limits that the policy does not have are in `others`, their latest end in `ends`. The ends of blocks are in `blocks`.
local limits, limitIndex, others, ends, blocks, reply = {}, {}, {}, {}, {}, {pack('>I7', now)}
local logs, find
local configs
for k = 1, #keys do
  local limitForm = byte(input, at)
  if limitForm == 0 then
    at = at + 1
  elseif limitForm == 1 then
    local count
    count, at = parse('>I2', input, at + 1)
    at = at + 2
    configs = {}
    for i = 1, count do
      configs[i], at = limitAt(at)
    end
  else
    local config
    config, at = limitAt(at)
    configs = {config}
  end
  if isOutside then
    return pack('>I7', now)
  end
  limitIndex[k] = #limits + 1
  local a, b, c, found = false, nil, nil, nil
  if #configs == 1 and configs[1][LETTER] ~= 103 and configs[1][LETTER] ~= 99 then
    a, b, c = read(keys[k], configs[1][LETTER], configs[1][WINDOW])
  end
  if a ~= false then
    limits[#limits + 1], reply[#reply + 1] = bucketOrWindow(configs[1], a, b, c)
  else
    find = find or newSections()
    found, others[k], ends[k], blocks[k] = find(keys[k], configs, now)
    blocks[k] = blocks[k] and blocks[k] > now and blocks[k] or nil
    local states = {}
    for i = 1, #configs do
      local config, stored = configs[i], found and found[i]
      if found == false then
        break
      elseif config[LETTER] == 103 then
        logs = logs or newLogs(now)
        states[i] = logs.read(stored and stored[4], config[UNITS] * config[UNIT])
        found = states[i] and found
      elseif config[LETTER] == 99 and stored then
        stored[1], stored[2], stored[3], stored[6], stored[5] = calendars.read(stored[4])
        found = stored[1] and found
      end
    end
    for i = 1, #configs do
      local config, log, stored = configs[i], states[i], found and found[i]
      if found == false then
        limits[#limits + 1] = false
        if config[LETTER] == 103 then
          reply[#reply + 1] = pack('>I7I7I6', 0, 0, 0)
        elseif config[LETTER] == 99 then
          reply[#reply + 1] = pack('>I7I6I7I7', 0, 0, 0, 0)
        else
          local _
          _, reply[#reply + 1] = bucketOrWindow(config, nil, nil, nil)
        end
      elseif log then
        a, b, c = logs.summary(log, config[PERMITS])
        limits[#limits + 1] = {config[PERMITS] - c, 1, 0, 0, c, 0, false, log.future, config, log}
        reply[#reply + 1] = pack('>I7I7I6', a, b, c)
      elseif config[LETTER] == 99 then
        stored = stored or {}
        limits[#limits + 1], reply[#reply + 1] = ofCalendar(config, stored[1], stored[2], stored[3], stored[6], stored[5])
      elseif stored then
        limits[#limits + 1], reply[#reply + 1] = bucketOrWindow(config, stored[1], stored[2], stored[3], stored[5])
      else
        limits[#limits + 1], reply[#reply + 1] = bucketOrWindow(config, nil, nil, nil)
      end
    end
  end
end
limitIndex[#keys + 1] = #limits + 1

local pieces, size, groupIndex, lastKeys = #reply, #input, {}, {}
local known, rewrite = 0, {}
while at <= size do
  local groupForm = byte(input, at)
  local isShort = groupForm < 3
  local before, keysAt = known, 0
  local count, keyCount, index, cost = 1, 1, 0, 1
  if groupForm == 1 then
    at = at + 1
  else
    count, keyCount, at = parse('>I2I2', input, at + 1)
    keysAt = at
  end
  local allowed, isBlocked = count, false
  for part = 1, keyCount do
    if isShort then
      index = before + part
    else
      index, cost, at = parse('>I2I6', input, at)
    end
    if index > known then
      known = index
    end
    isBlocked = isBlocked or blocks[index]
    for i = limitIndex[index], limitIndex[index + 1] - 1 do
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
  pieces = pieces + 1
  groupIndex[#groupIndex + 1] = pieces
  lastKeys[#groupIndex] = known
  if allowed and isBlocked then
    allowed = 0
    reply[pieces] = pack(count == 1 and 'B' or '>I2', count == 1 and 254 or 65534)
  else
    reply[pieces] = pack(count == 1 and 'B' or '>I2', allowed or count == 1 and 255 or 65535)
  end
  if allowed and (groupForm ~= 4 or logs or isBlocked) then
    for part = 1, keyCount do
      if isShort then
        index = before + part
      else
        index, cost, keysAt = parse('>I2I6', input, keysAt)
        keysAt = keysAt + 6 * (limitIndex[index + 1] - limitIndex[index])
      end
      if isBlocked then
        pieces = pieces + 1
        reply[pieces] = pack('>I7', blocks[index] or 0)
      end
      for i = limitIndex[index], limitIndex[index + 1] - 1 do
        local limit = limits[i]
        if groupForm ~= 4 then
          local newlySpent = allowed * cost * limit[PARTS]
          limit[FREE] = limit[FREE] - newlySpent
          limit[SPENT] = limit[SPENT] + newlySpent
          rewrite[index] = rewrite[index] or newlySpent > 0 or limit[FUTURE]
        end
        if limit[LOG] then
          pieces = pieces + 1
          reply[pieces] = pack('>I7', logs.entryBefore(limit[LOG], math.min(cost, limit[CONFIG][PERMITS]) - limit[FREE]))
        end
      end
    end
  end
end

for k = 1, #keys do
  if rewrite[k] then
    local sections, longest, keep = '', others[k] and ends[k] - now or 0, false
    for i = limitIndex[k], limitIndex[k + 1] - 1 do
      local limit = limits[i]
      local config, after, log = limit[CONFIG], limit[B] + limit[SPENT], limit[LOG]
      local section, life
      if log then
        if after > 0 then
          section, life = logs.encode(log, after)
        end
      elseif config[LETTER] == 99 then
        if limit[SPENT] > 0 then
          section, life = calendars.encode(config[WINDOW], limit[A], after, now, config[PERIOD_END], false)
        elseif after > 0 then
          section, life = calendars.encode(config[WINDOW], limit[A], after, limit[LATEST], limit[END], limit[DEBT])
        end
      else
        local letter = config[LETTER]
        if after > 0 or letter == 115 and limit[C] > 0 then
          section, life = encode(now, letter, config[PERMITS], config[UNITS], config[UNIT], limit[A], after, limit[C])
          if limit[DEBT] then
            section = encodeDebt(now, letter, config[WINDOW], life, limit[A], after, limit[C])
          end
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

if form > 1 then
  return table.concat(reply)
end
groupIndex[#groupIndex + 1] = pieces + 1
lastKeys[0] = 0
replies = replies or {pack('>I7', now)}
for group = 1, #lastKeys do
  replies[#replies + 1] = table.concat(reply, '', groupIndex[group], groupIndex[group + 1] - 1)
    .. table.concat(reply, '', limitIndex[lastKeys[group - 1] + 1] + 1, limitIndex[lastKeys[group] + 1])
end
return table.concat(replies)
