import { script } from "./commands.ts";

/** What a process reports in a heartbeat; JSON in ARGV[1] of the script. */
export interface Beat {
  readonly process: string;
  readonly max: number;
  readonly windowMs: number;
  /** How long a process may use its permits after its last heartbeat. */
  readonly aliveMs: number;
  readonly dayMax: number;
  /** Permits leased; of these: not called back, unused, and unused without need. */
  readonly held: number;
  readonly kept: number;
  readonly idle: number;
  readonly spare: number;
  /** Permits that the next request lacks, that all waiting requests lack, and that the process asks for in advance. */
  readonly need: number;
  readonly want: number;
  readonly ahead: number;
  /** How long the next request has lacked permits while nothing was sent. */
  readonly hungryMs: number;
  /** Permits that interactive calls hold and lack, and how long background work leaves them a reserve. */
  readonly interactive: number;
  readonly urgent: number;
  readonly interactiveMs: number;
  /** How long a permit is unusable when it moves to another process. */
  readonly allowanceMs: number;
  /** Use by this process: in total, the part that an answer has confirmed, and in the last 24 hours. */
  readonly usedEver: number;
  readonly usedHeard: number;
  readonly usedInDay: number;
  /** `dayBorn` of that answer. */
  readonly dayBorn: string;
  /** A pause that the service asked for (0: none), and the response that asked for it. */
  readonly pauseMs: number;
  readonly pausedBy: string;
  readonly isProbing: boolean;
  readonly channel: string;
}

/** The store's answer to a heartbeat, as JSON. */
export interface BeatReply {
  readonly grant: number;
  readonly give: number;
  /** `closed` while another process probes after a pause, `probe` when this one is to probe. */
  readonly gate: "open" | "closed" | "probe";
  readonly pausedForMs: number;
  /** Time on the store's clock; identifies the pause. */
  readonly pausedUntil: number;
  readonly pausedBy: string;
  /** Identifies the daily count: a new value means that the store has lost the old count. */
  readonly dayBorn: string;
  readonly dayTotal: number;
  readonly dayFreesInMs: number;
  readonly busyElsewhere: number;
  /** Permits that interactive calls of other processes need, at least 1; 0 without recent ones. */
  readonly interactive: number;
}

/**
 * One heartbeat of one process for one budget. It runs atomically and uses the server's clock only.
 *
 * A process leases permits, and keeps each until the response plus the window; the server only knows how many each
 * process holds. A process that stops sending heartbeats may use its permits until `aliveMs` has passed, so they are free
 * a window after that.
 */
