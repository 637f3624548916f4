-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds since 2025-01-01T00:00:00Z; counts are whole numbers below 2^53, which Lua's doubles hold exactly.
--
-- The stored state of a limit and the arithmetic on it. Loaded in front of each script of this folder.
-- State       one string per limit, of fixed length, big-endian:
--             f (fixed window)    start I7, spent in it I6
--             s (sliding window)  start I7, spent in this window I6, spent in the window before I6
--             t (token bucket), l (leaky bucket)  anchor I7, debt I7 in parts of a permit, exponent of the time unit B
--             As three numbers a, b, c; the third of a fixed window is 0
-- ARGV[1]     header: operation B, now I7 (0: Redis's clock); then one record per key:
--             letter B, permits I6, window in units I6, exponent of the unit B, capacity I6, cost I6
-- Unit        10^exponent microseconds; a permit has as many parts as the window has units
-- Clock       TIME, read once
-- First Redis 6.2

local EPOCH = 1735689600
local MOST = 9007199254740992
local LIMIT = '>BI6I6BI6I6'
local ONE_WINDOW, TWO_WINDOWS, BUCKET = '>I7I6', '>I7I6I6', '>I7I7B'
local FIXED, SLIDING = 102, 115 -- f, s; all others are buckets
local UNITS = {[0] = 1, 10, 100, 1000, 10000, 100000, 1000000}
local DONE, REFUSED, FOREIGN = 1, 0, 2
local floor, ceil, min, max = math.floor, math.ceil, math.min, math.max

local operation, now, first = struct.unpack('>BI7', ARGV[1])
if now == 0 then
  local time = redis.call('TIME')
  now = max(1, (time[1] - EPOCH) * 1000000 + time[2])
end

-- The state as it was written: three numbers, nothing if the key was never charged, false if it holds something else.
local function read(key, letter)
  local raw = redis.pcall('GET', key)
  if not raw then
    return nil
  end
  local format, length = BUCKET, 15
  if letter == SLIDING then
    format, length = TWO_WINDOWS, 19
  elseif letter == FIXED then
    format, length = ONE_WINDOW, 13
  end
  if type(raw) ~= 'string' or #raw ~= length then
    return false
  end
  local a, b, c = struct.unpack(format, raw)
  if letter == FIXED then
    c = 0 -- was the position behind the string
  end
  if a > MOST or b > MOST or letter ~= SLIDING and c > #UNITS then
    return false
  end
  return a, b, c
end

-- The state as it is now. A state from the future, left by a clock that stepped back, is taken as of now; what was spent beyond
-- a limit that has become smaller counts as all of it.
local function advance(letter, permits, units, exponent, capacity, a, b, c)
  local unit = UNITS[exponent]
  if letter == SLIDING then
    local window = units * unit
    local start, current, previous = min(a, now), min(b, permits), min(c, permits)
    if now - start >= window then
      previous = now - start < 2 * window and current or 0
      current = 0
      start = start + window
    end
    if current == 0 and previous == 0 then
      start = now
    end
    return start, current, previous
  elseif letter == FIXED then
    local start, spent = min(a, now), min(b, permits)
    if spent == 0 or now - start >= units * unit then
      return now, 0, 0
    end
    return start, spent, 0
  end
  while c < exponent do
    b, c = ceil(b / 10), c + 1
  end
  while c > exponent do
    b, c = b * 10, c - 1
  end
  local anchor, debt = min(a, now), min(b, capacity * units)
  local elapsed = floor((now - anchor) / unit)
  if debt <= elapsed * permits then
    return now, 0, exponent
  end
  return anchor + elapsed * unit, debt - elapsed * permits, exponent
end

-- Writes a state for as long as it differs from that of a key that was never charged.
local function write(key, letter, permits, units, exponent, a, b, c)
  local unit = UNITS[exponent]
  local state, life
  if letter == SLIDING then
    state = struct.pack(TWO_WINDOWS, a, b, c)
    life = a + (b > 0 and 2 or 1) * units * unit - now
  elseif letter == FIXED then
    state = struct.pack(ONE_WINDOW, a, b)
    life = a + units * unit - now
  else
    state = struct.pack(BUCKET, a, b, c)
    life = ceil(b / permits) * unit - (now - a)
  end
  redis.call('SET', key, state, 'PX', max(1, ceil(life / 1000)))
end
