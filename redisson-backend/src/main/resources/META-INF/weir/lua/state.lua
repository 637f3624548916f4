-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see clock.lua, which precedes this file.
--
-- Stored states of limits, and their arithmetic. This file precedes the scripts that read them.
-- A script call creates its functions anew, and an upvalue costs more than a function. Therefore functions take all values as arguments
-- and compare letters by their codes: c 99, f 102, g 103, l 108, n 110, s 115, t 116.
-- State       one string per policy and caller, with one section per limit, big-endian: letter B, window in ms I5, then
--             f (fixed window)    start I7, spent permits I6
--             s (sliding window)  start I7, spent permits of this window I6, of the previous window I6
--             t (token bucket), l (leaky bucket)  anchor I7, debt in parts of a permit I7, exponent of the unit B, and the end I7: the
--                                 instant at which the debt is 0
--             g (sliding log)     see log.lua
--             c (calendar limit)  see calendar.lua
--             n (concurrency limit)  see slots.lua
--             d (debt)            end I7, length I2 of what follows, then the letter of a limit c, f, s, t or l B, and the three numbers of
--                                 its state I7 I7 I6: a limit to which a settlement has charged more permits than it has
--             b (block)           end I7, length I2: 0. The window is 1: the key is blocked until the end, whatever its limits. It is the
--                                 last section
--             other lower-case letters, of later versions: end I7, length I2 and as many bytes
--             A value with more than 1000 sections in addition to those of the limits, or with more bytes than 1 MiB and 128 KiB per
--             limit, is foreign: no policy has as many limits and tiers
--             Functions handle the state of a limit as three numbers a, b, c. The third number of a fixed window is 0.
-- Limit       letter B, permits I6, window in units I6, exponent of the unit B, capacity I6, largest debt of a bucket I7
-- Unit        10^exponent microseconds. A permit has as many parts as the window has units.
-- Redis       6.2 or later

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

-- Returns the section of a limit, and the time until its state equals that of an untouched key.
local function encode(now, letter, permits, units, unit, a, b, c)
  local length = units * unit
  local window = length / 1000
  if letter == 115 then
    return struct.pack('>BI5I7I6I6', 115, window, a, b, c), a + (b > 0 and 2 or 1) * length - now
  elseif letter == 102 then
    return struct.pack('>BI5I7I6', 102, window, a, b), a + length - now
  end
  local life = permits > 0 and math.ceil(b / permits) * unit - (now - a) or 0
  return struct.pack('>BI5I7I7BI7', letter, window, a, b, c, now + life), life
end

-- Returns how many permits of a window, or parts of a bucket, count at most after a settlement.
local function most(letter, permits, units, maxDebt)
  if letter == 115 or letter == 102 then
    return math.min(2 * permits, 281474976710655, math.floor(9007199254740992 / units))
  end
  return math.min(maxDebt + permits * units, 9007199254740992)
end

-- Returns the state as of now, as advance does, of a limit to which a settlement has charged more permits than it has, and whether that
-- is still so.
local function advanceDebt(now, letter, permits, units, exponent, maxDebt, a, b, c)
  local counted = most(letter, permits, units, maxDebt)
  if letter == 115 or letter == 102 then
    a, b, c = advance(now, letter, counted, units, exponent, maxDebt, a, b, c)
    return a, b, c, b > permits or c > permits
  end
  a, b, c = advance(now, letter, permits, units, exponent, counted, a, b, c)
  return a, b, c, b > maxDebt
end

-- Returns the section of a limit to which a settlement has charged more permits than it has.
local function encodeDebt(now, letter, window, life, a, b, c)
  return struct.pack('>BI5I7I2BI7I7I6', 100, window, now + life, 21, letter, a, b, c)
end

-- Writes the sections of a key. The start of a window determines its time to live, so a window with earlier charges keeps that (`keep`).
local function write(key, sections, life, keep)
  if keep then
    redis.call('SET', key, sections, 'KEEPTTL')
  else
    redis.call('SET', key, sections, 'PX', math.max(1, math.ceil(life / 1000)))
  end
end

