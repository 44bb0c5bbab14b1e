-- wrk: sends the bodies of the file BODIES (one JSON body a line) in order, over and over, with CREDENTIAL in the header
-- CREDENTIAL_HEADER where there is one. Prints one line of JSON at the end.
local requests, i = {}, 0
local headers = {
  ["Content-Type"] = "application/json",
  ["Accept"] = "application/json",
}
if os.getenv("CREDENTIAL") ~= "" then
  headers[os.getenv("CREDENTIAL_HEADER")] = os.getenv("CREDENTIAL")
end

function init(args)
  for line in io.lines(os.getenv("BODIES")) do
    requests[#requests + 1] = wrk.format("POST", nil, headers, line)
  end
end

function request()
  i = i % #requests + 1
  return requests[i]
end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"us":%d,"bytes":%d,"p50":%d,"p99":%d,"errors":%d}\n',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
