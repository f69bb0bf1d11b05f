import { sharing } from "../rate-limit/permits.ts";
import { script } from "./commands.ts";

/** A budget's state. */
export interface BudgetReply {
  /** Identifies the state: another one if Redis has lost its data. */
  readonly born: string;
  readonly used: number;
  /** When all of that is free again. */
  readonly freeInMs: number;
  readonly dayUsed: number;
  readonly dayFreesInMs: number;
  readonly pausedForMs: number;
  /** Identifies the pause. */
  readonly pausedUntil: number;
  readonly pausedBy: string;
  /** Permits that interactive calls of all processes hold; -1 without recent ones. */
  readonly interactive: number;
}

/** The reply to a part of a message. */
export interface PartReply {
  readonly budgets: readonly BudgetReply[];
  /** In how many milliseconds each granted request may go, in their order. */
  readonly granted: readonly number[];
  /** In how many milliseconds the next one should be asked for. */
  readonly waitMs: number;
  /** The place of the budget that it lacks, from 1; 0 if all were granted. */
  readonly lacks: number;
}

/**
 * Grants requests, and records those that have ended. It runs atomically and uses the server's clock only.
 *
 * A granted request holds its permits until it is settled; then they cool down for a window. A request that is never
 * settled holds them until it may no longer take place, and for a window after that. Each key holds the state of one
 * budget as JSON.
 */