-- Finds the sections of the limits of a policy in a key.
-- Limits      a list per limit: letter, window in ms
-- Complexity  O(sections * limits), O(sections) if all are in the same order; the number of sections and their bytes are bounded
local function newSections()
  local parse, byte = struct.unpack, string.byte

  -- Returns the length of a section, nil for an unknown one.
  local function size(raw, letter, from)
    if letter == 115 then
      return 25
    elseif letter == 102 then
      return 19
    elseif letter == 116 or letter == 108 then
      return 28
    elseif letter == 103 and #raw >= from + 7 then
      return 12 + 11 * parse('>I2', raw, from + 6)
    elseif letter ~= 103 and letter >= 97 and letter <= 122 and #raw >= from + 14 then
      return 15 + parse('>I2', raw, from + 13)
    end
    return nil
  end

  local function indexOf(limits, expected, letter, window)
    local limit = limits[expected]
    if limit and limit[1] == letter and limit[2] == window then
      return expected
    end
    for i = 1, #limits do
      if limits[i][1] == letter and limits[i][2] == window then
        return i
      end
    end
    return nil
  end

  local function decode(raw, letter, from)
    local a, b, c
    if letter == 103 then
      return parse('>I2', raw, from + 6) > 0 and {} or nil
    elseif letter == 115 then
      a, b, c = parse('>I7I6I6', raw, from + 6)
    elseif letter == 102 then
      a, b = parse('>I7I6', raw, from + 6)
      c = 0
    elseif letter == 116 or letter == 108 then
      a, b, c = parse('>I7I7B', raw, from + 6)
      if c > 6 then
        return nil
      end
    else
      return {}
    end
    return a <= 9007199254740992 and b <= 9007199254740992 and {a, b, c} or nil
  end

  -- Returns the end of a section that belongs to none of the limits.
  local function endOf(raw, letter, window, from, to)
    if letter == 102 then
      return parse('>I7', raw, from + 6) + window * 1000
    elseif letter == 115 then
      return parse('>I7', raw, from + 6) + 2000 * window
    elseif letter == 103 then
      return parse('>I7', raw, to - 10) + window * 1000
    elseif letter == 116 or letter == 108 then
      return (parse('>I7', raw, from + 21))
    end
    return (parse('>I7', raw, from + 6))
  end

  -- Returns the letter of the limit whose debt a section contains, and its state; nil for a foreign value.
  local function decodeDebt(raw, from)
    local letter, a, b, c = parse('>BI7I7I6', raw, from + 15)
    if a > 9007199254740992 or b > 9007199254740992 or (letter == 116 or letter == 108) and c > 6 then
      return letter, nil
    end
    return letter, {a, b, c, '', true}
  end

  -- Returns four values: a list with {a, b, c, section, debt} for each limit that has one; the sections of other limits that have not ended, one
  -- after the other, nil if there are none; the latest end of these, at most two of the longest windows from now; and the end of the block,
  -- which may have passed, nil if there is none. The other sections include that of the block. Returns false for a foreign value, nil for
  -- an untouched key.
  return function(key, limits, now)
    local raw = redis.pcall('GET', key)
    if not raw then
      return nil
    elseif type(raw) ~= 'string' or raw == '' then
      return false
    end
    local found, others, latest, block = {}, nil, 0, nil
    local from, expected, left = 1, 1, 1000 + #limits
    if #raw > 1048576 + 131072 * #limits then
      return false
    end
    while from <= #raw do
      left = left - 1
      local letter = byte(raw, from)
      local length = size(raw, letter, from)
      local to = length and from + length - 1
      if not length or to > #raw or left < 0 then
        return false
      end
      local window, owner, state = struct.unpack('>I5', raw, from + 1), letter, nil
      if letter == 100 and length == 36 then
        owner, state = decodeDebt(raw, from)
      else
        state = decode(raw, letter, from)
      end
      if not state or window == 0 or window > 31622400000 then
        return false
      end
      local i = indexOf(limits, expected, owner, window)
      -- An instance of an earlier version keeps a debt, and counts again beside it.
      if i and (not found[i] or letter == 100) then
        state[4] = string.sub(raw, from, to)
        found[i] = state
        expected = i + 1
      else
        local ends = endOf(raw, letter, window, from, to)
        if ends > 9007199254740992 then
          return false
        elseif ends > now then
          others = others or {}
          others[#others + 1] = string.sub(raw, from, to)
          latest = math.max(latest, math.min(ends, now + 63244800000000))
        end
        if letter == 98 then
          block = ends
        end
      end
      from = to + 1
    end
    return found, others and table.concat(others), latest, block
  end
end
