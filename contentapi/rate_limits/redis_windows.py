"""Sliding windows in Redis, for the processes that share it.

A window is a list of entries, the oldest first, and the sum of their units. As in `KeyWindow`, units within a 1,024th
of the window are one entry with the latest time. A script is one step for all clients: a request pays all its charges
or none. Times are those of the Redis server, in microseconds.
"""

from collections.abc import Sequence
from typing import Any

from contentapi.core.pins import build_pin_key
from contentapi.core.replicas import has_replicas
from contentapi.monitoring.records import current_record
from contentapi.rate_limits.limits import Charge
from contentapi.rate_limits.memory import TICKS
from contentapi.rate_limits.statuses import LimitStatus, build_refused_status, build_status, get_window_key

REDIS_PREFIX = "contentapi:rate:"
SECOND = 1_000_000  # microseconds

# KEYS: the windows, and optionally the pin of the user. ARGV: for each window the amount, the limit, its length, and
# which of the newest units blocks a refused request. Returns whether there was room, the time, whether there is a pin,
# and for each window its units, the time of the oldest, and the time of the unit that blocks, or -1.
CONSUME = """
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local used, planned, has_room, is_pinned = {}, {}, 1, 0
if #KEYS > #ARGV / 4 then is_pinned = redis.call('EXISTS', table.remove(KEYS)) end

local function read(entry)
  local time, amount, opened = string.match(entry, '(%d+):(%d+):(%d+)')
  return tonumber(time), tonumber(amount), tonumber(opened)
end

for i, key in ipairs(KEYS) do
  local amount, limit, window = tonumber(ARGV[4 * i - 3]), tonumber(ARGV[4 * i - 2]), tonumber(ARGV[4 * i - 1])
  if not used[key] then  -- several charges may have the same window
    used[key] = tonumber(redis.call('GET', key .. ':used') or 0)
    local oldest = redis.call('LINDEX', key, 0)
    while oldest do
      local time, units = read(oldest)
      if time >= now - window then break end
      redis.call('LPOP', key)
      used[key] = used[key] - units
      oldest = redis.call('LINDEX', key, 0)
    end
  end
  planned[key] = (planned[key] or 0) + amount
  if used[key] + planned[key] > limit then has_room = 0 end
end

local reply = {has_room, now, is_pinned}
for i, key in ipairs(KEYS) do
  local amount, window, blocking = tonumber(ARGV[4 * i - 3]), tonumber(ARGV[4 * i - 1]), tonumber(ARGV[4 * i])
  if has_room == 1 and amount > 0 then
    local newest, opened, units = redis.call('LINDEX', key, -1), now, amount
    if newest then
      local _, others, first = read(newest)
      if now - first < window / TICKS then
        redis.call('RPOP', key)
        opened, units = first, units + others
      end
    end
    redis.call('RPUSH', key, string.format('%.0f:%d:%.0f', now, units, opened))
    used[key] = used[key] + amount
  end
  local length = math.ceil(window / 1000) + 1000
  redis.call('SET', key .. ':used', used[key], 'PX', length)
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
  table.insert(reply, used[key])
  table.insert(reply, oldest and read(oldest) or now)
  table.insert(reply, blocker)
end
return reply
""".replace("TICKS", str(TICKS))

# KEYS: the windows. ARGV: the amounts, which are taken from the newest units.
REFUND = """
for i, key in ipairs(KEYS) do
  local left = tonumber(ARGV[i])
  while left > 0 do
    local newest = redis.call('RPOP', key)
    if not newest then break end
    local time, units, opened = string.match(newest, '(%d+):(%d+):(%d+)')
    local taken = math.min(left, tonumber(units))
    if tonumber(units) > taken then
      redis.call('RPUSH', key, string.format('%s:%d:0', time, units - taken))
    end
    redis.call('DECRBY', key .. ':used', taken)
    left = left - taken
  end
end
"""


class RedisWindows:
    def __init__(self, client: Any) -> None:
        self.consume_script = client.register_script(CONSUME)
        self.refund_script = client.register_script(REFUND)

    def consume(self, key: str, charges: Sequence[Charge]) -> tuple[bool, list[LimitStatus]]:
        """Consume all charges, or none of them. Raises the errors of redis-py."""
        arguments = [
            argument
            for charge in charges
            for argument in (
                charge.amount,
                charge.spec.amount,
                charge.spec.window * SECOND,
                charge.spec.amount - charge.total + 1,
            )
        ]
        keys = build_keys(key, charges)
        asks_for_pin = key.startswith("user:") and has_replicas()
        if asks_for_pin:
            keys.append(build_pin_key(key.removeprefix("user:")))
        has_room, now, is_pinned, *states = self.consume_script(keys, arguments)
        if asks_for_pin:
            current_record.get().has_written = bool(is_pinned)
        build = build_status if has_room else build_refused_status
        return bool(has_room), [
            build(charge, used, (now - oldest) / SECOND, None if blocker < 0 else (now - blocker) / SECOND)
            for charge, used, oldest, blocker in zip(charges, states[::3], states[1::3], states[2::3], strict=True)
        ]

    def refund(self, key: str, charges: Sequence[Charge]) -> None:
        self.refund_script(build_keys(key, charges), [charge.amount for charge in charges])


def build_keys(key: str, charges: Sequence[Charge]) -> list[str]:
    return [REDIS_PREFIX + get_window_key(key, charge) for charge in charges]
