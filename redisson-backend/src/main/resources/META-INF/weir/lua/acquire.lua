-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see state.lua and log.lua, which are loaded in front of this.
--
-- Decides about checks in their order, all at one instant and each on its own: spends all limits of a check if all have room, else
-- none. Equal checks in a row are one with a count: as many of them as fit are admitted, the first ones. Refusals write nothing.
-- The one exception: a state from the future, left by a clock that stepped back, is written as of now once, or the wait it tells
-- would be told for ever. A key that holds something else fails the checks that name it, and no others.
-- KEYS        one per limit, all different
-- ARGV[1]     now I7 (0: Redis's clock); for each key a limit (state.lua); then for each check:
--             operation B (1 spends, 0 only looks), count I2, number of its keys I2, and for each of them:
--             place in KEYS I2, cost I6, patience I6 (how long a bucket may make the check wait for what it owes)
-- Reply       one string: now I7; for each key its state before the checks: I7 I7 I6; for each check how many were admitted I2,
--             or 65535 if a key holds something else and so nothing follows; then for each log among its keys, the entry with
--             whose end the cost fits I7
-- Complexity  O(keys + checks), and what log.lua says
-- Order       whatever can fail does so before the first write

-- Equal checks of one key, which is what a lone caller and a hot key bring, in the fewest steps. What follows this does the same for
-- all others.
if #KEYS == 1 and #ARGV[1] == 53 then
  local letter, permits, units, exponent, capacity, most, operation, count, _, _, cost, patience =
    struct.unpack('>BI6I6BI6I7BI2I2I2I6I6', ARGV[1], at)
  if letter ~= 103 then
    local key, unit = KEYS[1], 10 ^ exponent
    local a, b, c = read(key, letter)
    if a == false then
      return struct.pack('>I7I7I7I6I2', now, 0, 0, 0, 65535)
    end
    local start, spent = a, b
    if a then
      a, b, c = advance(now, letter, permits, units, exponent, most, a, b, c)
    else
      a, b, c = now, 0, (letter == 115 or letter == 102) and 0 or exponent
    end
    local room = cost <= capacity and roomIn(now, letter, permits, units, unit, capacity, a, b, c, patience) or 0
    local admitted = room >= cost * count and count or math.max(0, math.floor(room / cost))
    if operation == 1 then
      if admitted > 0 then
        local after = b + admitted * ((letter == 115 or letter == 102) and cost or cost * units)
        write(now, key, letter, permits, units, unit, a, after, c, start == a and spent > 0)
      elseif start and start > now then
        write(now, key, letter, permits, units, unit, a, b, c, false)
      end
    end
    return struct.pack('>I7I7I7I6I2', now, a, b, c, admitted)
  end
end

-- What is known of a limit.
local LETTER, PERMITS, UNITS, UNIT, CAPACITY, A, B, C, KEEP, AHEAD, DIRTY, LOG = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12

local input, keys = ARGV[1], KEYS
local limits, reply = {}, {struct.pack('>I7', now)}
local logs
for i = 1, #keys do
  local letter, permits, units, exponent, capacity, most
  letter, permits, units, exponent, capacity, most, at = struct.unpack('>BI6I6BI6I7', input, at)
  if letter == 103 then
    logs = logs or newLogs(now)
    local log = logs.read(keys[i], units * 10 ^ exponent)
    local a, b, c = 0, 0, 0
    if log then
      a, b, c = logs.told(log, permits)
      limits[i] = {letter, permits, units, 0, capacity, 0, c, 0, false, log.ahead, false, log}
    end
    reply[i + 1] = struct.pack('>I7I7I6', a, b, c)
  else
    local a, b, c = read(keys[i], letter)
    local keep, ahead = false, false
    if a then
      local start, spent = a, b
      ahead = a > now
      a, b, c = advance(now, letter, permits, units, exponent, most, a, b, c)
      -- A window lives for as long as its start says, once something was spent in it.
      keep = start == a and spent > 0
    elseif a == nil then
      a, b, c = now, 0, (letter == 115 or letter == 102) and 0 or exponent
    end
    if a then
      limits[i] = {letter, permits, units, 10 ^ exponent, capacity, a, b, c, keep, ahead, false}
      reply[i + 1] = struct.pack('>I7I7I6', a, b, c)
    else
      reply[i + 1] = struct.pack('>I7I7I6', 0, 0, 0)
    end
  end
end

local said, size = #keys + 1, #input
while at <= size do
  local operation, count, parts, place, cost, patience
  operation, count, parts, at = struct.unpack('>BI2I2', input, at)
  local part, admitted = at, count
  local hasLog = false
  for _ = 1, parts do
    place, cost, patience, at = struct.unpack('>I2I6I6', input, at)
    local limit = limits[place]
    if not limit then
      admitted = nil
    elseif admitted then
      local room = roomIn(
        now, limit[LETTER], limit[PERMITS], limit[UNITS], limit[UNIT], limit[CAPACITY], limit[A], limit[B], limit[C], patience)
      hasLog = hasLog or limit[LETTER] == 103
      if cost > limit[CAPACITY] then
        admitted = 0
      elseif room < cost * admitted then
        admitted = math.max(0, math.floor(room / cost))
      end
    end
  end
  said = said + 1
  reply[said] = struct.pack('>I2', admitted or 65535)
  if admitted and (operation == 1 or hasLog) then
    for _ = 1, parts do
      if parts > 1 then
        place, cost, patience, part = struct.unpack('>I2I6I6', input, part)
      end
      local limit = limits[place]
      local letter = limit[LETTER]
      if operation == 1 then
        if admitted > 0 then
          local isBucket = letter ~= 115 and letter ~= 102 and letter ~= 103
          limit[B] = limit[B] + admitted * cost * (isBucket and limit[UNITS] or 1)
          limit[DIRTY] = true
        elseif limit[AHEAD] then
          limit[DIRTY] = true
        end
      end
      if letter == 103 then
        said = said + 1
        reply[said] = struct.pack('>I7', logs.goneWith(limit[LOG], limit[B] + math.min(cost, limit[PERMITS]) - limit[PERMITS]))
      end
    end
  end
end

for i = 1, #keys do
  local limit = limits[i]
  if limit and limit[DIRTY] then
    if limit[LETTER] == 103 then
      logs.write(keys[i], limit[LOG], limit[B])
    else
      write(now, keys[i], limit[LETTER], limit[PERMITS], limit[UNITS], limit[UNIT], limit[A], limit[B], limit[C], limit[KEEP])
    end
  end
end
return table.concat(reply)
