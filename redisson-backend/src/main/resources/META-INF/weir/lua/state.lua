-- SPDX-License-Identifier: Apache-2.0
-- Times are in microseconds; see clock.lua, which precedes this file.
--
-- Stored states of limits, and their arithmetic. This file precedes the scripts that read them.
-- Functions compare letters by their codes: b 98, c 99, d 100, f 102, g 103, l 108, n 110, s 115, t 116.
-- State       one string per policy and caller, with one section per limit, big-endian: letter B, window in ms I5, then
--             f (fixed window)    start I7, spent permits I6
--             s (sliding window)  start I7, spent permits of this window I6, of the previous window I6
--             t (token bucket), l (leaky bucket)  anchor I7, debt in parts of a permit I7, exponent of the unit B, and the end I7: the
--                                 instant at which the debt is 0 under the limit of the latest call
--             g (sliding log)     see log.lua
--             c (calendar limit)  end of the period of the latest charge I7, length 20 I2, first charge that counts I7, latest charge I7,
--                                 spent permits I6
--             n (concurrency limit)  see slots.lua
--             d (debt)            end I7, length I2 of what follows, then the letter of a limit c, f, s, t or l B, and the three numbers of
--                                 its state I7 I7 I6: a limit to which a settlement has charged more permits than it has
--             b (block)           end I7, length I2: 0. The window is 1: the key is blocked until the end, whatever its limits. It is the
--                                 last section
--             other lower-case letters, of later versions: end I7, length I2 and as many bytes
--             A value with more than 1000 sections in addition to those of the limits, or with more bytes than 1 MiB and 128 KiB per
--             limit, is foreign: no policy has as many limits and tiers
--             Functions handle the state of a limit as three numbers a, b, c. The third number of a fixed window is 0.
-- Limit       letter B, permits I6, window in ms I5, exponent of the unit B. Of a bucket also: capacity I6, largest debt I7, longest delay I6:
--             how long the call may wait for permits that the bucket lacks. Of a calendar limit: start and end of a period and end of the
--             next one, I7 each. Of a concurrency limit, whose window is 1: timeout I7, instance I6, number of its next slot I6
-- Unit        10^exponent microseconds. A permit has as many parts as the window has units.
-- Redis       6.2 or later

-- Returns the limit at a position of the argument, and the position behind it. Its first fields are the letter and the window in ms; `bound`
-- is how many permits of a window, or parts of a bucket, count.
local function readLimit(at)
  local letter, permits, window, exponent
  letter, permits, window, exponent, at = parse('>BI6I5B', input, at)
  local unit = 10 ^ exponent
  local limit = {letter, window, permits = permits, bound = permits, exponent = exponent, unit = unit, units = window * 1000 / unit, delay = 0}
  if letter == 116 or letter == 108 then
    limit.capacity, limit.bound, limit.delay, at = parse('>I6I7I6', input, at)
  elseif letter == 99 then
    limit.start, limit.ends, limit.nextEnd, at = parse('>I7I7I7', input, at)
  elseif letter == 110 then
    limit.timeout, limit.instance, limit.number, at = parse('>I7I6I6', input, at)
  end
  return limit, at
end

-- Returns the state as of now, of which no more than a bound counts. A state from the future, left by a clock that stepped back, counts as
-- of now.
local function advance(limit, bound, a, b, c)
  local letter, window = limit[1], limit[2] * 1000
  a, b = math.min(a, now), letter ~= 116 and letter ~= 108 and math.min(b, bound) or b
  if letter == 115 then
    c = math.min(c, bound)
    if now - a >= window then
      a, b, c = a + window, 0, now - a < 2 * window and b or 0
    end
    return b == 0 and c == 0 and now or a, b, c
  elseif letter == 102 then
    if b == 0 or now - a >= window then
      return now, 0, 0
    end
    return a, b, 0
  end
  while c < limit.exponent do
    b, c = math.ceil(b / 10), c + 1
  end
  while c > limit.exponent do
    b, c = b * 10, c - 1
  end
  local elapsed = math.floor((now - a) / limit.unit)
  b = math.min(b, bound) - elapsed * limit.permits
  if b <= 0 then
    return now, 0, c
  end
  return a + elapsed * limit.unit, b, c
end

-- Returns how many permits of a window or a period, or parts of a bucket, count at most after a settlement.
local function most(limit)
  if limit[1] == 99 then
    return math.min(2 * limit.permits, 281474976710655)
  elseif limit[1] == 116 or limit[1] == 108 then
    return math.min(limit.bound + limit.permits * limit.units, 9007199254740992)
  end
  return math.min(2 * limit.permits, 281474976710655, math.floor(9007199254740992 / limit.units))
end

-- Tests whether a state has more permits than count without a settlement.
local function exceeds(limit, b, c)
  return b > limit.bound or limit[1] == 115 and c > limit.bound
end

-- Returns the state as of now of a section, and whether a settlement has charged more permits than the limit has.
local function asOfNow(limit, stored)
  local a, b, c = advance(limit, stored[5] and most(limit) or limit.bound, stored[1], stored[2], stored[3])
  return a, b, c, stored[5] and exceeds(limit, b, c)
end

