-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see clock.lua, state.lua, log.lua and slots.lua, which precede this file.
--
-- Decides on one group as acquire.lua does, whatever its limits are and whatever its keys have beside their sections.
-- State       as now, in the reply: a byte 0 for an untouched limit, else the section (state.lua), with two exceptions. Of a
--             log: letter g B, two instants and the permits of its summary I7 I7 I6 (log.lua), and the instant of the entry at whose end
--             the cost has room I7. Of slots: letter n B, their number I2, the instants before and after which none ends I7 I7, the number
--             of the next slot I6
-- Complexity  O(limits of keys), and that of log.lua for sliding logs

local find = newSections()
local logs, slots

-- A kind of limits has two functions. `state` returns the state of a limit as of now, false for a foreign value: its free parts, the parts
-- that a request needs, its part of the reply, whether the stored one is to be replaced even by a rejection, and whether a key with it keeps
-- its time to live. `section` returns the section after some parts were spent, and its end; nil for an untouched limit.
local counters, logKind, calendarKind, slotKind = {}, {}, {}, {}

function counters.state(limit, stored, cost)
  local isBucket = limit[1] == 116 or limit[1] == 108
  local a, b, c, debt = now, 0, isBucket and limit.exponent or 0, false
  if stored then
    a, b, c, debt = asOfNow(limit, stored)
  end
  local free, needed = limit.permits - b, cost
  if isBucket then
    free, needed = limit.capacity * limit.units - b, cost * limit.units
    if limit.delay > 0 then
      free = cost <= limit.capacity and free + limit.permits * math.floor((limit.delay + now - a) / limit.unit) or 0
    end
  elseif c > 0 then
    free = free - math.ceil(c * (limit.units - math.floor((now - a) / limit.unit)) / limit.units)
  end
  local state = {
    free = free, needed = needed, a = a, b = b, c = c, debt = debt, isFuture = stored and stored[1] > now,
    keeps = stored and not isBucket and stored[1] == a and stored[2] > 0,
  }
  local section, ends = counters.section(limit, state, 0)
  state.text = section or '\0'
  if isBucket and stored and limit.permits > 0 and section and ends > stored[6] then
    state.laterEnd = ends
  end
  return state
end

function counters.section(limit, state, spent)
  local b = state.b + spent
  if b == 0 and (limit[1] ~= 115 or state.c == 0) then
    return nil
  end
  return encode(limit, state.a, b, state.c, state.debt)
end

function logKind.state(limit, stored, cost)
  logs = logs or newLogs()
  local log = logs.read(stored and stored[4], limit[2] * 1000)
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

function calendarKind.state(limit, stored, cost)
  if now >= limit.ends then
    limit.start, limit.ends = limit.ends, limit.nextEnd
  end
  local first, latest, spent, ends, debt = now, now, 0, limit.ends, false
  -- A charge before the period does not count. More permits than the limit has count as all of them, unless a settlement has charged them.
  if stored and now < stored[6] and stored[2] >= limit.start and stored[3] > 0 and limit.permits > 0 then
    spent = math.min(stored[3], stored[5] and most(limit) or limit.permits)
    first, latest, ends, debt = math.min(stored[1], now), math.min(stored[2], now), math.min(stored[6], ends), spent > limit.permits
  end
  local state = {
    free = limit.permits - spent, needed = cost, isFuture = stored and stored[2] > now, first = first, latest = latest, spent = spent,
    ends = ends, debt = debt,
  }
  state.text = calendarKind.section(limit, state, 0) or '\0'
  return state
end

function calendarKind.section(limit, state, spent)
  if spent > 0 then
    return encode(limit, state.first, now, state.spent + spent, false, limit.ends)
  elseif state.spent > 0 then
    return encode(limit, state.first, state.latest, state.spent, state.debt, state.ends)
  end
  return nil
end

function slotKind.state(limit, stored)
  slots = slots or newSlots()
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
  return slots.encode(held, first, last), last
end

local KINDS = {[99] = calendarKind, [103] = logKind, [110] = slotKind}

-- Reads a key of a group. Returns false for a foreign value, and the position behind the limits of the key.
local function readKey(name, at)
  local key, count, foreign = {name = name, limits = {}, states = {}}, nil, false
  key.cost, count, at = parse('>I6I2', input, at)
  for i = 1, count do
    key.limits[i], at = readLimit(at)
  end
  local found, others, ends, block = find(get(name), key.limits)
  key.found, key.others, key.ends, key.block = found, others or '', others and ends or 0, block and block > now and block
  for i = 1, count do
    local limit = key.limits[i]
    limit.kind = KINDS[limit[1]] or counters
    key.states[i] = found ~= false and limit.kind.state(limit, found and found[i], key.cost)
    foreign = foreign or not key.states[i]
  end
  return not foreign and key, at
end

-- Returns a stored section, with the later end of a bucket under a lowered limit, and its end. It stays as it is otherwise: the limit can be
-- raised again.
local function kept(stored, laterEnd)
  local section = stored[4]
  if laterEnd and stored[5] then
    section = string.sub(section, 1, 6) .. pack('>I7', laterEnd) .. string.sub(section, 14)
  elseif laterEnd then
    section = string.sub(section, 1, -8) .. pack('>I7', laterEnd)
  end
  return section, laterEnd or stored[6]
end

-- Writes what is left of a key after requests were spent, unless it stays as it is.
local function writeKey(key, allowed)
  local sections, latest, keeps, changed = '', key.ends, false, allowed > 0
  for i = 1, #key.limits do
    local state, stored, section, ends = key.states[i], key.found and key.found[i], nil, nil
    if allowed > 0 or state.isFuture then
      section, ends = key.limits[i].kind.section(key.limits[i], state, allowed * state.needed)
    elseif stored then
      section, ends = kept(stored, state.laterEnd)
    end
    changed = changed or state.isFuture or state.laterEnd
    sections = sections .. (section or '')
    if section and ends > latest then
      latest, keeps = ends, allowed > 0 and state.keeps
    end
  end
  if changed then
    write(key.name, sections .. key.others, latest, keeps)
  end
end

-- Decides on the group whose keys begin with the one of an index and whose limits begin at a position. Returns its part of the reply, and
-- the position behind its limits.
return function(first, keyCount, count, at)
  local group, allowed, isBlocked, isForeign = {}, math.max(count, 1), false, false
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
  local reply, spent = {isBlocked and '\255\254' or pack('>I2', allowed)}, count > 0 and allowed or 0
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
    if count > 0 then
      writeKey(key, spent)
    end
  end
  return table.concat(reply), at
end
