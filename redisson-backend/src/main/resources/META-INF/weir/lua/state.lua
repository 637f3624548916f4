-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds since 2025-01-01T00:00:00Z; counts are whole numbers below 2^53, which Lua's doubles hold exactly.
--
-- The stored state of a limit and the arithmetic on it. Loaded in front of each script of this folder.
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

local EPOCH = 1735689600
local MOST = 9007199254740992
local LIMIT = '>BI6I6BI6I7'
local ONE_WINDOW, TWO_WINDOWS, BUCKET = '>I7I6', '>I7I6I6', '>I7I7B'
local FIXED, LOG, SLIDING = 102, 103, 115 -- f, g, s; all others are buckets
local parse, pack, floor, ceil, min, max = struct.unpack, struct.pack, math.floor, math.ceil, math.min, math.max

local input = ARGV[1]
local now, at = parse('>I7', input)
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
  local a, b, c = parse(format, raw)
  if letter == FIXED then
    c = 0 -- was the position behind the string
  end
  if a > MOST or b > MOST or length == 15 and c > 6 then
    return false
  end
  return a, b, c
end

-- A state as it is now. One from the future, left by a clock that stepped back, is taken as of now; what was spent beyond a limit
-- that has become smaller counts as all of it.
local function advance(letter, permits, units, exponent, most, a, b, c)
  local unit = 10 ^ exponent
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
  local anchor, debt = min(a, now), min(b, most)
  local elapsed = floor((now - anchor) / unit)
  if debt <= elapsed * permits then
    return now, 0, exponent
  end
  return anchor + elapsed * unit, debt - elapsed * permits, exponent
end

-- Writes a state for as long as it differs from that of a key that was never charged; `keep` if the key already lives so long.
local function write(key, letter, permits, units, unit, a, b, c, keep)
  local state
  if letter == SLIDING then
    state = pack(TWO_WINDOWS, a, b, c)
  elseif letter == FIXED then
    state = pack(ONE_WINDOW, a, b)
  else
    state = pack(BUCKET, a, b, c)
  end
  if keep then
    redis.call('SET', key, state, 'KEEPTTL')
    return
  end
  local life
  if letter == SLIDING then
    life = a + (b > 0 and 2 or 1) * units * unit - now
  elseif letter == FIXED then
    life = a + units * unit - now
  else
    life = ceil(b / permits) * unit - (now - a)
  end
  redis.call('SET', key, state, 'PX', max(1, ceil(life / 1000)))
end
