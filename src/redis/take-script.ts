import { sharing } from "../rate-limit/permits.ts";
import { script } from "./commands.ts";

/**
 * Grants requests, and records those that have ended. It runs atomically and uses the server's clock only.
 *
 * A granted request holds its permits until it is settled; then they cool down for a window. A request that is never
 * settled holds them until it may no longer take place, and for a window after that. Each key holds the state of one
 * budget as JSON.
 */
export const exchange = script(`
local my = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local dayMs, slotMs, graceMs = 86400000, 300000, 1000

-- A BUDGET: permits in flight by request, cooling permits, waiting kinds, and the day in slots of five minutes.
local function open(key, mine)
  local text, clock = redis.call('GET', key), tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  local it = text and cjson.decode(text) or {
    born = time[1] .. '.' .. time[2] .. '.' .. my.process, bornAt = clock, behindMs = 0, heardAt = clock, blockedUntil = 0,
    flying = {}, cooling = {}, waiters = {}, kinds = {}, day = {}, before = 0, beforeUntil = 0,
    turn = 0, interactiveUntil = 0, backgroundAt = 0, pausedUntil = 0, pausedBy = '', probe = '',
  }
  -- If the server's clock steps back, time continues from the last message.
  it.behindMs = math.max(it.behindMs, it.heardAt - clock)
  it.heardAt = clock + it.behindMs
  local now = it.heardAt
  -- Redis has lost its data: what was used before may count for a window, and the day as far as a process knows it.
  if mine.born ~= '' and mine.born ~= it.born then
    it.blockedUntil = math.max(it.blockedUntil, it.bornAt + mine.windowMs + graceMs)
    it.before = math.max(it.before, mine.dayUsed)
    it.beforeUntil = math.max(it.beforeUntil, now - mine.ageMs + dayMs + slotMs)
  end
  -- Other processes may be using their share without Redis.
  if my.wasAlone then it.blockedUntil = math.max(it.blockedUntil, now + mine.windowMs + graceMs) end
  if it.beforeUntil <= now then it.before = 0 end
  it.dayUsed = it.before
  while it.day[1] and (it.day[1][1] + 1) * slotMs + dayMs <= now do table.remove(it.day, 1) end
  for _, slot in ipairs(it.day) do it.dayUsed = it.dayUsed + slot[2] end
  return it
end

-- What a request spends of the budget at this place: its weight of the narrowest, the last one. It holds no more permits
-- than there are.
local function weightAt(one, at, place) return place == #at and one.weight or 1 end
local function amountAt(one, at, place) return math.min(weightAt(one, at, place), my.budgets[at[place]].max) end
local function isInteractive(kind) return string.sub(kind, 1, 1) == 'i' end

local function charge(it, weight)
  local slot = math.floor(it.heardAt / slotMs)
  local last = it.day[#it.day]
  if weight > 0 and (not last or last[1] < slot) then table.insert(it.day, { slot, weight })
  elseif last then last[2] = math.max(0, last[2] + weight) end
  it.dayUsed = math.max(0, it.dayUsed + weight)
end

-- PERMITS that count for this process. A permit returns sooner by what is certain to pass on the ways between.
local function hold(it, one, freeAt, isSure)
  it.used = it.used + one.amount
  it.of[one.kind] = (it.of[one.kind] or 0) + one.amount
  it.by[one.process] = (it.by[one.process] or 0) + one.amount
  if isInteractive(one.kind) then it.interactive = it.interactive + one.amount end
  table.insert(it.returns, { freeAt, one.amount, isSure })
end

local function count(it, mine)
  it.used, it.interactive, it.of, it.by, it.returns = 0, 0, {}, {}, {}
  for id, one in pairs(it.flying) do
    if one.ends <= it.heardAt then it.flying[id] = nil
    else hold(it, one, it.heardAt + mine.windowMs, false) end
  end
  local cooling = {}
  for _, one in ipairs(it.cooling) do
    if one.ends > it.heardAt then
      table.insert(cooling, one)
      local freeAt = one.ends - math.min(one.floor, mine.floorMs) - math.min(one.redisFloor, my.redisFloorMs)
      if freeAt > it.heardAt then hold(it, one, freeAt, true) end
    end
  end
  it.cooling = cooling
  table.sort(it.returns, function(one, other) return one[1] < other[1] end)
end

local budgets = {}
for at, mine in ipairs(my.budgets) do
  budgets[at] = open(KEYS[at], mine)
  if mine.charge ~= 0 then charge(budgets[at], mine.charge) end
end

-- REQUESTS THAT HAVE ENDED.
for _, one in ipairs(my.settled) do
  for place, at in ipairs(one.at) do
    local it, mine = budgets[at], my.budgets[at]
    local held = it.flying[one.id]
    it.flying[one.id] = nil
    if it.probe == one.id then it.probe = one.wasSent and '' or 'due' end
    if not one.wasSent then
      if held then charge(it, -weightAt(one, one.at, place)) end
    elseif held or mine.born ~= it.born then
      -- Rounded up, so that there are few different ends.
      local step = math.max(1, math.ceil(mine.windowMs / 500))
      local ends = math.ceil((it.heardAt + 1 + one.coolMs[place]) / step) * step
      local floor = one.wasAnswered and mine.floorMs or 0
      local last = it.cooling[#it.cooling]
      if last and last.ends == ends and last.kind == one.kind and last.process == my.process and last.floor == floor then
        last.amount = last.amount + amountAt(one, one.at, place)
      else
        table.insert(it.cooling, { ends = ends, amount = amountAt(one, one.at, place), kind = one.kind, process = my.process,
          floor = floor, redisFloor = one.wasAnswered and my.redisFloorMs or 0 })
      end
    end
  end
end

-- A PAUSE applies to all processes. After it, one request is granted alone, the probe.
for at, mine in ipairs(my.budgets) do
  local it = budgets[at]
  if mine.pauseMs > 0 then
    if it.heardAt + mine.pauseMs > it.pausedUntil then it.pausedUntil, it.pausedBy = it.heardAt + mine.pauseMs, mine.pausedBy end
    it.probe = 'due'
  end
  count(it, mine)
  if it.probe ~= '' and it.probe ~= 'due' and not it.flying[it.probe] then it.probe = 'due' end
end

-- BACKGROUND WORK is due, before interactive calls, while it has had less than its tenth of each budget.
local function isDue(ask, request)
  for place, at in ipairs(ask.at) do
    local it, mine, amount = budgets[at], my.budgets[at], amountAt(request, ask.at, place)
    local part, background = mine.max * ${sharing.backgroundPart}, it.used - it.interactive
    local isIdle = background == 0 and it.heardAt - it.backgroundAt >= amount / part * mine.windowMs
    if background + amount > part and not isIdle then return false end
  end
  return true
end

-- THE RESERVE that background work leaves for interactive calls.
local function reserve(it, mine, ask, amount)
  if it.interactiveUntil <= it.heardAt then return 0 end
  local wanted = math.max(mine.max * ask.leastReserve, it.interactive * ${sharing.reserveFactor})
  wanted = math.ceil(math.min(wanted, math.floor(mine.max * ${1 - sharing.backgroundPart})))
  return math.max(0, math.min(wanted, mine.max - amount) - it.interactive)
end

-- SHARES of a wide budget are kept for kinds that also need a narrower one.
local function shares(it, mine, ask)
  local lacking, held = 0, 0
  for kind, one in pairs(it.kinds) do
    if one.ends <= it.heardAt and not it.of[kind] then it.kinds[kind] = nil
    elseif not (isInteractive(ask.kind) and not isInteractive(kind)) then
      held = held + (it.of[kind] or 0)
      lacking = lacking + math.max(0, one.share - (it.of[kind] or 0))
    end
  end
  return math.max(0, math.min(lacking, math.ceil(mine.max * ${sharing.mostShared}) - held))
end

-- TURNS. The first request of each waiting kind goes in the order in which it became the first. Those behind it leave
-- every other process an equal part.
local function ahead(it, mine, me, isFirst)
  local others, processes, active = {}, { [my.process] = true }, 1
  for name, one in pairs(it.waiters) do
    if one.ends <= it.heardAt then it.waiters[name] = nil
    elseif name ~= me.name and one.class <= me.class and (one.isWide == me.isWide or me.isWide and not me.isBelowShare) then
      table.insert(others, one)
      if not processes[one.process] then processes[one.process], active = true, active + 1 end
    end
  end
  local fair, sum = math.ceil(mine.max / active), 0
  for _, one in ipairs(others) do
    if one.class < me.class then sum = sum + (one.class == 0 and one.need or one.want)
    elseif not isFirst then
      local part = math.floor((fair - (it.by[one.process] or 0)) / one.need) * one.need
      sum = sum + math.min(one.want, math.max(one.need, part))
    elseif one.turn < me.turn then sum = sum + one.need end
  end
  return sum
end

-- When so many permits more are free; and whether that is sure, because none of them is in flight.
local function freeIn(it, mine, lack)
  if lack <= 0 then return 0, true end
  for _, one in ipairs(it.returns) do
    lack = lack - one[2]
    if lack <= 0 then return one[1] - it.heardAt, one[3] end
  end
  return mine.windowMs, false
end

-- Whether a request may go: in how many milliseconds, or how long to wait for which budget.
local function judge(ask, request, me, wants)
  local inMs, waitMs, lacks = 0, 0, 0
  me.class = isInteractive(ask.kind) and 1 or isDue(ask, request) and 0 or 2
  for place, at in ipairs(ask.at) do
    local it, mine, amount = budgets[at], my.budgets[at], amountAt(request, ask.at, place)
    me.isWide = place < #ask.at
    me.isBelowShare = me.isWide and (it.of[ask.kind] or 0) + amount <= ask.shares[place]
    local known = me.known[place]
    me.turn = known and known.id == request.id and known.turn or it.turn
    local ms, isSure, isFull = 0, true, it.dayUsed + weightAt(request, ask.at, place) > mine.dayMax
    if isFull then ms, isSure = mine.windowMs, false
    elseif math.max(it.pausedUntil, it.blockedUntil) > it.heardAt then
      ms, isSure = math.max(it.pausedUntil, it.blockedUntil) - it.heardAt, false
    elseif it.probe ~= '' and it.probe ~= 'due' then ms, isSure = math.min(250, mine.windowMs / 4), false
    else
      local lack = amount - (mine.max - it.used)
      if me.class == 2 then lack = lack + reserve(it, mine, ask, amount) end
      if not me.isWide then lack = lack + shares(it, mine, ask) end
      ms, isSure = freeIn(it, mine, lack + ahead(it, mine, me, me.isFirst))
      -- Others have not taken yet what was left for them: ask again when they had their turn.
      if ms > 0 and not me.isFirst and lack + ahead(it, mine, me, true) <= 0 then ms, isSure = math.max(5, mine.windowMs / 100), false end
    end
    if ms > 0 and not (isSure and ms <= my.redisFloorMs) then
      if not isFull then
        it.waiters[me.name] = { process = my.process, class = me.class, id = request.id, turn = me.turn, isWide = me.isWide,
        need = amount, want = wants[place], ends = it.heardAt + ms + graceMs + 2 * my.redisFloorMs }
        it.turn = it.turn + 1
      end
      if ms > waitMs then waitMs, lacks = ms, at end
    end
    inMs = math.max(inMs, ms)
  end
  return inMs, waitMs, lacks
end

-- A request whose first answer was lost is granted again: its time starts anew.
local function grant(ask, request, isHeld)
  for place, at in ipairs(ask.at) do
    local it, mine, amount = budgets[at], my.budgets[at], amountAt(request, ask.at, place)
    local weight = weightAt(request, ask.at, place)
    it.flying[request.id] = { amount = amount, kind = ask.kind, process = my.process,
      ends = it.heardAt + ask.leaseMs + mine.windowMs * math.max(1, weight / mine.max) }
    if not isHeld then
      hold(it, it.flying[request.id], it.heardAt + mine.windowMs, false)
      if not isInteractive(ask.kind) then it.backgroundAt = it.heardAt end
      if it.probe == 'due' then it.probe = request.id end
      charge(it, weight)
    end
  end
end

local replies = {}
for number, ask in ipairs(my.asks) do
  local me, wants = { name = my.process .. ' ' .. ask.kind, known = {} }, {}
  for place, at in ipairs(ask.at) do
    local it, mine = budgets[at], my.budgets[at]
    me.known[place], it.waiters[me.name] = it.waiters[me.name], nil
    if isInteractive(ask.kind) then it.interactiveUntil = it.heardAt + ${sharing.rememberedWindows} * mine.windowMs end
    wants[place] = 0
    for _, request in ipairs(ask.requests) do wants[place] = wants[place] + amountAt(request, ask.at, place) end
  end
  local reply = { granted = {}, waitMs = 0, lacks = 0 }
  for place, request in ipairs(ask.requests) do
    me.isFirst = place == 1
    local inMs, waitMs, lacks = 0, 0, 0
    -- The answer to an earlier ask was lost.
    local isHeld = budgets[ask.at[1]].flying[request.id] ~= nil
    if not isHeld then inMs, waitMs, lacks = judge(ask, request, me, wants) end
    if lacks > 0 then
      reply.waitMs, reply.lacks = waitMs, lacks
      break
    end
    grant(ask, request, isHeld)
    for place in ipairs(ask.at) do wants[place] = wants[place] - amountAt(request, ask.at, place) end
    table.insert(reply.granted, inMs)
  end
  for place, at in ipairs(ask.at) do
    local it = budgets[at]
    if place < #ask.at and #ask.requests > 0 then
      it.kinds[ask.kind] = { share = ask.shares[place], ends = it.heardAt + reply.waitMs + graceMs }
    end
  end
  replies[number] = reply
end

local states = {}
for at, it in ipairs(budgets) do
  local last = it.returns[#it.returns]
  local pausedForMs = math.max(0, it.pausedUntil - it.heardAt)
  local oldest = it.day[1] and (it.day[1][1] + 1) * slotMs + dayMs or it.beforeUntil
  states[at] = {
    born = it.born, used = it.used, freeInMs = last and last[1] - it.heardAt or 0, dayUsed = it.dayUsed,
    dayFreesInMs = math.max(0, oldest - it.heardAt), pausedForMs = pausedForMs, pausedUntil = it.pausedUntil,
    pausedBy = it.pausedBy, interactive = it.interactiveUntil > it.heardAt and it.interactive or -1,
  }
  it.used, it.interactive, it.of, it.by, it.returns, it.dayUsed = nil, nil, nil, nil, nil, nil
  redis.call('SET', KEYS[at], cjson.encode(it), 'PX', dayMs + 3600000 + pausedForMs)
end
return cjson.encode({ budgets = states, asks = replies })
`);
