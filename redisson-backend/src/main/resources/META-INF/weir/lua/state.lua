-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds since 2025-01-01T00:00:00Z; counts are whole numbers below 2^53, which Lua's doubles hold exactly.
--
-- The stored state of a limit and the arithmetic on it. Loaded in front of each script of this folder. Functions take what they need
-- as arguments and name letters by their codes (f 102, g 103, l 108, s 115, t 116): each call makes them anew, and a variable that a
-- function takes from outside costs more than the function.
-- State       one string per limit, big-endian:
--             f (fixed window)    start I7, spent in it I6
--             s (sliding window)  start I7, spent in this window I6, spent in the window before I6
--             t (token bucket), l (leaky bucket)  anchor I7, debt I7 in parts of a permit, exponent of the time unit B
--             g (sliding log)     see log.lua
--             As three numbers a, b, c; the third of a fixed window is 0
-- Limit       letter B, permits I6, window in units I6, exponent of the unit B, capacity I6, greatest debt I7 (of a bucket)
-- Unit        10^exponent microseconds; a permit has as many parts as the window has units
-- Clock       TIME, read once, unless ARGV[1] begins with another instant than 0
-- First Redis 6.2

local now, at = struct.unpack('>I7', ARGV[1])
if now == 0 then
  local time = redis.call('TIME')
  now = math.max(1, (time[1] - 1735689600) * 1000000 + time[2])
end

-- The state as it was written: three numbers, nothing if the key was never charged, false if it holds something else.
local function read(key, letter)
  local raw = redis.pcall('GET', key)
  if not raw then
    return nil
  elseif type(raw) ~= 'string' then
    return false
  end
  local a, b, c
  if letter == 115 then
    if #raw ~= 19 then
      return false
    end
    a, b, c = struct.unpack('>I7I6I6', raw)
  elseif letter == 102 then
    if #raw ~= 13 then
      return false
    end
    a, b = struct.unpack('>I7I6', raw)
    c = 0
  else
    if #raw ~= 15 then
      return false
    end
    a, b, c = struct.unpack('>I7I7B', raw)
    if c > 6 then
      return false
    end
  end
  return a <= 9007199254740992 and b <= 9007199254740992 and a, b, c
end

-- A state as it is now. One from the future, left by a clock that stepped back, is taken as of now; what was spent beyond a limit
-- that has become smaller counts as all of it.
local function advance(now, letter, permits, units, exponent, most, a, b, c)
  local unit = 10 ^ exponent
  if a > now then
    a = now
  end
  if letter == 115 then
    local window = units * unit
    if b > permits then
      b = permits
    end
    if c > permits then
      c = permits
    end
    if now - a >= window then
      c = now - a < 2 * window and b or 0
      b = 0
      a = a + window
    end
    if b == 0 and c == 0 then
      a = now
    end
    return a, b, c
  elseif letter == 102 then
    if b > permits then
      b = permits
    end
    if b == 0 or now - a >= units * unit then
      return now, 0, 0
    end
    return a, b, 0
  end
  while c < exponent do
    b, c = math.ceil(b / 10), c + 1
  end
  while c > exponent do
    b, c = b * 10, c - 1
  end
  if b > most then
    b = most
  end
  local elapsed = math.floor((now - a) / unit)
  if b <= elapsed * permits then
    return now, 0, exponent
  end
  return a + elapsed * unit, b - elapsed * permits, exponent
end

-- What can be spent, and in how many parts a permit is: those of a bucket, 1 elsewhere. Less than nothing in a bucket that owes.
local function freeIn(now, letter, permits, units, unit, capacity, a, b, c)
  if letter == 115 then
    return permits - b - math.ceil(c * (units - math.floor((now - a) / unit)) / units), 1
  elseif letter == 102 then
    return permits - b, 1
  end
  return capacity * units - b, units
end

-- Writes a state for as long as it differs from that of a key that was never charged. A window lives for as long as its start says,
-- so one in which something was spent before, `keep`, lives long enough.
local function write(now, key, letter, permits, units, unit, a, b, c, keep)
  local state, life
  if letter == 115 then
    state = struct.pack('>I7I6I6', a, b, c)
    life = not keep and a + (b > 0 and 2 or 1) * units * unit - now
  elseif letter == 102 then
    state = struct.pack('>I7I6', a, b)
    life = not keep and a + units * unit - now
  else
    state = struct.pack('>I7I7B', a, b, c)
    life = math.ceil(b / permits) * unit - (now - a)
  end
  if life then
    redis.call('SET', key, state, 'PX', math.max(1, math.ceil(life / 1000)))
  else
    redis.call('SET', key, state, 'KEEPTTL')
  end
end
