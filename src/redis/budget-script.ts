import { script } from "./commands.ts";

/**
 * One heartbeat of one process for one budget, as a single step on the server's own time: nobody's clock is compared.
 *
 * A process leases permits and keeps each until the answer plus the window by itself; the server only knows how many
 * each process holds. A process that falls silent may still have used its permits until `alive` ran out, so they
 * return a window after that.
 */
export const beat = script(`
local state, day = KEYS[1], KEYS[2]
local me = ARGV[1]
local max, window, alive, dayMax = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local held, keep, idle, spare = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local need, want, reserve = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local used, pause, probing = tonumber(ARGV[13]), tonumber(ARGV[14]), ARGV[15] == '1'
local hungry, allowance, pausedBy, channel = tonumber(ARGV[16]), tonumber(ARGV[17]), ARGV[18], ARGV[19]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function text(number) return string.format('%.0f', number) end

-- A day is counted by the minute, any 24 hours long.
local minute = math.floor(now / 60000)
local oldest = tonumber(redis.call('HGET', day, 'oldest') or minute)
if used > 0 then redis.call('HINCRBY', day, text(minute), text(used)) end
local back = math.max(0, -used)
-- What was not used after all was counted in one of the last minutes; no minute may count less than nothing.
for at = minute, oldest, -1 do
  if back == 0 then break end
  local part = math.min(back, tonumber(redis.call('HGET', day, text(at)) or 0))
  if part > 0 then redis.call('HINCRBY', day, text(at), text(-part)) end
  back = back - part
end
if used + back ~= 0 then redis.call('HINCRBY', day, 'total', text(used + back)) end
local total = tonumber(redis.call('HGET', day, 'total') or 0)
while oldest < minute do
  local count = redis.call('HGET', day, text(oldest))
  local isOver = (oldest + 1) * 60000 + 86400000 <= now
  if count and tonumber(count) > 0 and not isOver then break end
  if isOver and count then
    total = redis.call('HINCRBY', day, 'total', text(-tonumber(count)))
    redis.call('HDEL', day, text(oldest))
  end
  oldest = oldest + 1
end
if total > 0 then
  redis.call('HSET', day, 'oldest', text(oldest))
  redis.call('PEXPIRE', day, 90000000)
end
local dayFreesIn = (oldest + 1) * 60000 + 86400000 - now

local born = redis.call('HGET', state, 'born')
if not born then
  born = text(now) .. '.' .. time[2] .. '.' .. me
  redis.call('HSET', state, 'born', born)
end
-- What the others hold and want, and what was called back and has not cooled.
local others, wanted, active, busy, coming = 0, 0, 1, 0, held - keep
local before, turn, hadOthers = 0, now, false
local records = redis.call('HGETALL', state)
local isAlive = {}
local alike = {}
for at = 1, #records, 2 do
  local name, record = records[at], records[at + 1]
  if string.sub(name, 1, 2) == 'c:' then
    -- Held, kept, needed, wanted, hungry since, last seen, idle, of those to spare, last served in turn.
    local h, k, n, w, s, seen, i, u, t =
      string.match(record, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
    h, k, n, w, s, seen, i = tonumber(h), tonumber(k), tonumber(n), tonumber(w), tonumber(s), tonumber(seen), tonumber(i)
    u, t = tonumber(u), tonumber(t)
    local other = string.sub(name, 3)
    if other ~= me and h > 0 then hadOthers = true end
    if other == me then
      before, turn = h, t
    elseif seen + alive + window < now then
      redis.call('HDEL', state, name)
    else
      others = others + h
      busy = busy + h - i
      if seen + alive >= now then
        isAlive[other] = true
        alike[#alike + 1] = { id = other, h = h, k = k, n = n, w = w, s = s, i = i, u = u, t = t }
        if w > 0 or h > i then active = active + 1 end
        wanted, coming = wanted + w, coming + h - k
      end
    end
  end
end
-- Where nobody was heard for as long as leases last, all were cut off, and others may use a share without a lease.
local heard, again = tonumber(redis.call('HGET', state, 'heard') or now), tonumber(redis.call('HGET', state, 'again') or 0)
if hadOthers and heard + alive < now then again = now end
redis.call('HSET', state, 'heard', text(now), 'again', text(again))
local isYoung = now - math.max(tonumber(string.match(born, '^%d+')), again) < alive
local cap = math.max(0, math.min(max, dayMax - total))
local fair = math.ceil(cap / active)
-- Whoever lacks permits for its next request is served in turn, the one that has sent nothing for longest first.
local since = need > 0 and now - hungry or 0
local eldest, scattered, unit = nil, spare, need > 0 and need + idle or 1
for _, other in ipairs(alike) do
  if other.n > 0 then
    unit = math.max(unit, other.n + other.i)
    if eldest == nil or other.s < eldest.s or (other.s == eldest.s and other.id < eldest.id) then eldest = other end
  end
  scattered = scattered + other.u
end
local isMyTurn = need > 0 and
  (eldest == nil or since < eldest.s or (since == eldest.s and me < eldest.id))
local free = math.max(0, cap - others - held)
local kept = 0
if eldest and not isMyTurn then kept = math.min(free, eldest.n) end
local grant = 0
if wanted == 0 then grant = math.min(free, math.max(want, reserve))
elseif isMyTurn then grant = math.min(free, math.max(need, math.min(want, fair - held)))
elseif want > 0 then grant = math.min(free - kept, want, math.max(0, fair - held)) end
-- After a flush those who hold permits are heard first; a first start has nobody to wait for.
if isYoung then grant = math.min(grant, math.max(0, math.ceil(max / 20) - held)) end
if isMyTurn and grant > 0 then turn = now end
-- What was called back for it is all here: the next that changes hands has to wait for its time.
if isMyTurn and grant >= need then redis.call('HDEL', state, 'moved for') end

local movedFor, movesAt = redis.call('HGET', state, 'moved for'), tonumber(redis.call('HGET', state, 'moves') or 0)
local give = 0
if others + keep > cap then give = math.min(keep, others + keep - cap) end
if not isMyTurn then
  local short = wanted - (free - grant)
  if want == 0 then give = math.max(give, math.min(idle, short)) end
  -- Over its share, by more than the batch that it could not send otherwise.
  give = math.max(give, math.min(keep - fair - (unit - 1), short - coming))
  if eldest then
    local missing = eldest.n - kept
    -- What lies idle while its holder waits for another budget, too: two could wait for each other for ever.
    give = math.max(give, math.min(spare, missing))
    -- Too few for a single batch, ever: what lies idle in small pieces first, then what others use. That loses what
    -- it takes to change hands, the allowance for the latency above all: so all permits do so in two windows at the
    -- earliest, and in as many as keep that loss at a hundredth.
    local more = math.min(keep, missing - coming) - math.max(0, give)
    -- It is for whoever has had its own for longest.
    for _, other in ipairs(alike) do
      local isEarlier = other.t < turn or (other.t == turn and other.id < me)
      if other ~= eldest and other.k > 0 and isEarlier then more = 0 end
    end
    if more > 0 and eldest.h < eldest.n + eldest.i and scattered - eldest.u < missing and
      (movesAt <= now or movedFor == eldest.id) then
      give = math.max(0, give) + more
      movesAt = math.max(now, movesAt) + math.ceil(math.max(2 * window, 100 * allowance) * more / max)
      redis.call('HSET', state, 'moved for', eldest.id, 'moves', text(movesAt))
    end
  end
end
give = math.max(0, give)
-- Whoever lacks them has none called back for it before that; told two windows ahead, because what else its request
-- spends has to be found by then.
local comes = 0
if need > grant and scattered - spare < need and not (isMyTurn and coming > 0) then
  comes = math.max(0, movesAt - now - 2 * window)
end

if held + grant == 0 and want == 0 then redis.call('HDEL', state, 'c:' .. me)
else
  redis.call('HSET', state, 'c:' .. me, table.concat({ text(held + grant), text(math.max(0, keep + grant - give)),
    text(need > grant and need - grant or 0), text(math.max(0, want - grant)), text(need > grant and since or 0), text(now),
    text(math.min(idle + grant, held + grant)), text(math.min(spare, held)), text(turn) }, ' '))
end

-- Whoever waits for what has just come free need not wait for its own next beat.
local next = eldest or alike[1]
if held < before and free > grant and next and next.w > 0 then redis.call('PUBLISH', channel, next.id) end

-- A pause is everybody's, and one process sends the one request that goes first after it.
local pausedUntil = tonumber(redis.call('HGET', state, 'paused') or 0)
if pause > 0 then
  pausedUntil = math.max(pausedUntil, now + pause)
  redis.call('HSET', state, 'paused', text(pausedUntil), 'probe', 'due', 'by', pausedBy)
  redis.call('PUBLISH', channel, 'pause')
end
local probe = redis.call('HGET', state, 'probe') or ''
-- Nobody goes right after a pause before it was seen here who goes first.
local gate = pausedUntil > now and 1 or 0
if probe ~= '' and pausedUntil <= now then
  if probe == me and not probing then
    redis.call('HSET', state, 'probe', '')
  elseif probe == me then gate = 0
  elseif probe ~= 'due' and isAlive[probe] then gate = 1
  elseif want > 0 or need > 0 or probing then
    redis.call('HSET', state, 'probe', me)
    gate = 2
  else gate = 1 end
end
redis.call('PEXPIRE', state, text(2 * (alive + window) + math.max(0, pausedUntil - now)))
return { born, grant, give, text(math.max(0, pausedUntil - now)), gate, text(total), text(dayFreesIn), busy,
  text(pausedUntil), redis.call('HGET', state, 'by') or '', text(comes) }
`);
