-- wrk script. Sends the request bodies in the file BODIES (one JSON body per line) in order, repeatedly, with the headers
-- in HEADERS (one "Name: value" per line). Each request has a new trace and span id in place of the one in TRACEPARENT.
-- Prints one line of JSON at the end.
--
-- Everything that can be is built before the run: a request is one concatenation of prepared strings, so that the load
-- generator stays cheaper than the servers that it measures.
local PIECES = 4096 -- two pieces make a trace id: 16.7 million different ones
local before, after, pieces = {}, {}, {}
local body, low, high = 0, 0, 1

local function random_hex()
  return string.format("%04x%04x%04x%04x", math.random(0, 65535), math.random(0, 65535), math.random(0, 65535),
    math.random(1, 65535)) -- a trace or span id of zeros is not valid
end

function init(args)
  math.randomseed(tonumber(os.getenv("SEED")))
  for n = 1, PIECES do pieces[n] = random_hex() end
  local headers = {}
  for name, value in os.getenv("HEADERS"):gmatch("([^:\n]+): ([^\n]+)") do headers[name] = value end
  for line in io.lines(os.getenv("BODIES")) do
    local text = wrk.format("POST", nil, headers, line)
    local first, last = text:find(os.getenv("TRACEPARENT"), 1, true)
    before[#before + 1] = text:sub(1, first - 1) .. "00-"
    after[#after + 1] = "-01" .. text:sub(last + 1)
  end
  body = #before
end

function request()
  body = body < #before and body + 1 or 1
  low = low + 1
  if low > PIECES then low, high = 1, high % PIECES + 1 end
  return before[body] .. pieces[high] .. pieces[low] .. "-" .. pieces[PIECES + 1 - low] .. after[body]
end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"us":%d,"bytes":%d,"p50":%d,"p99":%d,"errors":%d}\n',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