-- Returns the section of a limit, which can be a debt, and its end: the instant at which its state equals that of an untouched key. That of a
-- calendar limit is given. That of a bucket is at most 2^53, as each number of a state.
local function encode(limit, a, b, c, debt, ends)
  local letter, window = limit[1], limit[2]
  if letter == 115 or letter == 102 then
    ends = a + (letter == 115 and b > 0 and 2 or 1) * window * 1000
  elseif letter ~= 99 then
    ends = limit.permits > 0 and math.min(a + math.ceil(b / limit.permits) * limit.unit, 9007199254740992) or now
  end
  if debt then
    return pack('>BI5I7I2BI7I7I6', 100, window, ends, 21, letter, a, b, c), ends
  elseif letter == 115 then
    return pack('>BI5I7I6I6', 115, window, a, b, c), ends
  elseif letter == 102 then
    return pack('>BI5I7I6', 102, window, a, b), ends
  elseif letter == 99 then
    return pack('>BI5I7I2I7I7I6', 99, window, ends, 20, a, b, c), ends
  end
  return pack('>BI5I7I7BI7', letter, window, a, b, c, ends), ends
end

-- Returns the value of a key, false for none, and a table for a value of another type. Each other error, such as that of a missing right,
-- concerns all keys, and ends the script with the words of the server.
local function get(key)
  local raw = redis.pcall('GET', key)
  if type(raw) == 'table' and not string.find(raw.err, 'WRONGTYPE', 1, true) then
    return call('GET', key)
  end
  return raw
end

-- Writes the sections of a key until the latest of their ends, and removes the key if there are none. The start of a window determines its
-- end, so a window with earlier charges keeps the time to live.
local function write(key, sections, ends, keeps)
  if sections == '' then
    call('DEL', key)
  elseif keeps then
    call('SET', key, sections, 'KEEPTTL')
  else
    call('SET', key, sections, 'PX', math.max(1, math.ceil((ends - now) / 1000)))
  end
end

-- Finds the sections of the limits of a policy in the value of a key.
-- Complexity  O(sections * limits), O(sections) if all are in the same order; the number of sections and their bytes are bounded
local function newSections()
  local MAX, MAX_WINDOW = 9007199254740992, 31622400000
  local LEAST_BYTES = {[102] = 19, [103] = 12, [108] = 28, [115] = 25, [116] = 28}

  -- Returns the letter of the limit of a section, its state, and the position behind it; nil if the value is foreign. Slots, logs and
  -- sections of later versions have no three numbers.
  local function sectionAt(raw, letter, window, from)
    if #raw - from + 1 < (LEAST_BYTES[letter] or 15) or letter < 97 or letter > 122 or window == 0 or window > MAX_WINDOW then
      return nil
    end
    local a, b, c, ends, to, debt = 0, 0, 0, 0, from + 6, nil
    if letter == 115 then
      a, b, c, to = parse('>I7I6I6', raw, to)
      ends = a + (b > 0 and 2 or 1) * window * 1000
    elseif letter == 102 then
      a, b, to = parse('>I7I6', raw, to)
      ends = a + window * 1000
    elseif letter == 116 or letter == 108 then
      a, b, c, ends, to = parse('>I7I7BI7', raw, to)
    elseif letter == 103 then
      local entries = parse('>I2', raw, to)
      to = to + 6 + 11 * entries
      if entries == 0 or to > #raw + 1 then
        return nil
      end
      ends = parse('>I7', raw, to - 11) + window * 1000
    else
      local length
      ends, length, to = parse('>I7I2', raw, to)
      to = to + length
      if to > #raw + 1 or ends > MAX or letter == 99 and length ~= 20 then
        return nil
      elseif letter == 99 then
        a, b, c = parse('>I7I7I6', raw, to - 20)
      elseif letter == 100 and length == 21 then
        debt = true
        letter, a, b, c = parse('>BI7I7I6', raw, to - 21)
      end
    end
    if to > #raw + 1 or a > MAX or b > MAX or (letter == 116 or letter == 108) and c > 6 then
      return nil
    end
    return letter, {a, b, c, '', debt, ends}, to
  end

  -- Returns the index of a limit, which probably is the expected one; nil if there is none.
  local function indexOf(limits, expected, letter, window)
    for i = expected, expected + #limits - 1 do
      local limit = limits[i] or limits[i - #limits]
      if limit[1] == letter and limit[2] == window then
        return limits[i] and i or i - #limits
      end
    end
    return nil
  end

  -- Returns four values: a list with {a, b, c, section, debt, end} for each limit that has one; the sections of other limits that have not
  -- ended, or all of these sections if they are to be kept, one after the other, nil if there are none; the latest end of these, at most two
  -- of the longest windows from now; and the end of the block, which may have passed, nil if there is none. The other sections include that
  -- of the block. Returns false for a foreign value, nil for an untouched key.
  return function(raw, limits, keepsEnded)
    if not raw then
      return nil
    elseif type(raw) ~= 'string' or raw == '' or #raw > 1048576 + 131072 * #limits then
      return false
    end
    local found, others, latest, block = {}, nil, 0, nil
    local from, expected, left = 1, 1, 1000 + #limits
    while from <= #raw do
      left = left - 1
      local letter, window = byte(raw, from), #raw - from > 4 and parse('>I5', raw, from + 1) or 0
      local owner, state, to = sectionAt(raw, letter, window, from)
      if not owner or left < 0 then
        return false
      end
      local i = indexOf(limits, expected, owner, window)
      -- An instance of an earlier version keeps a debt, and counts again beside it.
      if i and (not found[i] or letter == 100) then
        state[4] = string.sub(raw, from, to - 1)
        found[i] = state
        expected = i + 1
      elseif state[6] > MAX then
        return false
      elseif keepsEnded or state[6] > now then
        others = others or {}
        others[#others + 1] = string.sub(raw, from, to - 1)
        latest = math.max(latest, math.min(state[6], now + 2000 * MAX_WINDOW))
      end
      if letter == 98 then
        block = state[6]
      end
      from = to
    end
    return found, others and table.concat(others), latest, block
  end
end
