-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see clock.lua and state.lua.
--
-- Decides on groups of equal requests, in their order and at one instant. A request is spent if all its limits have room, else nothing of
-- it. Of a group the first requests are allowed, as many as have room. A rejection writes nothing, with three exceptions. A state from the
-- future, left by a clock that stepped back, is written as of now: otherwise each rejection would report the same retry-after again. Slots
-- that have ended are removed: otherwise each rejection would read all slots again. A bucket that lasts longer under a lowered limit gets
-- a later end: otherwise it would be full at the end under the earlier limit.
-- A foreign value fails the groups of its key, and no others.
-- KEYS        the keys of each group, one group after the other; a key stands there once per group
-- ARGV[1]     clock (clock.lua), of the form 2 or 3 if a limit is a calendar limit: then the periods of all calendar limits begin at I7 or
--             before, and end at I7 or later. Runs of groups that differ in their keys only follow:
--             number of groups I2, keys of a group I2, requests of a group I2, 0 to peek for one, and for each key of a group the cost in
--             permits I6, the number of limits I2 and the limits (state.lua)
-- Reply       one string: now I7, and nothing else if now is not within the periods of the calendar limits; nothing is written then.
--             Otherwise for each group the count of allowed requests I2, or 65535 for a foreign value, or 65534 if a key is blocked. Then,
--             unless the value is foreign, for each key the end of its block I7, 0 for none, if a key is blocked, and the states of its
--             limits before the group: a byte 0 for an untouched limit, else a section that can have ended, or has more permits than the
--             limit; of logs and slots only a summary (general.lua)
-- Complexity  O(limits of keys), and that of log.lua for sliding logs
-- Errors      all commands that can fail after a write are those of which the first one has succeeded: no write makes a later write fail
-- Redis       6.2 or later
--
-- Two ways, one meaning: the short way of this file decides on windows and buckets whose keys contain nothing but their sections, which are
-- most calls, in a third of the time: without functions, and without tables per key or limit. general.lua decides on all other groups. A
-- group goes there of which nothing is written yet: for another kind of limit, another section, a state from the future or a foreign value,
-- if a later limit than the first one has room for some of its requests, or if a rejection writes a later end. PlainBatchTest holds the
-- two ways equal.

-- Returns the function of general.lua. It is created for the first group that needs it: the creation of functions takes time as well.
local function newDecision(now, input, keys, call, parse, pack, byte)
--include state.lua
--include log.lua
--include slots.lua
--include general.lua
end

if form > 1 then
  local from, to
  from, to, at = parse('>I7I7', input, at)
  if now < from or now >= to then
    return pack('>I7', now)
  end
end

-- Writes the sections of a key; without a time to live, the key keeps its own.
local function put(call, key, sections, life)
  if life then
    call('SET', key, sections, 'PX', life)
  else
    call('SET', key, sections, 'KEEPTTL')
  end
end

