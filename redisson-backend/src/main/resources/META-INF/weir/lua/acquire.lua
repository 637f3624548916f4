-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see state.lua and log.lua, which are loaded in front of this.
--
-- Decides about checks in their order, all at one instant and each on its own: spends all limits of a check if all have room, else
-- none. Equal checks in a row are one with a count: as many of them as fit are admitted, the first ones. Refusals write nothing.
-- The one exception: a state from the future, left by a clock that stepped back, is written as of now once, or the wait it tells
-- would be told for ever. A key that holds something else fails the checks that name it, and no others.
-- KEYS        one per limit, all different
-- ARGV[1]     now I7 (0: Redis's clock); for each key a limit (state.lua); then for each check:
--             operation B (1 spends, 0 only looks), count I2, number of its keys B, and for each of them:
--             place in KEYS I2, cost I6, patience I6 (how long a bucket may make the check wait for what it owes)
-- Reply       one string: now I7; for each key its state before the checks: I7 I7 I6; for each check how many were admitted I2,
--             or 65535 if a key holds something else and so nothing follows; then for each log among its keys, the entry with
--             whose end the cost fits I7
-- Complexity  O(keys + checks), and what log.lua says
-- Order       whatever can fail does so before the first write

local CHECK, PART, STATE = '>BI2B', '>I2I6I6', '>I7I7I6'
local FOREIGN = 65535
-- What is known of a limit; for a log, B is what readLog gives.
local LETTER, PERMITS, UNITS, UNIT, CAPACITY, A, B, C, EXPONENT, KEEP, AHEAD, DIRTY = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12

local limits = {}
local reply = {pack('>I7', now)}
for i = 1, #KEYS do
  local letter, permits, units, exponent, capacity, most
  letter, permits, units, exponent, capacity, most, at = parse(LIMIT, input, at)
  local unit = 10 ^ exponent
  if letter == LOG then
    local log = readLog(KEYS[i], units * unit)
    limits[i] = log and {letter, permits, units, unit, capacity, 0, log, 0, exponent, false, log.ahead, false}
    reply[i + 1] = log and pack(STATE, toldOf(log, permits)) or pack(STATE, 0, 0, 0)
  else
    local isWindow = letter == SLIDING or letter == FIXED
    local storedA, storedB, c = read(KEYS[i], letter)
    local a, b = storedA, storedB
    if a then
      a, b, c = advance(letter, permits, units, exponent, most, a, b, c)
    elseif a == nil then
      a, b, c = now, 0, isWindow and 0 or exponent
    end
    -- A window lives for as long as its start says, once something was spent in it.
    local keep = isWindow and a and storedA == a and storedB > 0
    limits[i] = a and {letter, permits, units, unit, capacity, a, b, c, exponent, keep, storedA and storedA > now, false}
    reply[i + 1] = pack(STATE, a or 0, b or 0, c or 0)
  end
end

-- How many times a cost fits, with a fraction; less than 1 if it does not.
local function room(limit, cost, patience)
  local letter = limit[LETTER]
  if cost > limit[CAPACITY] then
    return 0
  elseif letter == SLIDING then
    local left = limit[UNITS] - floor((now - limit[A]) / limit[UNIT])
    return (limit[PERMITS] - limit[B] - ceil(limit[C] * left / limit[UNITS])) / cost
  elseif letter == FIXED then
    return (limit[PERMITS] - limit[B]) / cost
  elseif letter == LOG then
    return (limit[PERMITS] - limit[B].before - limit[B].added) / cost
  end
  local returning = limit[PERMITS] * floor((patience + now - limit[A]) / limit[UNIT])
  return (limit[CAPACITY] * limit[UNITS] + returning - limit[B]) / (cost * limit[UNITS])
end

local function spend(limit, permits)
  local letter = limit[LETTER]
  if letter == LOG then
    limit[B].added = limit[B].added + permits
  elseif letter == SLIDING or letter == FIXED then
    limit[B] = limit[B] + permits
  else
    limit[B] = limit[B] + permits * limit[UNITS]
  end
end

local said = #reply
while at <= #input do
  local operation, count, keys, place, cost, patience
  operation, count, keys, at = parse(CHECK, input, at)
  local start, admitted, logs = at, count, false
  for _ = 1, keys do
    place, cost, patience, at = parse(PART, input, at)
    local limit = limits[place]
    if not limit then
      admitted = nil
    elseif admitted then
      admitted = min(admitted, room(limit, cost, patience))
      logs = logs or limit[LETTER] == LOG
    end
  end
  admitted = admitted and max(0, floor(admitted))
  said = said + 1
  reply[said] = pack('>I2', admitted or FOREIGN)
  if admitted and (operation == 1 or logs) then
    local part = start
    for _ = 1, keys do
      place, cost, patience, part = parse(PART, input, part)
      local limit = limits[place]
      if operation == 1 then
        if admitted > 0 then
          spend(limit, admitted * cost)
        end
        limit[DIRTY] = limit[DIRTY] or admitted > 0 or limit[AHEAD]
      end
      if limit[LETTER] == LOG then
        local log = limit[B]
        said = said + 1
        reply[said] = pack('>I7', goneWith(log, log.before + log.added + min(cost, limit[PERMITS]) - limit[PERMITS]))
      end
    end
  end
end

for i = 1, #KEYS do
  local limit = limits[i]
  if limit and limit[DIRTY] then
    local letter = limit[LETTER]
    if letter == LOG then
      writeLog(KEYS[i], limit[B])
    else
      write(KEYS[i], letter, limit[PERMITS], limit[UNITS], limit[UNIT], limit[A], limit[B], limit[C], limit[KEEP])
    end
  end
end
return table.concat(reply)
