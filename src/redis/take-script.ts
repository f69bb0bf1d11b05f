import { sharing } from "../rate-limit/permits.ts";
import { script } from "./commands.ts";
import { silenceMs } from "./fault.ts";

/**
 * Grants requests, and records those that have ended. It runs atomically and uses the server's clock only.
 *
 * A granted request holds its permits until it is settled; then they cool down for a window. If its process sends no
 * message for `silenceMs`, it is dead, and its permits cool down from then on. Each key holds the state of one budget, in
 * MessagePack: to read and write it as JSON takes Redis twice as long.
 *
 * - Time is the server's clock, unless that steps: back, or forward by more than the process's own clock explains. Then it
 *   continues from what is certain to have passed. Who knows no time of this state, or one from before the last step,
 *   cannot tell a step forward from silence. A message that was on its way for long looks like a step.
 * - Shares of a wide budget are kept for kinds that also need a narrower one, while their requests wait or are in flight.
 * - Turns: the first request of each waiting kind goes in the order in which it became the first. Those behind it leave
 *   every other process an equal part.
 */
export const exchange = script(`
local message, time = cjson.decode(ARGV[1]), redis.call('TIME')
-- The part of the message that is dealt with, and the state of its budgets.
local my, budgets
local dayMs, slotMs, graceMs = 86400000, 300000, 1000

-- TIME
local function timeOf(it, clock, mine)
  local now, isKnown = clock - it.aheadMs, mine.born == it.born and mine.aheadMs == it.aheadMs
  local certain = isKnown and math.max(it.heardAt, math.floor(mine.knownAt + mine.ageMs)) or it.heardAt
  -- No two clocks run equally fast: less than a second is no step, but time never goes back.
  local isBack = now < math.max(it.heardAt, certain - graceMs)
  local isForward = isKnown and now > certain + graceMs + mine.tripMs
  if not isBack and not isForward then return now end
  it.aheadMs = clock - certain
  return certain
end

-- A BUDGET: permits of each kind of each process, waiting kinds, and the day in slots of five minutes.
local function open(key, mine)
  local text, clock = redis.call('GET', key), tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  local it = text and cmsgpack.unpack(text) or {
    born = time[1] .. '.' .. time[2] .. '.' .. message.process, bornAt = clock, aheadMs = 0, heardAt = clock, blockedUntil = 0,
    holders = {}, waiters = {}, kinds = {}, day = {}, before = 0, beforeUntil = 0,
    turn = 0, interactiveUntil = 0, backgroundAt = 0, pausedUntil = 0, pausedBy = '', probe = '', isProbeDue = false,
  }
  it.mine, it.used, it.interactive, it.of, it.by, it.inFlight, it.returns = mine, 0, 0, {}, {}, {}, {}
  local now = timeOf(it, clock, mine)
  it.heardAt = now
  -- Redis has lost its data: what was granted before may be sent yet, and count for a window; the day as far as it is known.
  if mine.born ~= '' and mine.born ~= it.born then
    it.blockedUntil = math.max(it.blockedUntil, it.bornAt + mine.windowMs + ${silenceMs})
    it.before = math.max(it.before, mine.dayUsed)
    it.beforeUntil = math.max(it.beforeUntil, now - mine.ageMs + dayMs + slotMs)
  end
  -- Other processes may be using their share without Redis.
  if mine.wasAlone then it.blockedUntil = math.max(it.blockedUntil, now + mine.windowMs + graceMs) end
  if it.beforeUntil <= now then it.before = 0 end
  it.dayUsed = it.before
  while it.day[1] and (it.day[1][1] + 1) * slotMs + dayMs <= now do table.remove(it.day, 1) end
  for _, slot in ipairs(it.day) do it.dayUsed = it.dayUsed + slot[2] end
  return it
end

-- What a request spends of the budget at this place: its weight of the narrowest, the last one. It holds no more permits
-- than there are.
local function weightAt(one, place) return place == #budgets and one.weight or 1 end
local function amountAt(one, place) return math.min(weightAt(one, place), budgets[place].mine.max) end
local function isInteractive(kind) return string.sub(kind, 1, 1) == 'i' end

local function charge(it, weight)
  local day, slot = it.day, math.floor(it.heardAt / slotMs)
  it.dayUsed = it.dayUsed + weight
  if weight > 0 and (not day[1] or day[#day][1] < slot) then table.insert(day, { slot, 0 }) end
  -- What was not sent was counted last.
  while day[1] and weight ~= 0 do
    local change = math.max(weight, -day[#day][2])
    day[#day][2], weight = day[#day][2] + change, weight - change
    if day[#day][2] == 0 then table.remove(day) end
  end
  it.dayUsed = it.dayUsed - weight
end

-- PERMITS by request, in flight or with the floors of their end.
local function holderOf(it)
  local name = message.process .. ' ' .. my.kind
  it.holders[name] = it.holders[name] or { process = message.process, kind = my.kind, permits = {}, heardAt = it.heardAt }
  return it.holders[name]
end

local function hold(it, holder, amount)
  it.used = it.used + amount
  it.of[holder.kind] = (it.of[holder.kind] or 0) + amount
  it.by[holder.process] = (it.by[holder.process] or 0) + amount
  if isInteractive(holder.kind) then it.interactive = it.interactive + amount end
end

-- When a permit is free for sure. In flight: when its request can no longer take place, or its process is dead.
local function endOf(holder, one)
  if one.ends then return one.ends end
  return math.min(one.usableAt + one.leaseMs, math.max(one.usableAt, holder.heardAt) + ${silenceMs}) + one.coolMs
end

-- Those that count for this process. A permit returns sooner by what is certain to pass on the ways between.
local function count(it)
  local windowEnd, isProbing = it.heardAt + it.mine.windowMs, false
  for name, holder in pairs(it.holders) do
    local held = 0
    if holder.process == message.process then holder.heardAt = it.heardAt end
    for id, one in pairs(holder.permits) do
      local ends = endOf(holder, one)
      local freeAt = one.floor and ends - math.min(one.floor, it.mine.floorMs) - math.min(one.redisFloor, message.redisFloorMs)
      if ends <= it.heardAt then holder.permits[id] = nil
      elseif not freeAt or freeAt > it.heardAt then
        held = held + one.amount
        it.returns[#it.returns + 1] = { freeAt or math.min(windowEnd, ends), one.amount, freeAt ~= nil }
        isProbing = isProbing or it.probe == id
        if not freeAt then it.inFlight[holder.kind] = true end
      end
    end
    hold(it, holder, held)
    if not next(holder.permits) then it.holders[name] = nil end
  end
  if it.probe ~= '' and not isProbing then it.probe, it.isProbeDue = '', true end
  table.sort(it.returns, function(one, other) return one[1] < other[1] end)
end

-- REQUESTS THAT HAVE ENDED.
local function settle()
  for _, one in ipairs(my.settled) do
    for place, it in ipairs(budgets) do
      local permits = holderOf(it).permits
      if it.probe == one.id then it.probe, it.isProbeDue = '', it.isProbeDue or not one.wasSent end
      if permits[one.id] and not one.wasSent then charge(it, -weightAt(one, place)) end
      permits[one.id] = nil
      if one.wasSent then
        -- Also of a process that was taken for dead. In whole milliseconds, so that permits return together.
        permits[one.id] = { amount = amountAt(one, place), ends = math.ceil(it.heardAt + 1 + one.coolMs[place]),
          floor = one.wasAnswered and it.mine.floorMs or 0, redisFloor = one.wasAnswered and message.redisFloorMs or 0 }
      end
    end
  end
end

-- A PAUSE applies to all processes. After it, one request is granted alone, the probe.
local function pause(it)
  local mine = it.mine
  if mine.pauseMs <= 0 then return end
  if it.heardAt + mine.pauseMs > it.pausedUntil then it.pausedUntil, it.pausedBy = it.heardAt + mine.pauseMs, mine.pausedBy end
  it.isProbeDue = true
end

-- BACKGROUND WORK is due, before interactive calls, while it has had less than its tenth of each budget.
local function isDue(request)
  for place, it in ipairs(budgets) do
    local mine, amount = it.mine, amountAt(request, place)
    local part, background = mine.max * ${sharing.backgroundPart}, it.used - it.interactive
    local isIdle = background == 0 and it.heardAt - it.backgroundAt >= amount / part * mine.windowMs
    if background + amount > part and not isIdle then return false end
  end
  return true
end

-- THE RESERVE that background work leaves for interactive calls.
local function reserve(it, amount)
  local mine = it.mine
  if it.interactiveUntil <= it.heardAt then return 0 end
  local wanted = math.max(mine.max * my.ask.leastReserve, it.interactive * ${sharing.reserveFactor})
  wanted = math.ceil(math.min(wanted, math.floor(mine.max * ${1 - sharing.backgroundPart})))
  return math.max(0, math.min(wanted, mine.max - amount) - it.interactive)
end

-- SHARES
local function keepShares(ms)
  for place, it in ipairs(budgets) do
    if place < #budgets then it.kinds[my.kind] = { share = my.ask.shares[place], ends = it.heardAt + ms } end
  end
end

local function shares(it)
  local lacking, held = 0, 0
  for kind, one in pairs(it.kinds) do
    if one.ends <= it.heardAt and not it.inFlight[kind] then it.kinds[kind] = nil
    elseif not (isInteractive(my.kind) and not isInteractive(kind)) then
      held = held + (it.of[kind] or 0)
      lacking = lacking + math.max(0, one.share - (it.of[kind] or 0))
    end
  end
  return math.max(0, math.min(lacking, math.ceil(it.mine.max * ${sharing.mostShared}) - held))
end

-- TURNS
local function ahead(it, me, isFirst)
  local others, processes, active = {}, { [message.process] = true }, 1
  for name, one in pairs(it.waiters) do
    if one.ends <= it.heardAt then it.waiters[name] = nil
    elseif name ~= me.name and one.class <= me.class and (one.isWide == me.isWide or me.isWide and not me.isBelowShare) then
      table.insert(others, one)
      if not processes[one.process] then processes[one.process], active = true, active + 1 end
    end
  end
  local fair, sum = math.ceil(it.mine.max / active), 0
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
local function freeIn(it, lack)
  if lack <= 0 then return 0, true end
  for _, one in ipairs(it.returns) do
    lack = lack - one[2]
    if lack <= 0 then return one[1] - it.heardAt, one[3] end
  end
  return it.mine.windowMs, false
end

-- Whether a request may go: in how many milliseconds, or how long to wait for which budget.
local function judge(request, me)
  local inMs, waitMs, lacks = 0, 0, 0
  me.class = isInteractive(my.kind) and 1 or isDue(request) and 0 or 2
  for place, it in ipairs(budgets) do
    local mine, amount = it.mine, amountAt(request, place)
    me.isWide = place < #budgets
    me.isBelowShare = me.isWide and (it.of[my.kind] or 0) + amount <= my.ask.shares[place]
    local known = me.known[place]
    me.turn = known and known.id == request.id and known.turn or it.turn
    local ms, isSure, isFull = 0, true, it.dayUsed + weightAt(request, place) > mine.dayMax
    if isFull then ms, isSure = mine.windowMs, false
    elseif math.max(it.pausedUntil, it.blockedUntil) > it.heardAt then
      ms, isSure = math.max(it.pausedUntil, it.blockedUntil) - it.heardAt, false
    elseif it.probe ~= '' then ms, isSure = math.min(250, mine.windowMs / 4), false
    else
      local kept = (me.class == 2 and reserve(it, amount) or 0) + (me.isWide and 0 or shares(it))
      -- Of a budget that is free, one request may go, however much is kept.
      local lack = it.used + amount - mine.max + math.min(kept, mine.max - amount)
      ms, isSure = freeIn(it, lack + ahead(it, me, me.isFirst))
      -- Others have not taken yet what was left for them: ask again when they had their turn.
      if ms > 0 and not me.isFirst and lack + ahead(it, me, true) <= 0 then ms, isSure = math.max(5, mine.windowMs / 100), false end
    end
    if ms > 0 and not (isSure and ms <= message.redisFloorMs) then
      if not isFull then
        it.waiters[me.name] = { process = message.process, class = me.class, id = request.id, turn = me.turn, isWide = me.isWide,
        need = amount, want = me.wants[place], ends = it.heardAt + ms + graceMs + 2 * message.redisFloorMs }
        it.turn = it.turn + 1
      end
      if ms > waitMs then waitMs, lacks = ms, place end
    end
    inMs = math.max(inMs, ms)
  end
  return inMs, waitMs, lacks
end

-- A request whose first answer was lost is granted again: its time starts anew.
local function grant(request, inMs, isHeld)
  for place, it in ipairs(budgets) do
    local mine, holder = it.mine, holderOf(it)
    local weight, amount = weightAt(request, place), amountAt(request, place)
    holder.permits[request.id] = { amount = amount, usableAt = it.heardAt + inMs, leaseMs = my.ask.leaseMs,
      coolMs = mine.windowMs * math.max(1, weight / mine.max) }
    if not isHeld then
      hold(it, holder, amount)
      it.inFlight[my.kind] = true
      table.insert(it.returns, { it.heardAt + mine.windowMs, amount, false })
      if not isInteractive(my.kind) then it.backgroundAt = it.heardAt end
      if it.isProbeDue then it.probe, it.isProbeDue = request.id, false end
      charge(it, weight)
    end
  end
end

-- Grants the requests in their order, as far as they may go.
local function answer()
  local reply = { granted = {}, waitMs = 0, lacks = 0 }
  if not my.ask then return reply end
  local me = { name = message.process .. ' ' .. my.kind, known = {}, wants = {} }
  for place, it in ipairs(budgets) do
    me.known[place], it.waiters[me.name] = it.waiters[me.name], nil
    if isInteractive(my.kind) then it.interactiveUntil = it.heardAt + ${sharing.rememberedWindows} * it.mine.windowMs end
    me.wants[place] = 0
    for _, request in ipairs(my.ask.requests) do me.wants[place] = me.wants[place] + amountAt(request, place) end
  end
  for number, request in ipairs(my.ask.requests) do
    me.isFirst = number == 1
    local isHeld, inMs = holderOf(budgets[1]).permits[request.id] ~= nil, 0
    if not isHeld then inMs, reply.waitMs, reply.lacks = judge(request, me) end
    if reply.lacks > 0 then break end
    grant(request, inMs, isHeld)
    for place in ipairs(budgets) do me.wants[place] = me.wants[place] - amountAt(request, place) end
    table.insert(reply.granted, inMs)
  end
  if reply.lacks > 0 then keepShares(reply.waitMs + graceMs) end
  return reply
end

local function stateOf(it)
  local last = it.returns[#it.returns]
  local oldest = it.day[1] and (it.day[1][1] + 1) * slotMs + dayMs or it.beforeUntil
  return {
    born = it.born, at = it.heardAt, aheadMs = it.aheadMs, used = it.used, freeInMs = last and last[1] - it.heardAt or 0, dayUsed = it.dayUsed,
    dayFreesInMs = math.max(0, oldest - it.heardAt), pausedForMs = math.max(0, it.pausedUntil - it.heardAt),
    pausedBy = it.pausedBy, interactive = it.interactiveUntil > it.heardAt and it.interactive or nil,
  }
end

local opened, states, replies = {}, {}, {}
for number, mine in ipairs(message.budgets) do
  opened[number] = open(KEYS[number], mine)
  if mine.charge ~= 0 then charge(opened[number], mine.charge) end
end
local function deal(part)
  my, budgets = part, {}
  for place, number in ipairs(part.budgets) do budgets[place] = opened[number] end
end
for _, part in ipairs(message.parts) do
  deal(part)
  settle()
  -- Also from those that are answered before it.
  if part.ask and #part.ask.requests > 0 then keepShares(1) end
end
for _, it in ipairs(opened) do
  pause(it)
  count(it)
end
for number, part in ipairs(message.parts) do
  deal(part)
  replies[number] = answer()
end
for number, it in ipairs(opened) do
  states[number] = stateOf(it)
  -- What is counted anew each time is not stored.
  it.mine, it.used, it.interactive, it.of, it.by, it.inFlight, it.returns, it.dayUsed = nil, nil, nil, nil, nil, nil, nil, nil
  redis.call('SET', KEYS[number], cmsgpack.pack(it), 'PX', dayMs + 3600000 + math.max(0, it.pausedUntil - it.heardAt))
end
return cjson.encode({ budgets = states, parts = replies })
`);
