-- SPDX-License-Identifier: Apache-2.0
-- A script for wrk: loads an application with the calls of several clients, and reports allowed and rejected calls, their latency, and the
-- effect of Retry-After. The page ../load-test.md describes its options and its results.
--
--   wrk -t4 -c4 -d30s -s weir-load.lua http://localhost:9080/api/hello -- header=X-API-Key obey=mixed
--
-- wrk does not report the connection of a response, so a thread must have exactly one connection (-c as -t).

local ffi = require("ffi")
ffi.cdef([[
typedef struct { long seconds; long nanos; } weir_time;
int clock_gettime(int clock, weir_time *time);
]])

local MONOTONIC = ffi.os == "OSX" and 6 or 1
local NEVER = 1e9 -- milliseconds
local BUCKET = math.log(1.01) -- latencies in one bucket differ by at most 1 %
local SHOWN_CLIENTS = 20
local RESULTS = { "allowed", "rejected", "other" }
local COLUMNS = { "calls", "allowed", "rejected", "other", "early", "early_allowed", "due", "due_allowed" }

local options = {
    header = "X-API-Key", -- the request field with the API key
    keys = "", -- a file with one API key per line
    prefix = "client-", -- the start of each generated API key, without a file
    clients = "1", -- the number of clients of each thread
    obey = "yes", -- clients that obey Retry-After: yes (all), no (none), mixed (those with an odd number)
    rate = "0", -- calls per second of each thread; 0 for the next call after each response
    method = "GET",
    body = "",
}

-- wrk copies these global tables from a thread to done(). It can copy texts and numbers, but no nested tables.
counts = {} -- by status, and by the number of a client and a column
longest = {} -- in seconds, by result
allowed, rejected, other = {}, {}, {} -- the number of calls by bucket of latency
obeying = {} -- "yes" or "no", by the number of a client

local clients = {}
local turn = 0 -- the index of the client of the latest call
local chosen -- the client of the next call, or of the call without a response
local interval = 0 -- seconds between two calls of this thread; 0 without a rate
local scheduled = 0 -- the time of the next call by the rate
local begin -- the scheduled time, if the next call is later
local waiting = false -- whether a timer of wrk runs until the next call
local sent -- the begin of the measured time, while there is no response
local verified = false -- whether wrk has verified a request, for which it calls request() of the first thread once
local time = ffi.new("weir_time")

local function now()
    ffi.C.clock_gettime(MONOTONIC, time)
    return tonumber(time.seconds) + tonumber(time.nanos) / 1e9
end

local function add(table, key, number)
    table[key] = (table[key] or 0) + (number or 1)
end

local function fail(message)
    io.stderr:write("weir-load.lua: ", message, "\n")
    os.exit(1)
end

local function read_options(args)
    for _, arg in ipairs(args) do
        local name, value = arg:match("^(%w+)=(.*)$")
        if not name or not options[name] then
            fail("unknown option " .. arg)
        end
        options[name] = value
    end
    for _, name in ipairs({ "clients", "rate" }) do
        options[name] = tonumber(options[name]) or fail(name .. " is not a number")
    end
    if options.obey ~= "yes" and options.obey ~= "no" and options.obey ~= "mixed" then
        fail("obey must be yes, no or mixed")
    end
end

local function api_key(number)
    if options.keys == "" then
        return options.prefix .. number
    end
    local file = io.open(options.keys) or fail("cannot read " .. options.keys)
    local line = 0
    for key in file:lines() do
        line = line + 1
        if line == number then
            file:close()
            return key
        end
    end
    fail(options.keys .. " has no line " .. number .. ", which is the API key of client " .. number)
end

-- Runs in the environment of done(), once for each thread.
local threads = {}

