-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds since 2025-01-01T00:00:00Z. Counts are whole numbers below 2^53, which Lua represents exactly.
--
-- Stored states of limits, and their arithmetic. This file precedes each script of this folder.
-- A script call creates its functions anew, and an upvalue costs more than a function. Therefore functions take all values as arguments
-- and compare letters by their codes: f 102, g 103, l 108, s 115, t 116.
-- State       one string per limit, big-endian:
--             f (fixed window)    start I7, spent permits I6
--             s (sliding window)  start I7, spent permits of this window I6, of the previous window I6
--             t (token bucket), l (leaky bucket)  anchor I7, debt in parts of a permit I7, exponent of the unit B
--             g (sliding log)     see log.lua
--             Functions handle a state as three numbers a, b, c. The third number of a fixed window is 0.
-- Limit       letter B, permits I6, window in units I6, exponent of the unit B, capacity I6, largest debt of a bucket I7
-- Unit        10^exponent microseconds. A permit has as many parts as the window has units.
-- Clock       TIME, read once, if ARGV[1] begins with the byte 0. If it begins with 1, the instant I7 that follows.
-- Redis       6.2 or later

local given, at = struct.unpack('B', ARGV[1])
local now
if given == 1 then
  now, at = struct.unpack('>I7', ARGV[1], at)
else
  local time = redis.call('TIME')
  now = math.max(1, (time[1] - 1735689600) * 1000000 + time[2])
end

-- Returns the stored state as three numbers; nil for an untouched key; false for a foreign value.
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

-- Returns the state as of now. A state from the future, left by a clock that stepped back, counts as of now. More permits than a lowered
-- limit has count as all of its permits.
local function advance(now, letter, permits, units, exponent, maxDebt, a, b, c)
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
  if b > maxDebt then
    b = maxDebt
  end
  local elapsed = math.floor((now - a) / unit)
  if b <= elapsed * permits then
    return now, 0, exponent
  end
  return a + elapsed * unit, b - elapsed * permits, exponent
end

-- Returns the free parts, negative for a bucket with more debt than capacity, and the parts of a permit: 1 except for a bucket.
local function freeParts(now, letter, permits, units, unit, capacity, a, b, c)
  if letter == 115 then
    return permits - b - math.ceil(c * (units - math.floor((now - a) / unit)) / units), 1
  elseif letter == 102 then
    return permits - b, 1
  end
  return capacity * units - b, units
end

-- Writes a state. Its time to live ends when the state equals that of an untouched key. The start of a window determines the time to
-- live, so a window with earlier charges keeps it (`keep`).
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