export const beat = script(`
local key, day, my = KEYS[1], KEYS[2], cjson.decode(ARGV[1])
local time = redis.call('TIME')

-- THE BUDGET: fields of all processes, and what each process reported last.
local all, others, me = {}, {}, { held = 0 }
local fields = redis.call('HGETALL', key)
for at = 1, #fields, 2 do
  local process = string.match(fields[at], '^process:(.*)$')
  if process == nil then all[fields[at]] = fields[at + 1]
  elseif process == my.process then me = cjson.decode(fields[at + 1])
  else
    local other = cjson.decode(fields[at + 1])
    other.process = process
    table.insert(others, other)
  end
end
local function remember(field, value)
  all[field] = value
  redis.call('HSET', key, field, value)
end
local function at(field) return tonumber(all[field] or 0) end
-- Nothing depends on a message, so the Redis user needs no right to publish.
local function tell(what) redis.pcall('PUBLISH', my.channel, what) end

-- THE TIME is the server's. If its clock steps back, time continues from the last heartbeat.
local function clock() return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) + at('behindMs') end
if clock() < at('heardAt') then remember('behindMs', at('behindMs') + at('heardAt') - clock()) end
local now = clock()
if not all.bornAt then remember('bornAt', now) end

-- THE DAY, any 24 hours long: a count for each minute, and their total.
local function count(field) return tonumber(redis.call('HGET', day, field) or 0) end
local function add(field, amount) return redis.call('HINCRBY', day, field, amount) end
local dayMs, minute = 86400000, math.floor(now / 60000)
local dayBorn = redis.call('HGET', day, 'born')
if not dayBorn then
  -- If only this key was lost, the day continues with the total so far, as of this minute.
  dayBorn = all.dayBorn or time[1] .. '.' .. time[2] .. '.' .. my.process
  redis.call('HSET', day, 'born', dayBorn, 'oldest', minute, minute, at('dayTotal'), 'total', at('dayTotal'))
  -- Processes with nothing to send must report their use, too.
  if not all.dayBorn then tell('lost') end
end
-- Use is reported as a sum, so that a repeated report counts once. What counts now is the sum less the last report;
-- less what an answer confirmed; or, if the day was lost, all use of the last 24 hours.
local mySaid = 'said:' .. my.process
local said, used = redis.call('HGET', day, mySaid), my.usedInDay
if said then used = my.usedEver - cjson.decode(said).used
elseif my.dayBorn == dayBorn then used = my.usedEver - my.usedHeard end
if my.dayBorn == dayBorn and my.usedEver == my.usedHeard then redis.call('HDEL', day, mySaid)
else redis.call('HSET', day, mySaid, cjson.encode({ used = my.usedEver, minute = minute })) end
if used > 0 then add(minute, used) add('total', used) end
-- Returned permits were counted in one of the last minutes; no minute's count falls below 0.
local oldest, back = count('oldest'), math.max(0, -used)
for at = minute, oldest, -1 do
  if back == 0 then break end
  local part = math.min(back, count(at))
  if part > 0 then add(at, -part) add('total', -part) end
  back = back - part
end
while oldest < minute do
  local isOver, past = (oldest + 1) * 60000 + dayMs <= now, count(oldest)
  if past > 0 then
    if not isOver then break end
    add('total', -past)
  end
  redis.call('HDEL', day, oldest)
  oldest = oldest + 1
end
local total = count('total')
redis.call('HSET', day, 'oldest', oldest)
-- Once an hour: forget processes that have reported nothing for a day.
if count('sweptAt') + 60 <= minute then
  local fields = redis.call('HGETALL', day)
  for at = 1, #fields, 2 do
    local isSaid = string.sub(fields[at], 1, 5) == 'said:'
    if isSaid and cjson.decode(fields[at + 1]).minute + 1440 < minute then redis.call('HDEL', day, fields[at]) end
  end
  redis.call('HSET', day, 'sweptAt', minute)
end
remember('dayBorn', dayBorn)
remember('dayTotal', total)

-- A silent process may have used its permits until its lease ended, so it keeps them for a window longer.
local heldElsewhere, busyElsewhere, interactive, live = 0, 0, 0, {}
for _, other in ipairs(others) do
  if other.seenAt + other.aliveMs + my.windowMs < now then
    redis.call('HDEL', key, 'process:' .. other.process)
  else
    heldElsewhere = heldElsewhere + other.held
    busyElsewhere = busyElsewhere + other.held - other.idle
    interactive = interactive + other.interactive
    if other.seenAt + other.aliveMs >= now then table.insert(live, other) end
  end
  -- If no process sent a heartbeat for a whole lease, all were cut off, and may be using a share without a lease.
  if other.held > 0 and all.heardAt and at('heardAt') + math.max(my.aliveMs, other.aliveMs) < now then remember('againAt', now) end
end
remember('heardAt', now)
local isYoung = now - math.max(at('bornAt'), at('againAt')) < my.aliveMs

-- INTERACTIVE CALLS: background work of all processes leaves them a reserve.
if now + my.interactiveMs > at('interactiveUntil') then remember('interactiveUntil', now + my.interactiveMs) end
interactive = at('interactiveUntil') > now and math.max(1, interactive) or 0

-- SHARES are equal among the processes that use or want permits.
local cap = math.max(0, math.min(my.max, my.dayMax - total))
local active, wanted, coming, spare, urgent = 1, 0, my.held - my.kept, my.spare, 0
-- Processes that lack permits for their next request take turns: first the one that has sent nothing for longest.
local since, first, unit = my.need > 0 and now - my.hungryMs or 0, nil, my.need > 0 and my.need + my.idle or 1
for _, other in ipairs(live) do
  if other.want > 0 or other.held > other.idle then active = active + 1 end
  wanted, coming, spare = wanted + other.want, coming + other.held - other.kept, spare + other.spare
  urgent = urgent + other.urgent
  if other.need > 0 then
    unit = math.max(unit, other.need + other.idle)
    local isEarlier = first == nil or other.since < first.since
    if isEarlier or (other.since == first.since and other.process < first.process) then first = other end
  end
end
local fair = math.ceil(cap / active)
-- If interactive calls lack permits, background work of other processes shares what is left, at least a tenth.
local isYielding = my.interactiveMs == 0 and urgent > 0
if isYielding then fair = math.max(math.ceil(cap / 10), fair - urgent)
elseif my.urgent > 0 and urgent == 0 then fair = cap - math.ceil(cap / 10) end
local isMyTurn = my.need > 0 and
  (first == nil or since < first.since or (since == first.since and my.process < first.process))

-- GRANT: all free permits if no other process wants any; on its turn what the next request needs; else up to the share.
local free = math.max(0, cap - heldElsewhere - my.held)
local keptForFirst = first and not isMyTurn and math.min(free, isYielding and math.max(first.need, urgent) or first.need) or 0
local grant = 0
if wanted == 0 then grant = math.min(free, math.max(my.want, my.ahead))
elseif isMyTurn then grant = math.min(free, math.max(my.need, math.min(my.want, fair - my.held)))
else grant = math.max(0, math.min(free - keptForFirst, my.want, fair - my.held)) end
-- After a flush, grants are small until all processes that hold permits can have reported.
if isYoung then grant = math.max(0, math.min(grant, math.ceil(my.max / 20) - my.held)) end
local servedAt = isMyTurn and grant > 0 and now or me.servedAt or now

-- GIVE BACK, as permits cool down: what is over the cap,
local give = math.max(0, math.min(my.kept, heldElsewhere + my.kept - cap))
if isMyTurn then
  -- The process has the permits that were called back for it. The next move waits until movesAt.
  if grant >= my.need then redis.call('HDEL', key, 'movedFor') end
else
  local short = wanted - (free - grant)
  -- what is idle here and wanted by another process,
  if my.want == 0 then give = math.max(give, math.min(my.idle, short)) end
  -- what is over the share, by more than the batch that could not be sent otherwise,
  give = math.max(give, math.min(my.kept - fair - (unit - 1), short - coming))
  if first then
    local missing = first.need - keptForFirst
    -- and for the process on turn the spare permits, even if this process waits for another budget: otherwise two
    -- processes could wait for each other forever.
    give = math.max(give, math.min(my.spare, missing))
    -- If that will never be enough, also permits in use, from the process that was served longest ago. A move costs the
    -- allowance, so moving all permits takes two windows at least, and so long that the loss stays at a hundredth.
    local more = math.min(my.kept, missing - coming) - give
    for _, other in ipairs(live) do
      local isEarlier = other.servedAt < servedAt or (other.servedAt == servedAt and other.process < my.process)
      if other ~= first and other.kept > 0 and isEarlier then more = 0 end
    end
    local isStuck = first.held < first.need + first.idle and spare - first.spare < missing
    if more > 0 and isStuck and (at('movesAt') <= now or all.movedFor == first.process) then
      give = give + more
      local roundMs = math.max(2 * my.windowMs, 100 * my.allowanceMs)
      remember('movesAt', math.max(now, at('movesAt')) + math.ceil(roundMs * more / my.max))
      remember('movedFor', first.process)
    end
  end
end

local held = my.held + grant
if held == 0 and my.want == 0 then redis.call('HDEL', key, 'process:' .. my.process)
else
  remember('process:' .. my.process, cjson.encode({
    held = held, kept = math.max(0, my.kept + grant - give), idle = math.min(my.idle + grant, held),
    spare = math.min(my.spare, my.held), need = math.max(0, my.need - grant), want = math.max(0, my.want - grant),
    interactive = my.interactive, urgent = math.max(0, my.urgent - grant),
    since = my.need > grant and since or 0, servedAt = servedAt, seenAt = now, aliveMs = my.aliveMs,
  }))
end
-- Tell a waiting process about freed permits, so that it need not wait for its next heartbeat.
local next = first or live[1]
if my.held < me.held and free > grant and next and next.want > 0 then
  tell(next.process)
end

-- A PAUSE applies to all processes. After it, one of them sends a single request first, the probe.
if my.pauseMs > 0 then
  remember('pausedUntil', math.max(at('pausedUntil'), now + my.pauseMs))
  remember('pausedBy', my.pausedBy)
  remember('probe', 'due')
  tell('pause')
end
local pausedForMs, gate = math.max(0, at('pausedUntil') - now), 'open'
if pausedForMs > 0 then gate = 'closed'
elseif all.probe == my.process then
  if not my.isProbing then redis.call('HDEL', key, 'probe') end
elseif all.probe then
  -- After a pause, no process sends anything until one is chosen to probe.
  gate = 'closed'
  local isOut = false
  for _, other in ipairs(live) do isOut = isOut or other.process == all.probe end
  if not isOut and (my.want > 0 or my.need > 0 or my.isProbing) then
    remember('probe', my.process)
    gate = 'probe'
  end
end
-- Both keys hold the day's total, so that it survives the loss of one.
for _, kept in ipairs(KEYS) do redis.call('PEXPIRE', kept, dayMs + 3600000 + pausedForMs) end
return cjson.encode({
  grant = grant, give = give, gate = gate,
  pausedForMs = pausedForMs, pausedUntil = at('pausedUntil'), pausedBy = all.pausedBy,
  dayBorn = dayBorn, dayTotal = total, dayFreesInMs = (oldest + 1) * 60000 + dayMs - now, busyElsewhere = busyElsewhere,
  interactive = interactive,
})
`);