local isPlain, decide = true, nil
local read, floor, ceil = redis.pcall, math.floor, math.ceil
-- The replies, and the first key of the next group.
local replies, replied, first = {pack('>I7', now), '', ''}, 1, 1
-- The run: how many of its groups are left, their keys and requests, and the position of the first key.
local groups, groupKeys, count, partsAt = 0, 1, 1, at
local cost, limitCount, limitsAt, letter, permits, units, exponent, capacity, maxDebt, delay, unit, length, window
-- The sections and times to live of the keys of a group before its last one.
local texts, lives = nil, nil
-- The key of the group before, its sections and their time to live, which are written once another key follows: equal keys with different
-- costs take a third less time.
local heldKey, held, heldLife = nil, nil, nil
while keys[first] do
  local isRead = groups == 0
  if isRead then
    groups, groupKeys, count, cost, limitCount, limitsAt = parse('>I2I2I2I6I2', input, at)
    partsAt = limitsAt - 8
    if groupKeys > 1 then
      texts, lives = {}, {}
    end
  end
  local start, handled, isShort = replied + 1, isPlain, false
  local allowed, part, key, sections, life = count > 0 and count or 1, 1, nil, nil, nil
  if heldKey and (heldKey ~= keys[first] or groupKeys > 1) then
    put(call, heldKey, held, heldLife)
    heldKey = nil
  end
  groups, replied, replies[start] = groups - 1, start, ''
  repeat
    if groupKeys > 1 then
      cost, limitCount, limitsAt = parse('>I6I2', input, part == 1 and partsAt or at)
      isRead = true
    end
    key = keys[first + part - 1]
    local raw = heldKey and held or read('GET', key)
    -- An error has the length 0, so general.lua decides what it means.
    local stored, from, longest, keepsLongest = raw and #raw, 1, 0, false
    sections = nil
    local limitAt = limitsAt
    for i = 1, limitCount do
      if isRead or limitCount > 1 then
        letter, permits, window, exponent, limitAt = parse('>BI6I5B', input, limitAt)
        unit = exponent == 0 and 1 or 10 ^ exponent
        length = window * 1000
        units = length / unit
      end

      local storedLetter, storedWindow, a, b, c = letter, window, now, 0, 0
      local elapsed, keeps, free, needed = 0, false, permits, cost
      if letter == 115 then
        if stored and stored - from < 24 then
          storedLetter = 0
        elseif stored then
          storedLetter, storedWindow, a, b, c, from = parse('>BI5I7I6I6', raw, from)
          elapsed, keeps = now - a, b > 0
          storedLetter = elapsed < 0 and 0 or storedLetter
          if b > permits then
            b = permits
          end
          if c > permits then
            c = permits
          end
          if elapsed >= length then
            keeps, c, b = false, elapsed < 2 * length and b or 0, 0
            elapsed = elapsed - length
            a = a + length
          end
          free = permits - b
          if c > 0 then
            free = free - ceil(c * (units - floor(elapsed / unit)) / units)
          elseif b == 0 then
            keeps, a, elapsed = false, now, 0
          end
        end
      elseif letter == 102 then
        if stored and stored - from < 18 then
          storedLetter = 0
        elseif stored then
          storedLetter, storedWindow, a, b, from = parse('>BI5I7I6', raw, from)
          elapsed = now - a
          storedLetter = elapsed < 0 and 0 or storedLetter
          if b > permits then
            b = permits
          end
          if b == 0 or elapsed >= length then
            a, b, elapsed = now, 0, 0
          else
            keeps = true
          end
          free = permits - b
        end
      elseif letter > 107 and letter ~= 110 then
        if isRead or limitCount > 1 then
          capacity, maxDebt, delay, limitAt = parse('>I6I7I6', input, limitAt)
        end
        if stored and stored - from < 27 then
          storedLetter = 0
        elseif stored then
          local ends
          storedLetter, storedWindow, a, b, c, ends, from = parse('>BI5I7I7BI7', raw, from)
          if c ~= exponent or b > 9007199254740992 or a > now then
            storedLetter = 0
          elseif b > maxDebt then
            b = maxDebt
          end
          elapsed = floor((now - a) / unit)
          a, b = a + elapsed * unit, b - elapsed * permits
          if b <= 0 then
            a, b = now, 0
          elseif b > (ends - a) / unit * permits then
            -- Under a lowered limit, less returns until the stored end than is missing.
            isShort = true
          end
          elapsed = now - a
        end
        c, free, needed = exponent, capacity * units - b, cost * units
        if delay > 0 then
          free = cost <= capacity and free + permits * floor((delay + elapsed) / unit) or 0
        end
      else
        storedLetter = 0
      end
      if storedLetter ~= letter or storedWindow ~= window then
        handled = false
        break
      end

      if free < needed * allowed then
        allowed = free < needed and 0 or floor(free / needed)
        if allowed > 0 and (i > 1 or part > 1) then
          handled = false
          break
        end
      end
      if allowed > 0 and count > 0 then
        local section, left
        b = b + needed * allowed
        if letter == 115 then
          section, left = pack('>BI5I7I6I6', 115, window, a, b, c), 2 * length - elapsed
        elseif letter == 102 then
          section, left = pack('>BI5I7I6', 102, window, a, b), length - elapsed
        else
          left = permits > 0 and ceil(b / permits) * unit - elapsed or 0
          section = pack('>BI5I7I7BI7', letter, window, a, b, exponent, now + left)
        end
        sections = sections and sections .. section or section
        if left > longest then
          longest, keepsLongest = left, keeps
        end
      end
    end
    handled = handled and not (stored and from <= stored)
    if not handled then
      break
    end
    if isRead then
      at = limitAt
    end
    replied = replied + 1
    replies[replied] = raw or limitCount == 1 and '\0' or string.rep('\0', limitCount)
    life = sections and not keepsLongest and string.format('%d', longest < 1000 and 1 or ceil(longest / 1000))
    if part < groupKeys then
      texts[part], lives[part] = sections, life
    end
    part = part + 1
  until part > groupKeys

  if not handled or isShort and allowed == 0 and count > 0 then
    if heldKey then
      put(call, heldKey, held, heldLife)
      heldKey = nil
    end
    decide = decide or newDecision(now, input, keys, call, parse, pack, byte)
    replied, replies[start], at = start, decide(first, groupKeys, count, partsAt)
  else
    replies[start] = allowed == 0 and '\0\0' or allowed == 1 and '\0\1' or pack('>I2', allowed)
    if sections and allowed > 0 then
      for i = 1, groupKeys - 1 do
        put(call, keys[first + i - 1], texts[i], lives[i])
      end
      heldLife = life or heldKey and heldLife
      heldKey, held = key, sections
    end
  end
  first = first + groupKeys
end
if heldKey then
  put(call, heldKey, held, heldLife)
end
return table.concat(replies, '', 1, replied)
