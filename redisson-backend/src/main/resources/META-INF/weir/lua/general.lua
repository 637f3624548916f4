-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see clock.lua, state.lua, log.lua, calendar.lua and slots.lua, which precede this file.
--
-- Decides on one group as acquire.lua does, whatever its limits are and whatever its keys have beside their sections.
-- Limit       33 bytes. Of a window, a log or a bucket: letter B, permits I6, window in units I6, exponent of the unit B, capacity I6,
--             largest debt of a bucket I7 (state.lua), longest delay I6: how long a bucket may delay the call for permits it lacks.
--             Of a calendar limit: letter c B, permits I6, nominal window in ms I5, start and end of a period and end of the next one, I7
--             each. Of a concurrency limit: letter n B, permits I6, timeout I7, instance I6, number of its next slot I6, 0 I7
-- State       as now, in the reply: a byte 0 for an untouched limit, else the section (state.lua, calendar.lua), with two exceptions. Of a
--             log: letter g B, two instants and the permits of its summary I7 I7 I6 (log.lua), and the instant of the entry at whose end
--             the cost has room I7. Of slots: letter n B, their number I2, the instants before and after which none ends I7 I7, the number
--             of the next slot I6
-- Complexity  O(limits of keys), and that of log.lua for sliding logs

local find = newSections()
local logs, calendars, slots

-- A kind of limits has three functions. `limit` returns a limit that is read from the argument, with its letter and its window in ms as the
-- first fields. `state` returns the state of a limit as of now, false for a foreign value: its free parts, the parts that a request needs,
-- its part of the reply, and whether the stored one is to be replaced even by a rejection. `section` returns the section after some parts
-- were spent, its time to live, and whether a key with it keeps its own; nil for an untouched limit.
local counters, logKind, calendarKind, slotKind = {}, {}, {}, {}

function counters.limit(letter, from)
  local permits, units, exponent, capacity, maxDebt, delay = parse('>I6I6BI6I7I6', input, from)
  local unit = 10 ^ exponent
  return {
    letter, units * unit / 1000, kind = letter == 103 and logKind or counters, permits = permits, units = units, exponent = exponent,
    unit = unit, capacity = capacity, maxDebt = maxDebt, delay = delay,
  }
end

function counters.state(limit, stored, cost)
  local letter, permits, units, unit = limit[1], limit.permits, limit.units, limit.unit
  local isWindow = letter == 115 or letter == 102
  local a, b, c, debt, keeps, isFuture = now, 0, isWindow and 0 or limit.exponent, false, false, false
  if stored then
    isFuture = stored[1] > now
    a, b, c, debt = (stored[5] and advanceDebt or advance)(
      now, letter, permits, units, limit.exponent, limit.maxDebt, stored[1], stored[2], stored[3])
    -- A window with earlier charges keeps its time to live.
    keeps = isWindow and stored[1] == a and stored[2] > 0
  end
  local free, parts = freeParts(now, letter, permits, units, unit, limit.capacity, a, b, c)
  if limit.delay > 0 and not isWindow then
    free = cost <= limit.capacity and free + permits * math.floor((limit.delay + now - a) / unit) or 0
  end
  local state = {free = free, needed = cost * parts, a = a, b = b, c = c, debt = debt, keeps = keeps, isFuture = isFuture}
  state.text = counters.section(limit, state, 0) or '\0'
  return state
end

function counters.section(limit, state, spent)
  local letter, b = limit[1], state.b + spent
  if b == 0 and (letter ~= 115 or state.c == 0) then
    return nil
  end
  local section, life = encode(now, letter, limit.permits, limit.units, limit.unit, state.a, b, state.c)
  if state.debt then
    section = encodeDebt(now, letter, limit[2], life, state.a, b, state.c)
  end
  return section, life, state.keeps
end

function logKind.state(limit, stored, cost)
  logs = logs or newLogs(now)
  local log = logs.read(stored and stored[4], limit.units * limit.unit)
  if not log then
    return false
  end
  local oldest, newest, live = logs.summary(log, limit.permits)
  return {
    free = limit.permits - live, needed = cost, text = pack('>BI7I7I6', 103, oldest, newest, live), isFuture = log.future, log = log,
    live = live,
  }
end

function logKind.section(limit, state, spent)
  if state.live + spent > 0 then
    return logs.encode(state.log, state.live + spent)
  end
  return nil
end

function calendarKind.limit(letter, from)
  local permits, window, start, ends, nextEnd = parse('>I6I5I7I7I7', input, from)
  if now >= ends then
    start, ends = ends, nextEnd
  end
  return {letter, window, kind = calendarKind, permits = permits, start = start, ends = ends}
end