export const exchange = script(`
-- The part of the message that is dealt with, and the state of its budgets.
local my, budgets
local time = redis.call('TIME')
local dayMs, slotMs, graceMs = 86400000, 300000, 1000

-- A BUDGET: permits by request, waiting kinds, and the day in slots of five minutes.
local function open(key, mine)
  local text, clock = redis.call('GET', key), tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  local it = text and cjson.decode(text) or {
    born = time[1] .. '.' .. time[2] .. '.' .. my.process, bornAt = clock, behindMs = 0, heardAt = clock, blockedUntil = 0,
    permits = {}, waiters = {}, kinds = {}, day = {}, before = 0, beforeUntil = 0,
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
  if mine.wasAlone then it.blockedUntil = math.max(it.blockedUntil, now + mine.windowMs + graceMs) end
  if it.beforeUntil <= now then it.before = 0 end
  it.dayUsed = it.before
  while it.day[1] and (it.day[1][1] + 1) * slotMs + dayMs <= now do table.remove(it.day, 1) end
  for _, slot in ipairs(it.day) do it.dayUsed = it.dayUsed + slot[2] end
  return it
end

-- What a request spends of the budget at this place: its weight of the narrowest, the last one. It holds no more permits
-- than there are.
local function weightAt(one, place) return place == #my.budgets and one.weight or 1 end
local function amountAt(one, place) return math.min(weightAt(one, place), my.budgets[place].max) end
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
  for id, one in pairs(it.permits) do
    if one.ends <= it.heardAt then it.permits[id] = nil
    elseif not one.isSettled then hold(it, one, it.heardAt + mine.windowMs, false)
    else
      local freeAt = one.ends - math.min(one.floor, mine.floorMs) - math.min(one.redisFloor, my.redisFloorMs)
      if freeAt > it.heardAt then hold(it, one, freeAt, true) end
    end
  end
  table.sort(it.returns, function(one, other) return one[1] < other[1] end)
end

-- A request that was not settled yet.
local function isInFlight(it, id) return it.permits[id] ~= nil and not it.permits[id].isSettled end

-- REQUESTS THAT HAVE ENDED.
local function settle()
  for _, one in ipairs(my.settled) do
    for place, it in ipairs(budgets) do
      local mine, isKnown = my.budgets[place], it.permits[one.id] ~= nil
      it.permits[one.id] = nil
      if it.probe == one.id then it.probe = one.wasSent and '' or 'due' end
      if not one.wasSent then
        if isKnown then charge(it, -weightAt(one, place)) end
      elseif isKnown or mine.born ~= it.born then
        -- Rounded up, so that permits return together.
        local step = math.max(1, math.ceil(mine.windowMs / 500))
        it.permits[one.id] = { isSettled = true, amount = amountAt(one, place), kind = my.kind, process = my.process,
          ends = math.ceil((it.heardAt + 1 + one.coolMs[place]) / step) * step, floor = one.wasAnswered and mine.floorMs or 0,
          redisFloor = one.wasAnswered and my.redisFloorMs or 0 }
      end
    end
  end
end

-- A PAUSE applies to all processes. After it, one request is granted alone, the probe.
local function pause()
  for place, it in ipairs(budgets) do
    local mine = my.budgets[place]
    if mine.pauseMs > 0 then
      if it.heardAt + mine.pauseMs > it.pausedUntil then it.pausedUntil, it.pausedBy = it.heardAt + mine.pauseMs, mine.pausedBy end
      it.probe = 'due'
    end
    count(it, mine)
    if it.probe ~= '' and it.probe ~= 'due' and not isInFlight(it, it.probe) then it.probe = 'due' end
  end
end

-- BACKGROUND WORK is due, before interactive calls, while it has had less than its tenth of each budget.
local function isDue(request)
  for place, it in ipairs(budgets) do
    local mine, amount = my.budgets[place], amountAt(request, place)
    local part, background = mine.max * ${sharing.backgroundPart}, it.used - it.interactive
    local isIdle = background == 0 and it.heardAt - it.backgroundAt >= amount / part * mine.windowMs
    if background + amount > part and not isIdle then return false end
  end
  return true
end

-- THE RESERVE that background work leaves for interactive calls.
local function reserve(it, mine, amount)
  if it.interactiveUntil <= it.heardAt then return 0 end
  local wanted = math.max(mine.max * my.ask.leastReserve, it.interactive * ${sharing.reserveFactor})
  wanted = math.ceil(math.min(wanted, math.floor(mine.max * ${1 - sharing.backgroundPart})))
  return math.max(0, math.min(wanted, mine.max - amount) - it.interactive)
end

-- SHARES of a wide budget are kept for kinds that also need a narrower one.
local function shares(it, mine)
  local lacking, held = 0, 0
  for kind, one in pairs(it.kinds) do
    if one.ends <= it.heardAt and not it.of[kind] then it.kinds[kind] = nil
    elseif not (isInteractive(my.kind) and not isInteractive(kind)) then
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
local function judge(request, me)
  local inMs, waitMs, lacks = 0, 0, 0
  me.class = isInteractive(my.kind) and 1 or isDue(request) and 0 or 2
  for place, it in ipairs(budgets) do
    local mine, amount = my.budgets[place], amountAt(request, place)
    me.isWide = place < #budgets
    me.isBelowShare = me.isWide and (it.of[my.kind] or 0) + amount <= my.ask.shares[place]
    local known = me.known[place]
    me.turn = known and known.id == request.id and known.turn or it.turn
    local ms, isSure, isFull = 0, true, it.dayUsed + weightAt(request, place) > mine.dayMax
    if isFull then ms, isSure = mine.windowMs, false
    elseif math.max(it.pausedUntil, it.blockedUntil) > it.heardAt then
      ms, isSure = math.max(it.pausedUntil, it.blockedUntil) - it.heardAt, false
    elseif it.probe ~= '' and it.probe ~= 'due' then ms, isSure = math.min(250, mine.windowMs / 4), false
    else
      local lack = amount - (mine.max - it.used)
      if me.class == 2 then lack = lack + reserve(it, mine, amount) end
      if not me.isWide then lack = lack + shares(it, mine) end
      ms, isSure = freeIn(it, mine, lack + ahead(it, mine, me, me.isFirst))
      -- Others have not taken yet what was left for them: ask again when they had their turn.
      if ms > 0 and not me.isFirst and lack + ahead(it, mine, me, true) <= 0 then ms, isSure = math.max(5, mine.windowMs / 100), false end
    end
    if ms > 0 and not (isSure and ms <= my.redisFloorMs) then
      if not isFull then
        it.waiters[me.name] = { process = my.process, class = me.class, id = request.id, turn = me.turn, isWide = me.isWide,
        need = amount, want = me.wants[place], ends = it.heardAt + ms + graceMs + 2 * my.redisFloorMs }
        it.turn = it.turn + 1
      end
      if ms > waitMs then waitMs, lacks = ms, place end
    end
    inMs = math.max(inMs, ms)
  end
  return inMs, waitMs, lacks
end

-- A request whose first answer was lost is granted again: its time starts anew.
local function grant(request, isHeld)
  for place, it in ipairs(budgets) do
    local mine, weight = my.budgets[place], weightAt(request, place)
    it.permits[request.id] = { amount = amountAt(request, place), kind = my.kind, process = my.process,
      ends = it.heardAt + my.ask.leaseMs + mine.windowMs * math.max(1, weight / mine.max) }
    if not isHeld then
      hold(it, it.permits[request.id], it.heardAt + mine.windowMs, false)
      if not isInteractive(my.kind) then it.backgroundAt = it.heardAt end
      if it.probe == 'due' then it.probe = request.id end
      charge(it, weight)
    end
  end
end

-- Grants the requests in their order, as far as they may go.
local function answer()
  local granted, nextInMs, lacking = {}, 0, 0
  if not my.ask then return granted, nextInMs, lacking end
  local me = { name = my.process .. ' ' .. my.kind, known = {}, wants = {} }
  for place, it in ipairs(budgets) do
    me.known[place], it.waiters[me.name] = it.waiters[me.name], nil
    if isInteractive(my.kind) then it.interactiveUntil = it.heardAt + ${sharing.rememberedWindows} * my.budgets[place].windowMs end
    me.wants[place] = 0
    for _, request in ipairs(my.ask.requests) do me.wants[place] = me.wants[place] + amountAt(request, place) end
  end
  for number, request in ipairs(my.ask.requests) do
    me.isFirst = number == 1
    -- The answer to an earlier ask was lost.
    local isHeld, inMs = isInFlight(budgets[1], request.id), 0
    if not isHeld then inMs, nextInMs, lacking = judge(request, me) end
    if lacking > 0 then break end
    grant(request, isHeld)
    for place in ipairs(budgets) do me.wants[place] = me.wants[place] - amountAt(request, place) end
    table.insert(granted, inMs)
  end
  for place, it in ipairs(budgets) do
    if place < #budgets and #my.ask.requests > 0 then
      it.kinds[my.kind] = { share = my.ask.shares[place], ends = it.heardAt + nextInMs + graceMs }
    end
  end
  return granted, nextInMs, lacking
end

local function stateOf(it)
  local last = it.returns[#it.returns]
  local oldest = it.day[1] and (it.day[1][1] + 1) * slotMs + dayMs or it.beforeUntil
  return {
    born = it.born, used = it.used, freeInMs = last and last[1] - it.heardAt or 0, dayUsed = it.dayUsed,
    dayFreesInMs = math.max(0, oldest - it.heardAt), pausedForMs = math.max(0, it.pausedUntil - it.heardAt),
    pausedUntil = it.pausedUntil, pausedBy = it.pausedBy,
    interactive = it.interactiveUntil > it.heardAt and it.interactive or -1,
  }
end

local replies, opened, done = {}, {}, 0
for number, part in ipairs(cjson.decode(ARGV[1])) do
  my, budgets = part, {}
  for place, mine in ipairs(my.budgets) do
    local key = KEYS[done + place]
    budgets[place] = opened[key] or open(key, mine)
    opened[key] = budgets[place]
    if mine.charge ~= 0 then charge(budgets[place], mine.charge) end
  end
  settle()
  pause()
  local granted, waitMs, lacks = answer()
  local states = {}
  for place, it in ipairs(budgets) do states[place] = stateOf(it) end
  replies[number] = { budgets = states, granted = granted, waitMs = waitMs, lacks = lacks }
  done = done + #budgets
end
for key, it in pairs(opened) do
  -- What is counted anew each time is not stored.
  it.used, it.interactive, it.of, it.by, it.returns, it.dayUsed = nil, nil, nil, nil, nil, nil
  redis.call('SET', key, cjson.encode(it), 'PX', dayMs + 3600000 + math.max(0, it.pausedUntil - it.heardAt))
end
return cjson.encode(replies)
`);
