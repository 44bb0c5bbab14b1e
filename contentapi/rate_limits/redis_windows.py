"""Sliding windows in Redis, for the processes that share it.

A window is a list of entries, the oldest first, and the sum of their units, as in `contentapi.rate_limits.counters`. A
script is one step for all clients: a request pays all its charges or none. Times are those of the Redis server, in
microseconds. The third number of an entry is for a server of the former release.
"""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from contentapi.core.redis import GuardedRedis, RedisUnavailable
from contentapi.core.replicas import build_pin_key
from contentapi.db.watch.servers import SERVERS
from contentapi.monitoring.records import current_record
from contentapi.rate_limits.counters import TICKS, InProcessCounter, Outcome, build_refusal, count_blocking
from contentapi.rate_limits.limits import Charge

LOG = logging.getLogger("contentapi.rate_limits")
REDIS_PREFIX = "contentapi:rate:"
SECOND = 1_000_000  # microseconds

# KEYS: the windows, and optionally the pin of the user. ARGV: for each window the amount, the limit, its length, and
# which of the newest units blocks a refused request. Returns whether there was room, the time, whether there is a pin,
# and for each window its units, the time of the oldest, and the time of the unit that blocks, or -1.
CONSUME = """
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local used, has_room, is_pinned = {}, 1, 0
if #KEYS > #ARGV / 4 then is_pinned = redis.call('EXISTS', table.remove(KEYS)) end

local function read(entry)
  local time, amount = string.match(entry, '(%d+):(%d+)')
  return tonumber(time), tonumber(amount)
end

for i, key in ipairs(KEYS) do
  local amount, limit, window = tonumber(ARGV[4 * i - 3]), tonumber(ARGV[4 * i - 2]), tonumber(ARGV[4 * i - 1])
  used[i] = tonumber(redis.call('GET', key .. ':used') or 0)
  local oldest = redis.call('LINDEX', key, 0)
  while oldest do
    local time, units = read(oldest)
    if time >= now - window then break end
    redis.call('LPOP', key)
    used[i] = used[i] - units
    oldest = redis.call('LINDEX', key, 0)
  end
  if used[i] + amount > limit then has_room = 0 end
end

local reply = {has_room, now, is_pinned}
for i, key in ipairs(KEYS) do
  local amount, window, blocking = tonumber(ARGV[4 * i - 3]), tonumber(ARGV[4 * i - 1]), tonumber(ARGV[4 * i])
  if has_room == 1 and amount > 0 then
    local newest, units, tick = redis.call('LINDEX', key, -1), amount, window / TICKS
    if newest then
      local time, others = read(newest)
      if math.floor(time / tick) == math.floor(now / tick) then
        redis.call('RPOP', key)
        units = units + others
      end
    end
    redis.call('RPUSH', key, string.format('%.0f:%d:0', now, units))
    used[i] = used[i] + amount
  end
  local length = math.ceil(window / 1000) + 1000
  redis.call('SET', key .. ':used', used[i], 'PX', length)
  redis.call('PEXPIRE', key, length)
  local oldest, blocker, sum = redis.call('LINDEX', key, 0), -1, 0
  if has_room == 0 then
    local entries = redis.call('LRANGE', key, 0, -1)
    for place = #entries, 1, -1 do
      local time, units = read(entries[place])
      sum = sum + units
      if sum >= blocking then
        blocker = time
        break
      end
    end
  end
  table.insert(reply, used[i])
  table.insert(reply, oldest and read(oldest) or now)
  table.insert(reply, blocker)
end
return reply
""".replace("TICKS", str(TICKS))

# KEYS: the windows, from which the newest unit is taken.
REFUND = """
for _, key in ipairs(KEYS) do
  local newest = redis.call('RPOP', key)
  if newest then
    local time, units = string.match(newest, '(%d+):(%d+)')
    if tonumber(units) > 1 then redis.call('RPUSH', key, string.format('%s:%d:0', time, units - 1)) end
    redis.call('DECR', key .. ':used')
  end
end
"""


class RedisCounter:
    """Counts in Redis. While Redis is down, counts in this process, so that no request fails."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.redis = GuardedRedis(url, LOG, "Rate limits are counted in this process.", clock)
        self.consume_script = self.redis.client.register_script(CONSUME)
        self.refund_script = self.redis.client.register_script(REFUND)
        self.fallback = InProcessCounter()

    def consume(self, key: str, charges: Sequence[Charge]) -> Outcome:
        """Consume all charges, or none of them."""
        keys = build_keys(key, charges)
        asks_for_pin = key.startswith("user:") and bool(SERVERS.replicas)
        if asks_for_pin:
            keys.append(build_pin_key(key.removeprefix("user:")))
        arguments = [
            argument
            for charge in charges
            for argument in (charge.amount, charge.spec.amount, charge.spec.window * SECOND, count_blocking(charge))
        ]
        try:
            reply = self.redis.execute("consume", lambda: self.consume_script(keys, arguments))
        except RedisUnavailable:
            return self.fallback.consume(key, charges)
        has_room, now, is_pinned, *states = reply
        if asks_for_pin:
            current_record.get().has_written = bool(is_pinned)
        return bool(has_room), [
            build_refusal(charge, used, (now - oldest) / SECOND, None if blocker < 0 else (now - blocker) / SECOND)
            for charge, used, oldest, blocker in zip(charges, states[::3], states[1::3], states[2::3], strict=True)
        ]

    def refund(self, key: str, charges: Sequence[Charge]) -> None:
        """Give back one unit of each charge where requests are counted now. Those before a failure stay consumed."""
        if self.redis.is_failing:
            self.fallback.refund(key, charges)
            return
        with suppress(RedisUnavailable):
            self.redis.execute("refund", lambda: self.refund_script(build_keys(key, charges)))


def build_keys(key: str, charges: Sequence[Charge]) -> list[str]:
    return [f"{REDIS_PREFIX}{charge.spec.policy}/{charge.key or key}" for charge in charges]