function calendarKind.state(limit, stored, cost)
  calendars = calendars or newCalendars(now)
  local first, spent, latest, ends, debt
  if stored then
    first, spent, latest, ends, debt = calendars.read(stored[4])
    if not first then
      return false
    end
  end
  local isFuture = first and latest > now
  first, spent, latest, ends, debt = calendars.advance(limit.permits, limit.start, limit.ends, first, spent, latest, ends, debt)
  return {
    free = limit.permits - spent, needed = cost, isFuture = isFuture, first = first, spent = spent, latest = latest, ends = ends,
    debt = debt, text = spent > 0 and calendars.encode(limit[2], first, spent, latest, ends, debt) or '\0',
  }
end

function calendarKind.section(limit, state, spent)
  if spent > 0 then
    return calendars.encode(limit[2], state.first, state.spent + spent, now, limit.ends, false)
  elseif state.spent > 0 then
    return calendars.encode(limit[2], state.first, state.spent, state.latest, state.ends, state.debt)
  end
  return nil
end

function slotKind.limit(letter, from)
  local permits, timeout, instance, number = parse('>I6I7I6I6', input, from)
  return {letter, 1, kind = slotKind, permits = permits, timeout = timeout, instance = instance, number = number}
end

function slotKind.state(limit, stored)
  slots = slots or newSlots(now)
  local held, count, first, last, hasEnded = '', 0, 9007199254740992, 0, false
  if stored then
    held, count, first, last, hasEnded = slots.read(stored[4])
    if not held then
      return false
    end
  end
  return {
    free = limit.permits - count, needed = 1, text = pack('>BI2I7I7I6', 110, count, first, last, limit.number), isFuture = hasEnded,
    held = held, first = first, last = last,
  }
end

function slotKind.section(limit, state, spent)
  local held, first, last = state.held, state.first, state.last
  if spent > 0 then
    held, first, last = slots.add(held, spent, limit.instance, limit.number, now + limit.timeout, first, last)
  end
  return slots.encode(held, first, last), last - now
end

-- Reads a key of a group. Returns false for a foreign value, and the position behind the limits of the key.
local function readKey(name, at)
  local cost, count, from = parse('>I6I2', input, at)
  local key, limits = {name = name, cost = cost, limits = {}, states = {}}, nil
  limits = key.limits
  for i = 1, count do
    local letter = byte(input, from)
    limits[i] = (letter == 99 and calendarKind or letter == 110 and slotKind or counters).limit(letter, from + 1)
    from = from + 33
  end
  local found, others, ends, block = find(name, limits, now)
  key.others, key.ends, key.block = others, ends, block and block > now and block
  for i = 1, count do
    key.states[i] = found ~= false and limits[i].kind.state(limits[i], found and found[i], cost)
    if not key.states[i] then
      return false, from
    end
  end
  return key, from
end

-- Writes what is left of a key after requests were spent, unless it stays as it is.
local function writeKey(key, allowed)
  local sections, longest, keeps, changed = '', key.others and key.ends - now or 0, false, false
  for i = 1, #key.limits do
    local limit, state = key.limits[i], key.states[i]
    local section, life, keepsLife = limit.kind.section(limit, state, allowed * state.needed)
    changed = changed or allowed > 0 or state.isFuture
    if section then
      sections = sections .. section
      if life > longest then
        longest, keeps = life, keepsLife
      end
    end
  end
  sections = sections .. (key.others or '')
  if changed and sections == '' then
    call('DEL', key.name)
  elseif changed then
    write(key.name, sections, longest, keeps)
  end
end

-- Decides on the group whose keys begin with the one of an index and whose limits begin at a position. Returns its part of the reply, and
-- the position behind its limits.
return function(first, keyCount, count, spends, at)
  local group, allowed, isBlocked, isForeign = {}, count, false, false
  for part = 1, keyCount do
    local key
    key, at = readKey(keys[first + part - 1], at)
    group[part] = key
    isForeign = isForeign or not key
    isBlocked = isBlocked or key and key.block
    for i = 1, key and #key.states or 0 do
      local state = key.states[i]
      if state.free < state.needed * allowed then
        allowed = state.free < state.needed and 0 or math.floor(state.free / state.needed)
      end
    end
  end
  if isForeign then
    return '\255\255', at
  end
  if isBlocked then
    allowed = 0
  end
  local reply, spent = {isBlocked and '\255\254' or pack('>I2', allowed)}, spends and allowed or 0
  for part = 1, keyCount do
    local key = group[part]
    if isBlocked then
      reply[#reply + 1] = pack('>I7', key.block or 0)
    end
    for i = 1, #key.states do
      local state = key.states[i]
      reply[#reply + 1] = state.text
      if state.log then
        local missing = math.min(key.cost, key.limits[i].permits) - (state.free - spent * state.needed)
        reply[#reply + 1] = pack('>I7', logs.entryBefore(state.log, missing))
      end
    end
    if spends then
      writeKey(key, spent)
    end
  end
  return table.concat(reply), at
end
