-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see state.lua and log.lua, which are loaded in front of this.
--
-- Decides about checks in their order, all at one instant and each on its own: spends all limits of a check if all have room, else
-- none. Equal checks in a row are one with a count: as many of them as fit are admitted, the first ones. Refusals write nothing.
-- The one exception: a state from the future, left by a clock that stepped back, is written as of now once, or the wait it tells
-- would be told for ever. A key that holds something else fails the checks that name it, and no others.
-- KEYS        one per limit, all different
-- ARGV[1]     now I7 (0: Redis's clock); for each key a limit (state.lua); then for each check:
--             operation B (0 only looks, 1 spends, 2 spends if the latest check before it that is not such a one was admitted),
--             count I2, number of its keys I2, and for each of them:
--             place in KEYS I2, cost I6, patience I6 (how long a bucket may make the check wait for what it owes)
-- Reply       one string: now I7; for each key its state before the checks: I7 I7 I6; for each check how many fit I2,
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
    local free, parts = freeIn(now, letter, permits, units, unit, capacity, a, b, c)
    local admitted = 0
    if cost <= capacity then
      if patience > 0 then
        free = free + permits * math.floor((patience + now - a) / unit)
      end
      admitted = free >= cost * parts * count and count or math.max(0, math.floor(free / (cost * parts)))
    end
    if operation == 1 then
      if admitted > 0 then
        write(now, key, letter, permits, units, unit, a, b + admitted * cost * parts, c, start == a and spent > 0)
      elseif start and start > now then
        write(now, key, letter, permits, units, unit, a, b, c, false)
      end
    end
    return struct.pack('>I7I7I7I6I2', now, a, b, c, admitted)
  end
end

local parse, pack, floor = struct.unpack, struct.pack, math.floor
-- What is known of a limit. A permit is so many PARTS, of which so many are FREE and so many were TAKEN by the checks before.
local FREE, PARTS, TAKEN, CAPACITY, A, LETTER, PERMITS, UNITS, UNIT, B, C, KEEP, AHEAD, LOG = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14

local input, keys = ARGV[1], KEYS
local limits, reply = {}, {pack('>I7', now)}
local logs
for i = 1, #keys do
  local letter, permits, units, exponent, capacity, most
  letter, permits, units, exponent, capacity, most, at = parse('>BI6I6BI6I7', input, at)
  if letter == 103 then
    logs = logs or newLogs(now)
    local log = logs.read(keys[i], units * 10 ^ exponent)
    local a, b, c = 0, 0, 0
    if log then
      a, b, c = logs.told(log, permits)
      limits[i] = {permits - c, 1, 0, capacity, 0, letter, permits, units, 0, c, 0, false, log.ahead, log}
    end
    reply[i + 1] = pack('>I7I7I6', a, b, c)
  else
    local unit = 10 ^ exponent
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
      local free, parts = freeIn(now, letter, permits, units, unit, capacity, a, b, c)
      limits[i] = {free, parts, 0, capacity, a, letter, permits, units, unit, b, c, keep, ahead}
      reply[i + 1] = pack('>I7I7I6', a, b, c)
    else
      reply[i + 1] = pack('>I7I7I6', 0, 0, 0)
    end
  end
end

local said, size = #keys + 1, #input
local first, repaired, led = 0, {}, false
while at <= size do
  -- The first part stands behind the check in one piece; others, if there are any, follow.
  local operation, count, named, place, cost, patience
  operation, count, named, place, cost, patience, at = parse('>BI2I2I2I6I6', input, at)
  first = at - 14
  local admitted, hasLog = count, false
  for part = 1, named do
    if part > 1 then
      place, cost, patience, at = parse('>I2I6I6', input, at)
    end
    local limit = limits[place]
    if not limit then
      admitted = nil
    elseif admitted then
      local free, price = limit[FREE], cost * limit[PARTS]
      if patience > 0 then
        free = cost <= limit[CAPACITY] and free + limit[PERMITS] * floor((patience + now - limit[A]) / limit[UNIT]) or 0
      end
      if free < price * admitted then
        admitted = free < price and 0 or floor(free / price)
      end
      hasLog = hasLog or limit[LETTER] == 103
    end
  end
  said = said + 1
  reply[said] = pack('>I2', admitted or 65535)
  local spends = operation == 1 or operation == 2 and led
  if operation ~= 2 then
    led = admitted and admitted > 0
  end
  if admitted and (operation > 0 or hasLog) then
    for _ = 1, named do
      if named > 1 then
        place, cost, patience, first = parse('>I2I6I6', input, first)
      end
      local limit = limits[place]
      if spends then
        local taken = admitted * cost * limit[PARTS]
        limit[FREE] = limit[FREE] - taken
        limit[TAKEN] = limit[TAKEN] + taken
      end
      if operation > 0 then
        repaired[place] = limit[AHEAD]
      end
      if limit[LETTER] == 103 then
        said = said + 1
        reply[said] = pack('>I7', logs.goneWith(limit[LOG], math.min(cost, limit[PERMITS]) - limit[FREE]))
      end
    end
  end
end

for i = 1, #keys do
  local limit = limits[i]
  if limit and (limit[TAKEN] > 0 or repaired[i]) then
    local letter, after = limit[LETTER], limit[B] + limit[TAKEN]
    if letter == 103 then
      logs.write(keys[i], limit[LOG], after)
    else
      local keep = limit[KEEP] and limit[PARTS] == 1
      write(now, keys[i], letter, limit[PERMITS], limit[UNITS], limit[UNIT], limit[A], after, limit[C], keep)
    end
  end
end
return table.concat(reply)