function setup(thread)
    table.insert(threads, thread)
    thread:set("id", #threads)
end

function init(args)
    read_options(args)
    wrk.method = options.method
    wrk.body = options.body ~= "" and options.body or nil
    for i = 1, options.clients do
        local number = (id - 1) * options.clients + i
        local headers = { [options.header] = api_key(number) }
        for name, value in pairs(wrk.headers) do
            headers[name] = headers[name] or value
        end
        local obeys = options.obey == "yes" or options.obey == "mixed" and number % 2 == 1
        obeying[number] = obeys and "yes" or "no"
        clients[i] = {
            number = number,
            obeys = obeys,
            request = wrk.format(nil, nil, headers),
            retry_at = 0, -- the end of the Retry-After of the latest rejection; 0 after another call
        }
    end
    if options.rate > 0 then
        interval = 1 / options.rate
        scheduled = now() + interval
    elseif options.obey == "no" then
        delay = nil -- no call ever waits
    end
end

-- Returns the next client, which is the first one whose Retry-After has passed or that does not obey it, and the time of its call. If each
-- client has to wait, it is the client with the shortest wait.
local function next_client(at)
    local first
    for i = 1, #clients do
        local client = clients[(turn + i - 1) % #clients + 1]
        if not client.obeys or client.retry_at <= at then
            return client, at
        end
        if not first or client.retry_at < first.retry_at then
            first = client
        end
    end
    return first, first.retry_at
end

-- Returns the milliseconds until the next call of the only connection of this thread.
function delay()
    if waiting then
        return NEVER -- a new connection, while the timer of the closed one still runs
    end
    waiting = true
    local current = now()
    local at
    chosen, at = next_client(interval > 0 and scheduled or current)
    scheduled = at + interval
    begin = at < current and at or nil
    -- The timer of wrk can be early by up to a millisecond.
    return at > current and math.ceil((at - current) * 1000) + 1 or 0
end

function request()
    if id == 1 and not verified then
        verified = true
        return clients[1].request
    end
    waiting = false
    local current = now()
    if sent then
        add(counts, "unanswered")
    end
    if not chosen then
        chosen = next_client(current)
    end
    sent = begin or current
    chosen.early = chosen.retry_at > current
    chosen.due = not chosen.early and chosen.retry_at > 0
    return chosen.request
end

local function field(headers, name)
    for key, value in pairs(headers) do
        if key:lower() == name then
            return value
        end
    end
    return nil
end

local function count(client, result)
    local number = client.number
    add(counts, number .. " calls")
    add(counts, number .. " " .. result)
    for _, kind in ipairs({ "early", "due" }) do
        if client[kind] then
            add(counts, number .. " " .. kind)
            if result == "allowed" then
                add(counts, number .. " " .. kind .. "_allowed")
            end
        end
    end
end

function response(status, headers)
    local current = now()
    local client = chosen
    if not sent then
        return -- a second connection, which done() reports
    end
    local latency = current - sent
    sent, chosen = nil, nil
    turn = (client.number - 1) % #clients + 1
    local wait = status >= 400 and tonumber(field(headers, "retry-after"))
    local result = (status == 429 or status == 503 and wait) and "rejected" or status < 400 and "allowed" or "other"
    client.retry_at = result == "rejected" and wait and current + wait or 0
    if result == "rejected" and not wait then
        add(counts, "without")
    end
    add(counts, "status " .. status)
    count(client, result)
    add(_G[result], math.ceil(math.log(latency * 1e6) / BUCKET))
    longest[result] = math.max(longest[result] or 0, latency)
end

-- Returns the milliseconds within which a part of the calls was answered.
local function percentile(buckets, calls, part, max)
    local sorted = {}
    for bucket in pairs(buckets) do
        table.insert(sorted, bucket)
    end
    table.sort(sorted)
    local seen = 0
    for _, bucket in ipairs(sorted) do
        seen = seen + buckets[bucket]
        if seen >= part * calls then
            return math.min(max * 1000, math.exp(bucket * BUCKET) / 1000)
        end
    end
end

local function print_statuses()
    local statuses = {}
    for key in pairs(counts) do
        table.insert(statuses, key:match("^status (%d+)$"))
    end
    table.sort(statuses)
    print(("\n%-8s %9s"):format("status", "calls"))
    for _, status in ipairs(statuses) do
        print(("%-8s %9d"):format(status, counts["status " .. status]))
    end
    print("rejections without Retry-After in seconds: " .. (counts.without or 0))
    print("calls without a response: " .. (counts.unanswered or 0))
end

local function print_latencies()
    print(("\n%-8s %9s %9s %9s %9s"):format("ms", "calls", "p50", "p99", "max"))
    for _, result in ipairs(RESULTS) do
        local buckets = _G[result]
        local calls = 0
        for _, number in pairs(buckets) do
            calls = calls + number
        end
        if calls > 0 then
            local max = longest[result]
            print(("%-8s %9d %9.2f %9.2f %9.2f"):format(
                result, calls, percentile(buckets, calls, 0.5, max), percentile(buckets, calls, 0.99, max), max * 1000))
        end
    end
end

local function print_client(name, obeys, row)
    print(("%-8s %5s %9d %9d %9d %9d | %9d %9d | %9d %9d"):format(name, obeys, unpack(row)))
end

local function print_clients()
    print(("\n%-54s | %19s | %19s"):format("", "before Retry-After", "after Retry-After"))
    print(("%-8s %5s %9s %9s %9s %9s | %9s %9s | %9s %9s"):format(
        "client", "obeys", "calls", "allowed", "rejected", "other", "calls", "allowed", "calls", "allowed"))
    local all = {}
    for number, obeys in ipairs(obeying) do
        local row = {}
        for i, column in ipairs(COLUMNS) do
            row[i] = counts[number .. " " .. column] or 0
            all[i] = (all[i] or 0) + row[i]
        end
        if number <= SHOWN_CLIENTS then
            print_client(number, obeys, row)
        end
    end
    print_client("all", "", all)
end

function done(summary)
    for _, thread in ipairs(threads) do
        for _, name in ipairs({ "counts", "allowed", "rejected", "other" }) do
            for key, number in pairs(thread:get(name)) do
                add(_G[name], key, number)
            end
        end
        for result, seconds in pairs(thread:get("longest")) do
            longest[result] = math.max(longest[result] or 0, seconds)
        end
        for number, obeys in pairs(thread:get("obeying")) do
            obeying[number] = obeys
        end
    end
    print_statuses()
    print_latencies()
    print_clients()
    local errors = summary.errors
    if (counts.unanswered or 0) > errors.connect + errors.read + errors.write then
        print("\nThe results are wrong, because a thread had several connections: set -c to the value of -t.")
    end
end
